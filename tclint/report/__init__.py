"""Reports: one module a format, each turning a run into text."""
