"""Errors that tell people all that there is to know: commands print them without a traceback."""

from __future__ import annotations


class UserError(Exception):
    """Something is wrong with what tclint was given, or with where it runs."""
