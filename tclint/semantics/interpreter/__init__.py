"""The abstract interpreter: walks region functions once and emits what it sees as events."""
