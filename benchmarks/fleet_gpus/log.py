"""A file that all processes of a fleet write lines to: who ran where, and when."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Final

PLACE: Final = "FLEET_GPUS_LOG"
RUN: Final = "FLEET_GPUS_RUN"


def note(**said: Any) -> None:
    """Add a line, in one piece; without a log nothing is written down."""
    place = os.environ.get(PLACE)
    if place:
        said |= {
            "run": os.environ.get(RUN, ""),
            "visible": os.environ.get("CUDA_VISIBLE_DEVICES", ""),
            "process": os.getpid(),
            "time": time.time(),
        }
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")


def lines(place: Path) -> list[dict[str, Any]]:
    """All that was written down."""
    return [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
