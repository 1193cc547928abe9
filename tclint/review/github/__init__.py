"""Reviews on GitHub and GitHub Enterprise."""
