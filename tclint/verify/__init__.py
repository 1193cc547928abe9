"""The dynamic side: compile a target in child processes and report what really happened."""
