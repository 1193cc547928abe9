"""Fix files: apply fixes, look again, and go on until nothing is left to fix."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.fix.conflicts import Group, apply_edits, choose, flatten
from tclint.fix.edits import edits_for
from tclint.fix.guards import joined_guards
from tclint.fix.importers import Importers
from tclint.fix.ledger import Ledger
from tclint.fix.leftovers import leftover_imports
from tclint.fix.recheck import Recheck
from tclint.fix.results import (
    NO_REMEDIES,
    AppliedFix,
    Declined,
    FixedFile,
    FixKey,
    FixRun,
    Remedies,
    key_of,
)
from tclint.fix.settings import switches
from tclint.fix.together import together
from tclint.lint.selection import applicability_of, is_as_sure
from tclint.records import record
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile, spliced
from tclint.source.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from tclint.config import Config
    from tclint.diagnostics import Diagnostic, Edit, Span
    from tclint.fix.guards import Change
    from tclint.lint.engine import Result, Run

    Checker = Callable[[Sequence[Path], Config, Mapping[Path, str] | None], Run]

MAX_PASSES: Final = 20
"""How many passes may go by without fewer fixable findings, before fixing gives up."""


class _File:
    """A file under repair: its first text, its present one, and the fixes in between."""

    def __init__(self, file: SourceFile) -> None:
        self.original, self.text = file, file.text
        self._ledger = Ledger(file)
        self._fixes: list[AppliedFix] = []
        self._latest: frozenset[int] = frozenset()

    def key(self, diagnostic: Diagnostic, present: SourceFile) -> FixKey:
        """What a finding in the present text is called."""
        return FixKey(diagnostic.path, self._origin(diagnostic.span, present), diagnostic.code)

    def enter(
        self,
        text: str,
        present: SourceFile,
        chosen: Sequence[tuple[Result, Group]],
        progress: _Progress,
    ) -> None:
        """Take over the text that the chosen fixes make of the present one.

        What is not among the findings that the first pass knew came up by fixing.
        """
        known = progress.known or ()
        makers: dict[Edit, frozenset[int]] = defaultdict(frozenset)
        first = len(self._fixes)
        for result, group in chosen:
            for edit in group.edits:
                makers[edit] |= {len(self._fixes)}
            fix = _applied(result, lambda span: self._origin(span, present))
            settled = progress.settles.get(result.diagnostic, ())
            unsure = result.diagnostic in progress.unsure
            shown = key_of(fix.diagnostic) in known
            follows = not (shown or settled or unsure)
            self._fixes.append(replace(fix, follows=follows, settles=settled, unsure=unsure))
        self._ledger.enter(
            (present.offset(edit.span.start), present.offset(edit.span.end), edit.content, made_by)
            for edit, made_by in makers.items()
        )
        self.text = text
        self._latest = frozenset(range(first, len(self._fixes)))

    def wrote(self, diagnostic: Diagnostic, present: SourceFile) -> list[AppliedFix]:
        """The fixes that wrote the code that a finding in the present text is about."""
        makers = self._ledger.makers(present.offset(diagnostic.span.start))
        return [self._fixes[number] for number in sorted(makers)]

    def made(self, codes: Collection[str]) -> list[AppliedFix]:
        """The fixes of some rules."""
        return [fix for fix in self._fixes if fix.diagnostic.code in codes]

    def join_guards(self) -> None:
        """Let guards that fixes put next to each other be one."""
        present = SourceFile.from_text(self.original.path, self.text)

        def wrote(row: int, column: int) -> bool:
            return self._ledger.wrote(present.offset(present.position(row, column)))

        self._change(joined_guards(self.text, wrote), frozenset())

    def drop_imports(self, before: str, needed: Callable[[str], bool]) -> None:
        """Take out the imports that the last fixes left without a use."""
        self._change(leftover_imports(before, self.text, needed), self._latest)

    def _change(self, changes: Sequence[Change], makers: frozenset[int]) -> None:
        """Change the text on behalf of some fixes, and of those that wrote there."""
        text = spliced(self.text, changes)
        if changes and _problem(text, self.original) is None:
            self._ledger.enter((*change, makers) for change in changes)
            self.text = text

    def fixed(self) -> FixedFile:
        """The outcome, with every edit at its place in the first text."""
        edits: dict[int, list[Edit]] = defaultdict(list)
        for edit, makers in self._ledger.edits():
            for number in makers:
                edits[number].append(edit)
        fixes = [replace(fix, edits=tuple(edits[n])) for n, fix in enumerate(self._fixes)]
        file = self.original
        return FixedFile(file.path, file.text, self.text, file.encoding, tuple(fixes))

    def _origin(self, span: Span, present: SourceFile) -> Span:
        return self._ledger.origin(present.offset(span.start), present.offset(span.end))


@record()
class _Progress:
    """The state between passes: texts so far, and files that are left alone from now on.

    ``known`` are the findings of the first pass. ``settles`` are the findings that go with a
    switch, by the finding that stands for it. ``unsure`` are those that are fixed though they are
    too unsure to be shown. ``stuck`` are the codes whose fixes keep coming back.
    """

    texts: dict[Path, str]
    importers: Importers
    known: frozenset[FixKey] | None = None
    files: dict[Path, _File] = field(default_factory=dict)
    problems: dict[Path, str] = field(default_factory=dict)
    declined: list[Declined] = field(default_factory=list)
    settles: dict[Diagnostic, tuple[Diagnostic, ...]] = field(default_factory=dict)
    unsure: set[Diagnostic] = field(default_factory=set)
    stuck: dict[Path, frozenset[str]] = field(default_factory=dict)


@record(frozen=True)
class _Ask:
    """What somebody wants to be fixed; ``allow`` says it of each fix."""

    config: Config
    unsafe: bool
    remedies: Remedies
    allow: Callable[[FixKey], bool]


def fix_files(
    paths: Sequence[Path],
    config: Config,
    *,
    unsafe: bool = False,
    remedies: Remedies = NO_REMEDIES,
    overlay: Mapping[Path, str] | None = None,
    check: Checker | None = None,
    allow: Callable[[FixKey], bool] | None = None,
    among: Collection[FixKey] | None = None,
) -> FixRun:
    """Apply the fixes that ``config`` allows; nothing is written.

    What a check with this configuration does not show is not fixed either. A fix whose own text
    breaks the graph in the end, since nothing takes that break away, is declined, and so are fixes
    that keep coming back.

    Args:
        paths: the files to fix.
        config: says which rules' fixes may be applied.
        unsafe: apply fixes that may change what the program does, too.
        remedies: what to do about findings that no fix removes.
        overlay: texts to use instead of the files' own.
        check: the function that finds what to fix; the lint engine's by default.
        allow: says of each fix whether it may be applied; all may by default.
        among: the findings that are asked about, others are neither fixed nor told; all by default.
    """
    checker = check or _engine()
    useless: dict[FixKey, Declined] = {}
    unsettled: dict[Path, str] = {}

    def allowed(key: FixKey) -> bool:
        return key not in useless and (allow is None or allow(key))

    while True:
        texts = dict(overlay or {})
        progress = _Progress(texts, Importers(paths, texts))
        ask = _Ask(config, unsafe, remedies, allowed)
        run = _fix_all(paths, ask, progress, checker, among)
        unsettled |= {path: _unsettled(codes) for path, codes in progress.stuck.items()}
        found = _useless(run, progress) | _returning(progress)
        if found.keys() <= useless.keys():
            break
        useless |= found
    progress.problems = unsettled | progress.problems
    remaining = _with_problems(_among(run, among, progress), progress)
    declined = (*progress.declined, *useless.values())
    return FixRun(_changed(progress), remaining, declined)


def _useless(run: Run, progress: _Progress) -> dict[FixKey, Declined]:
    """The fixes of breaks in whose text the graph breaks when nothing is left to fix.

    What a check is less sure of than before does not count: it may be kept for other inputs, in
    eager code, or for a mode that the fix does not help.
    """
    found: dict[FixKey, Declined] = {}
    for result in run.results:
        diagnostic = result.diagnostic
        file = progress.files.get(diagnostic.path)
        if file is None or diagnostic.path in progress.problems or not _surely_breaks(diagnostic):
            continue
        for fix in file.wrote(diagnostic, result.file):
            certain = is_as_sure(diagnostic.confidence, fix.diagnostic.confidence)
            if certain and _surely_breaks(fix.diagnostic):
                why = f"the graph would still break there ({diagnostic.code})"
                found[fix.key] = Declined(fix.diagnostic, Decline(why))
    return found


def _surely_breaks(diagnostic: Diagnostic) -> bool:
    unsure = diagnostic.confidence is Confidence.LOW
    return diagnostic.effect is Effect.GRAPH_BREAK and not unsure


def _returning(progress: _Progress) -> dict[FixKey, Declined]:
    """The fixes that were made again and again, in the files where they were."""
    found: dict[FixKey, Declined] = {}
    for path, codes in progress.stuck.items():
        file = progress.files.get(path)
        for fix in () if file is None else file.made(codes):
            found[fix.key] = Declined(fix.diagnostic, Decline("its fix keeps coming back"))
    return found


def _codes(results: Sequence[Result]) -> frozenset[str]:
    return frozenset(result.diagnostic.code for result in results)


def _fix_all(
    paths: Sequence[Path],
    ask: _Ask,
    progress: _Progress,
    checker: Checker,
    among: Collection[FixKey] | None,
) -> Run:
    """Apply what may be applied until nothing is left; the check of the texts that come of it."""
    passes, fewest = 0, None
    while True:
        everything = checker(paths, ask.config, progress.texts)
        run = _among(everything, among, progress)
        if progress.known is None:
            progress.known = frozenset(key_of(result.diagnostic) for result in run.results)
        wanted = _wanted(run, ask, progress)
        number = sum(map(len, wanted.values()))
        passes = 0 if fewest is not None and number < fewest else passes + 1
        fewest = number if fewest is None else min(fewest, number)
        if passes > MAX_PASSES:
            progress.stuck = {path: _codes(results) for path, results in wanted.items()}
            break
        progress.declined = []
        # What changes least comes first, and what goes with it needs no more.
        if _apply(wanted, progress):
            continue
        every = _with_unsure(run, paths, ask, progress, checker, among)
        if not (
            _apply(_unsure(run, every, ask, progress), progress)
            or _apply(_switched(run, paths, ask, progress), progress)
        ):
            break
    return everything


def _apply(wanted: Mapping[Path, Sequence[Result]], progress: _Progress) -> bool:
    """Carry out repairs, by file; True when a text changed."""
    changed = [_fix_file(path, results, progress) for path, results in wanted.items()]
    return any(changed)


def _among(run: Run, among: Collection[FixKey] | None, progress: _Progress) -> Run:
    """Without the findings that nobody asks about."""
    if among is None:
        return run
    results = tuple(result for result in run.results if _key(result, progress) in among)
    return replace(run, results=results)


def _engine() -> Checker:
    # The engine loads the rules: whoever brings another checker does not need them.

    return Recheck()


def _switched(
    run: Run, paths: Sequence[Path], ask: _Ask, progress: _Progress
) -> dict[Path, list[Result]]:
    """The calls of `torch.compile` to turn settings on at, by file; each once."""
    wanted: dict[Path, list[Result]] = {}
    for one in switches(run, ask.remedies.settings, frozenset(paths), progress.texts):
        if isinstance(one, Declined):
            progress.declined.append(one)
        elif one.result.diagnostic not in progress.settles:
            progress.settles[one.result.diagnostic] = one.settles
            wanted[one.result.diagnostic.path] = [one.result]
    return wanted


def _unsure(run: Run, every: Run, ask: _Ask, progress: _Progress) -> dict[Path, list[Result]]:
    """The findings to fix that are too unsure to be shown, by file."""
    shown = {result.diagnostic for result in run.results}
    rest = tuple(one for one in every.results if one.diagnostic not in shown)
    progress.unsure |= {result.diagnostic for result in rest}
    return _wanted(replace(every, results=rest), ask, progress, unsure=True)


def _with_unsure(
    run: Run,
    paths: Sequence[Path],
    ask: _Ask,
    progress: _Progress,
    checker: Checker,
    among: Collection[FixKey] | None,
) -> Run:
    """The check, with the findings that are too unsure to be shown if those are asked for."""
    if not ask.remedies.unsure:
        return run
    config = replace(ask.config, weak=True)
    return _among(checker(paths, config, progress.texts), among, progress)


def _wanted(
    run: Run, ask: _Ask, progress: _Progress, *, unsure: bool = False
) -> dict[Path, list[Result]]:
    """The findings to fix, by file."""
    levels = {Applicability.SAFE, Applicability.UNSAFE} if ask.unsafe else {Applicability.SAFE}
    wanted: dict[Path, list[Result]] = defaultdict(list)
    for result in run.results:
        path, code = result.diagnostic.path, result.diagnostic.code
        fixable = applicability_of(code, result.diagnostic.fixable, ask.config)
        if result.repair is None or fixable not in levels or path in progress.problems:
            continue
        if ask.allow(replace(_key(result, progress), unsure=unsure)):
            wanted[path].append(result)
    return wanted


def _key(result: Result, progress: _Progress) -> FixKey:
    """What a fix is called, in whatever pass its finding turns up."""
    diagnostic = result.diagnostic
    file = progress.files.get(diagnostic.path)
    if file is None:
        return key_of(diagnostic)
    return file.key(diagnostic, result.file)


def _fix_file(path: Path, results: Sequence[Result], progress: _Progress) -> bool:
    """Apply what can be applied to one file at once; True when its text changed."""
    file = results[0].file
    try:
        tree = parse(file)
    except SourceError as error:
        progress.problems[path] = error.message
        return False
    groups: list[Group] = []
    for number, result in enumerate(results):
        if result.repair is None:
            continue
        edits = edits_for(file, tree, result.repair)
        if isinstance(edits, Decline):
            progress.declined.append(Declined(result.diagnostic, edits))
        else:
            groups.append(Group(result.diagnostic.code, edits, number))
    repairs = {n: result.repair for n, result in enumerate(results) if result.repair is not None}
    chosen = choose(together(file, tree, groups, repairs))
    text = _with(file, chosen)
    if text == file.text:
        return False
    repaired = progress.files.get(path) or _File(file)
    problem = _problem(text, repaired.original)
    if problem is not None:
        codes = ", ".join(sorted({group.code for group in chosen}))
        chosen = _sound(file, chosen)
        text = _with(file, chosen)
        if not chosen or _problem(text, repaired.original) is not None:
            progress.problems[path] = f"the fixes of {codes} were reverted: {problem}"
            return False
    progress.files[path] = repaired
    made = [(results[group.number], group) for group in chosen]
    repaired.enter(text, file, made, progress)
    if file.path.suffix != ".ipynb":  # what looks adjacent there may stand in two cells
        repaired.join_guards()
        repaired.drop_imports(file.text, partial(progress.importers.take, path))
    progress.texts[path] = repaired.text
    return True


def _applied(result: Result, origin: Callable[[Span], Span]) -> AppliedFix:
    diagnostic, repair = result.diagnostic, result.repair
    assert repair is not None
    related = tuple(origin(span) for span in diagnostic.related)
    diagnostic = replace(diagnostic, span=origin(diagnostic.span), related=related)
    message = diagnostic.fix_message or repair.message
    return AppliedFix(diagnostic, message, repair.applicability, repair.change, repair.changes)


def _sound(file: SourceFile, groups: Sequence[Group]) -> list[Group]:
    """The fixes after which the file stands; halves are tried before halves of them."""
    if _problem(_with(file, groups), file) is None:
        return [*groups]
    middle = len(groups) // 2
    return [*_sound(file, groups[:middle]), *_sound(file, groups[middle:])] if middle else []


def _with(file: SourceFile, groups: Sequence[Group]) -> str:
    return apply_edits(file, flatten(groups))


def _problem(text: str, original: SourceFile) -> str | None:
    """Why a text must not become the file's."""
    try:
        text.encode(original.encoding)
    except UnicodeEncodeError:
        return f"the result cannot be written as {original.encoding}"
    if _stands(text, compiled=True):
        return None
    if not _stands(text):
        return "the result would not parse"
    # The cell of a notebook may hold a `return`, for instance, and never have compiled.
    return "the result would not compile" if _stands(original.text, compiled=True) else None


def _stands(text: str, *, compiled: bool = False) -> bool:
    """True for Python that can be parsed; if ``compiled``, also has sound arguments and scopes."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if compiled else ast.PyCF_ONLY_AST
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<fixed>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _unsettled(codes: Collection[str]) -> str:
    named = ", ".join(sorted(codes))
    return f"fixing did not settle in {MAX_PASSES} passes ({named} keep coming back: left out)"


def _changed(progress: _Progress) -> tuple[FixedFile, ...]:
    return tuple(
        file.fixed()
        for _, file in sorted(progress.files.items())
        if file.text != file.original.text
    )


def _with_problems(run: Run, progress: _Progress) -> Run:
    errors = [FileError(path, message) for path, message in sorted(progress.problems.items())]
    return replace(run, errors=(*run.errors, *errors)) if errors else run
