"""Runs programs with the recorder and without, and reads what it wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SITE = Path(__file__).resolve().parent.parent / "tclint" / "recorder" / "site"


@dataclass(frozen=True)
class Ran:
    """What a program left: what everybody sees, and the recorder's lines by process."""

    status: int
    out: str
    err: str
    processes: tuple[tuple[dict[str, Any], ...], ...] = ()

    @property
    def seen(self) -> tuple[int, str, str]:
        return self.status, self.out, self.err

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind, of all processes."""
        return [line for process in self.processes for line in process if line["kind"] == kind]

    def kinds(self) -> list[str]:
        return [line["kind"] for process in self.processes for line in process]


def run(
    folder: Path,
    program: str,
    *,
    options: Sequence[str] = (),
    start: Sequence[str] | None = None,
    **environment: str,
) -> Ran:
    """Run a program as ``main.py`` in a folder; ``start`` is a command instead of that file."""
    main = folder / "main.py"
    main.write_text(textwrap.dedent(program), encoding="utf-8")
    command = [sys.executable, *options, *(["main.py"] if start is None else start)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TCLINT")}
    done = subprocess.run(
        command,
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def record(
    folder: Path,
    program: str,
    *,
    options: Sequence[str] = (),
    start: Sequence[str] | None = None,
    **environment: str,
) -> Ran:
    """Run a program with the recorder."""
    where = Path(environment.setdefault("TCLINT_RECORD", str(folder / "recorded")))
    where.mkdir(exist_ok=True)
    further = environment.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    environment["PYTHONPATH"] = os.pathsep.join([str(SITE), *([further] if further else [])])
    ran = run(folder, program, options=options, start=start, **environment)
    return Ran(*ran.seen, read(where))


def read(where: Path) -> tuple[tuple[dict[str, Any], ...], ...]:
    """The lines of each process, the first to start first."""
    if not where.is_dir():
        return ()
    found = []
    for path in where.glob("process-*.jsonl"):
        texts = path.read_text("utf-8").splitlines()
        found.append(tuple(json.loads(text) for text in texts if text))
    return tuple(sorted(found, key=lambda lines: int(lines[0]["started"])))
