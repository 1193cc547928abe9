"""Git: how it is run, what a diff says, and which findings lie on changed lines."""
