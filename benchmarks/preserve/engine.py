"""What tclint makes of programs: its findings and fixes, called in process and in batches."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.preserve.compare import Case, Fixed
from benchmarks.preserve.programs import Program
from tclint.config import Config, Settings
from tclint.diagnostics import Diagnostic, Effect
from tclint.environment import installed_torch
from tclint.fix.apply import fix_files
from tclint.fix.results import AppliedFix
from tclint.lint.engine import check_files


@dataclass(frozen=True, slots=True)
class Arm:
    """A program's text after fixing, the fixes, and the findings that are left."""

    text: str
    fixes: tuple[AppliedFix, ...] = ()
    left: tuple[Diagnostic, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def fixed(self) -> Fixed:
        """Its text with the rules whose fixes were applied."""
        codes = " ".join(sorted({fix.diagnostic.code for fix in self.fixes}))
        return Fixed(self.text, codes, self.errors)

    @property
    def breaks(self) -> tuple[Diagnostic, ...]:
        """The findings that name a graph break."""
        return tuple(one for one in self.left if one.effect is Effect.GRAPH_BREAK)


@dataclass(frozen=True, slots=True)
class Judged:
    """One program as found and after both kinds of fixing."""

    found: Arm
    safe: Arm
    unsafe: Arm

    def case(self, program: Program) -> Case:
        """What is to be compared."""
        return Case(program, self.safe.fixed, self.unsafe.fixed)


def judged(texts: Sequence[str], torch: tuple[int, int] | None = None) -> list[Judged]:
    """Check and fix programs, each a file of its own whose ``f`` is compiled.

    They are for a ``torch`` that runs elsewhere, or else for the one that is installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        paths = [root / f"p{number}.py" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        there = torch or next(iter(installed_torch(root, "") or ()), None)
        settings = Settings(target_torch=there) if there else Settings()
        config = Config(root=root, compiled=("*:f",), settings=settings)
        before = _by_path(r.diagnostic for r in check_files(paths, config).results)
        found = {p: Arm(t, left=before.get(p, ())) for p, t in zip(paths, texts, strict=True)}
        arms = (_fixed(found, config, unsafe=False), _fixed(found, config, unsafe=True))
        return [Judged(found[path], arms[0][path], arms[1][path]) for path in paths]


def _fixed(found: Mapping[Path, Arm], config: Config, *, unsafe: bool) -> dict[Path, Arm]:
    run = fix_files([*found], config, unsafe=unsafe)
    left = _by_path(result.diagnostic for result in run.remaining.results)
    changed = {file.path: file for file in run.changed}
    errors: dict[Path, list[str]] = {}
    for error in run.remaining.errors:
        errors.setdefault(Path(error.path), []).append(str(error))
    arms = {}
    for path, arm in found.items():
        file = changed.get(path)
        arms[path] = Arm(
            file.after if file else arm.text,
            file.fixes if file else (),
            left.get(path, ()),
            tuple(errors.get(path, ())),
        )
    return arms


def _by_path(diagnostics: Iterable[Diagnostic]) -> dict[Path, tuple[Diagnostic, ...]]:
    found: dict[Path, tuple[Diagnostic, ...]] = {}
    for one in diagnostics:
        found[one.path] = (*found.get(one.path, ()), one)
    return found
