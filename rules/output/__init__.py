"""Output written while Dynamo traces: what can be done about it, and what that would change."""
