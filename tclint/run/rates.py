"""What a GPU can do at best, measured once and kept: the rates that a ceiling rests on.

They are measured by the Python of the recorded command, after it, and lie in the recording's
folder, so that who reads the recording elsewhere has the rates of the machine that ran.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tclint.files import read_text
from tclint.json_text import parse_json
from tclint.records import record
from tclint.run.recorded import Process

_SCRIPT = Path(__file__).parents[1] / "recorder" / "calibration.py"
FILE = "rates.json"
_LARGEST = 1 << 16
_LONGEST = 60
"""Seconds after which a measurement is given up."""
_OTHERS = "bandwidth", "launch", "node", "to_device"
_NAMES = {"float32 (no TF32)": "float32"}


@record(frozen=True)
class Rates:
    """Floating-point operations a second by precision, bytes a second, seconds a kernel.

    ``launch`` is what the host takes for a kernel in eager code, ``node`` what one takes in a CUDA
    graph.
    """

    products: Mapping[str, float]
    bandwidth: float
    launch: float
    node: float
    to_device: float

    def of(self, precision: str) -> float:
        """Operations a second at a precision; of one that was not measured, the fastest."""
        found = self.products.get(_NAMES.get(precision, precision))
        return found or max(self.products.values())


def read_rates(folder: Path) -> Rates | None:
    """The rates in a recording's folder; None where nobody measured them, or they are damaged."""
    try:
        data = parse_json(read_text(folder / FILE, _LARGEST))
    except (OSError, ValueError):
        return None
    return _rates(data)


def _rates(data: object) -> Rates | None:
    if not isinstance(data, dict):
        return None
    numbers = {key: float(one) for key, one in data.items() if isinstance(one, int | float)}
    if not all(0 < one < float("inf") for one in numbers.values()):
        return None
    others = {name: numbers.pop(name) for name in _OTHERS if name in numbers}
    return Rates(numbers, **others) if numbers and len(others) == len(_OTHERS) else None


def measure_rates(process: Process, folder: Path) -> str:
    """Put the GPU's rates into a recording's folder; why there are none, or nothing.

    What was measured before with the same GPU, torch and Python is taken as it is.
    """
    kept = _kept(process)
    if kept.is_file():
        _copy(kept, folder / FILE)
    if read_rates(folder) is not None:
        return ""
    why = _measure(process, folder / FILE)
    if not why and read_rates(folder) is None:
        why = "nothing was measured"
    if not why:
        with suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            _copy(folder / FILE, kept)
    return why


def _measure(process: Process, file: Path) -> str:
    told = {key: one for key, one in os.environ.items() if not key.startswith("TCLINT_RECORD")}
    try:
        done = subprocess.run(
            [process.executable, str(_SCRIPT), str(file)],
            env=told,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    last = done.stderr.strip().splitlines()[-1:] or [f"it ended with status {done.returncode}"]
    return last[0] if done.returncode else ""


def _copy(source: Path, target: Path) -> None:
    """Another run may read the target at any time: it is there whole, or not at all."""
    new = target.with_name(f"{target.name}.{os.getpid()}")
    with suppress(OSError):
        new.write_text(read_text(source, _LARGEST), encoding="utf-8")
        new.replace(target)


def _kept(process: Process) -> Path:
    """The file of what was measured before under the same conditions."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    here = [platform.node(), process.executable, process.torch, process.cuda, process.device]
    name = hashlib.sha256(json.dumps(here).encode()).hexdigest()[:24]
    return Path(base) / "tclint" / "rates" / f"{name}.json"
