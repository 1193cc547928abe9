"""What the torch of one environment tells when it runs, as JSON.

    python -m scripts.torch_facts.told KNOWN

KNOWN is a file with the names that the table has. Other releases than the installed one are asked
so, each by the Python of its environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.torch_facts.releases import Release, Version
from tclint.records import record

ROOT = Path(__file__).parents[2]


@record(frozen=True)
class Told:
    """The names that a release has when it runs, what its ``torch.compile`` accepts and skips."""

    release: Release
    names: frozenset[str]
    accepted: dict[str, set[str]]
    skipped: dict[str, str]

    @property
    def version(self) -> Version:
        """The release that told it."""
        return self.release.version


def told_by(release: Release, python: Path | str, known: Collection[str]) -> Told:
    """What a release says when it runs.

    Raises:
        subprocess.CalledProcessError: its environment cannot run it.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "known.json"
        file.write_text(json.dumps(sorted(known)), encoding="utf-8")
        command = [str(python), "-m", "scripts.torch_facts.told", str(file)]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    told = json.loads(done.stdout)
    accepted = {kind: set(names) for kind, names in told["accepted"].items()}
    return Told(release, frozenset(told["names"]), accepted, told["skipped"])


def _tell(known: Collection[str]) -> dict[str, Any]:
    from scripts.torch_facts.calls import skipped
    from scripts.torch_facts.compiling import accepted
    from scripts.torch_facts.lifetimes import universe

    names = sorted(universe(known))  # first: asking compile imports more of torch
    return {
        "names": names,
        "accepted": {kind: sorted(found) for kind, found in accepted().items()},
        "skipped": skipped(),
    }


if __name__ == "__main__":
    print(json.dumps(_tell(set(json.loads(Path(sys.argv[1]).read_text("utf-8"))))))
