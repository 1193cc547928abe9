"""``tclint fix --verify``: keep the fixes that a compiled run of the user's targets confirms."""
