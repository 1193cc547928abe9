"""Reviews on GitLab."""
