"""Fixed programs in one file, to be compared where tclint is not installed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.preserve.compare import Case, Fixed
from benchmarks.preserve.drive import Parameter
from benchmarks.preserve.programs import Program


@dataclass(slots=True)
class Bundle:
    """The programs that safe fixes changed, among how many, and the fixes by rule and kind."""

    seed: int
    torch: str
    programs: int = 0
    fixes: Counter[tuple[str, str]] = field(default_factory=Counter)
    cases: list[Case] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        fixes = [[*key, count] for key, count in sorted(self.fixes.items())]
        told = {**asdict(self), "fixes": fixes}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told, indent=0), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Bundle:
        """What :meth:`write` wrote."""
        told = json.loads(path.read_text(encoding="utf-8"))
        fixes = Counter({(code, kind): count for code, kind, count in told["fixes"]})
        cases = [
            Case(
                Program(**{**one["program"], "parameters": _parameters(one["program"])}),
                Fixed(**{**one["safe"], "errors": tuple(one["safe"]["errors"])}),
                Fixed(**{**one["unsafe"], "errors": tuple(one["unsafe"]["errors"])}),
            )
            for one in told["cases"]
        ]
        return cls(told["seed"], told["torch"], told["programs"], fixes, cases)


def _parameters(program: dict[str, list[dict[str, object]]]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(str(one["kind"]), bool(one["declared"])) for one in program["parameters"]
    )
