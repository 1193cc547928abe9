"""The folder that a recorded command has first on its PYTHONPATH."""
