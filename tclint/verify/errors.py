"""What is wrong with a target, which its author can mend."""

from __future__ import annotations


class TargetError(Exception):
    """A target that is misspelt, cannot be found, or whose factory breaks the contract."""
