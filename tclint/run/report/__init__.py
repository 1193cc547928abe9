"""The answer of a recorded run, in each format."""
