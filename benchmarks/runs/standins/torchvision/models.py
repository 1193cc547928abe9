"""No models: scripts that need some are not in the list."""
