"""A worker that runs any piece of code in the place of a target, without torch: for drills."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tclint.verify import worker
from tclint.verify.answers import Done, EagerSample


class Drill:
    """Knows one request: run this."""

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        """Keep the way to tell something early."""
        self._say = say

    def run(self, request: dict[str, Any]) -> object:
        """Run the code; what it calls ``answer`` is the answer."""
        names = {"__name__": "drill", "say": self._say, "Done": Done, "EagerSample": EagerSample}
        code = compile(request["code"], request["file"], "exec")
        exec(code, names)
        return names.get("answer", Done())


if __name__ == "__main__":
    worker.serve(Drill)
