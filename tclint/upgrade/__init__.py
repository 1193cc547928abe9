"""What another release of torch changes for a program: a check for each, and the difference."""
