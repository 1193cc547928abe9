"""The one exception of fixing: what stands in the way of a rewriting."""

from __future__ import annotations


class ObstacleError(Exception):
    """A rewriting cannot be carried out; the message says what in the user's code is in the way.

    It never leaves :mod:`tclint.fix`: it becomes the reason of a Decline.
    """
