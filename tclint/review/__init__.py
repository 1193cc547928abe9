"""tclint in the pull request: findings on the lines that a range of commits adds."""
