"""Reports of a fleet's runs, one format a file."""
