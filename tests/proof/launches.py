"""Count the operators that run, each of which is a kernel or more on a GPU."""

from __future__ import annotations

from typing import Any

from .operators import OperatorCounter


class LaunchCounter(OperatorCounter):
    """Records the operators that compute or write something; views do neither."""

    def counts(self, schema: Any, args: tuple[Any, ...]) -> bool:
        """True unless a result is a view of an argument."""
        return not any(
            result.alias_info is not None and not result.alias_info.is_write
            for result in schema.returns
        )
