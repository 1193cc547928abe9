"""Prices that ``tclint run`` tells, against what the remedies really save."""
