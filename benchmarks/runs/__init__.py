"""``tclint run`` held against the truth on scripts of many kinds."""
