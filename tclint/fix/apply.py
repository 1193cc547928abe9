"""Fix files: apply fixes, look again, and go on until nothing is left to fix."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Applicability, Decline, Diagnostic
from tclint.fix.conflicts import Group, apply_edits, choose, flatten
from tclint.fix.edits import edits_for
from tclint.source.errors import FileError, SourceError
from tclint.source.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tclint.config import Config
    from tclint.lint.engine import Result, Run
    from tclint.source.file import SourceFile

    Checker = Callable[[Sequence[Path], Config, Mapping[Path, str] | None], Run]

MAX_PASSES: Final = 20
"""How many passes may go by without fewer fixable findings, before fixing gives up."""


@dataclass(frozen=True, slots=True)
class FixedFile:
    """A file's text before and after fixing, with the codes of the fixes in order."""

    path: Path
    before: str
    after: str
    encoding: str
    applied: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """A finding whose fix met an obstacle when it was to be carried out."""

    diagnostic: Diagnostic
    decline: Decline


@dataclass(frozen=True, slots=True)
class FixRun:
    """What fixing came to: ``remaining`` is the check of the repaired texts.

    Where a fix had to be taken back, ``remaining.errors`` says so.
    """

    changed: tuple[FixedFile, ...]
    remaining: Run
    declined: tuple[Declined, ...] = ()


@dataclass(slots=True)
class _Progress:
    """The state between passes: texts so far, and files that are left alone from now on."""

    texts: dict[Path, str]
    originals: dict[Path, SourceFile] = field(default_factory=dict)
    applied: dict[Path, list[str]] = field(default_factory=lambda: defaultdict(list))
    problems: dict[Path, str] = field(default_factory=dict)
    declined: list[Declined] = field(default_factory=list)


def fix_files(
    paths: Sequence[Path],
    config: Config,
    *,
    unsafe: bool = False,
    overlay: Mapping[Path, str] | None = None,
    check: Checker | None = None,
) -> FixRun:
    """Apply the fixes that ``config`` allows; nothing is written.

    Args:
        paths: the files to fix.
        config: says which rules' fixes may be applied.
        unsafe: apply fixes that may change what the program does, too.
        overlay: texts to use instead of the files' own.
        check: the function that finds what to fix; the lint engine's by default.
    """
    checker = check or _engine()
    progress = _Progress(dict(overlay or {}))
    passes, fewest = 0, None
    while True:
        run = checker(paths, config, progress.texts)
        wanted = _wanted(run, config, progress, unsafe=unsafe)
        number = sum(map(len, wanted.values()))
        passes = 0 if fewest is not None and number < fewest else passes + 1
        fewest = number if fewest is None else min(fewest, number)
        if passes > MAX_PASSES:
            progress.problems.update(dict.fromkeys(wanted, _unsettled(wanted)))
            break
        progress.declined = []
        changed = [_fix_file(path, results, progress) for path, results in wanted.items()]
        if not any(changed):
            break
    return FixRun(_changed(progress), _with_problems(run, progress), tuple(progress.declined))


def _engine() -> Checker:
    # The engine loads the rules: whoever brings another checker does not need them.
    from tclint.lint.engine import check_files

    return check_files


def _wanted(
    run: Run, config: Config, progress: _Progress, *, unsafe: bool
) -> dict[Path, list[Result]]:
    """The findings to fix, by file."""
    levels = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    wanted: dict[Path, list[Result]] = defaultdict(list)
    for result in run.results:
        path = result.diagnostic.path
        if result.repair is None or result.diagnostic.fixable not in levels:
            continue
        if path not in progress.problems and _allowed(result.diagnostic.code, config):
            wanted[path].append(result)
    return wanted


def _allowed(code: str, config: Config) -> bool:
    """True when the configuration lets a rule's fixes be applied."""

    def named(selectors: Sequence[str]) -> bool:
        return any(selector == "ALL" or code.startswith(selector) for selector in selectors)

    return (not config.fixable or named(config.fixable)) and not named(config.unfixable)


def _fix_file(path: Path, results: Sequence[Result], progress: _Progress) -> bool:
    """Apply what can be applied to one file at once; True when its text changed."""
    file = results[0].file
    try:
        tree = parse(file)
    except SourceError as error:
        progress.problems[path] = error.message
        return False
    groups: list[Group] = []
    for result in results:
        if result.repair is None:
            continue
        edits = edits_for(file, tree, result.repair)
        if isinstance(edits, Decline):
            progress.declined.append(Declined(result.diagnostic, edits))
        else:
            groups.append(Group(result.diagnostic.code, edits))
    chosen = choose(groups)
    text = apply_edits(file, flatten(chosen))
    if text == file.text:
        return False
    problem = _problem(text, file.encoding)
    if problem is not None:
        codes = ", ".join(sorted({group.code for group in chosen}))
        progress.problems[path] = f"the fixes of {codes} were taken back: {problem}"
        return False
    progress.originals.setdefault(path, file)
    progress.texts[path] = text
    progress.applied[path] += [group.code for group in chosen]
    return True


def _problem(text: str, encoding: str) -> str | None:
    """Why a text must not become the file's."""
    try:
        text.encode(encoding)
        ast.parse(text)
    except UnicodeEncodeError:
        return f"the result cannot be written as {encoding}"
    except (SyntaxError, ValueError, RecursionError):
        return "the result would not parse"
    return None


def _unsettled(wanted: Mapping[Path, Sequence[Result]]) -> str:
    codes = sorted({r.diagnostic.code for results in wanted.values() for r in results})
    return f"fixing did not settle in {MAX_PASSES} passes ({', '.join(codes)} keep coming back)"


def _changed(progress: _Progress) -> tuple[FixedFile, ...]:
    return tuple(
        FixedFile(path, file.text, progress.texts[path], file.encoding, tuple(codes))
        for path, codes in sorted(progress.applied.items())
        for file in [progress.originals[path]]
        if progress.texts[path] != file.text
    )


def _with_problems(run: Run, progress: _Progress) -> Run:
    errors = [FileError(path, message) for path, message in sorted(progress.problems.items())]
    return replace(run, errors=(*run.errors, *errors)) if errors else run
