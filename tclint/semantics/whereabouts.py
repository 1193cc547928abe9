"""In which compiled regions a line is and how it is reached, or why it is in none."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.diagnostics import ChainLink
from tclint.records import record
from tclint.semantics.body import Body
from tclint.semantics.bounds import Bound
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.not_traced import not_traced
from tclint.semantics.mentions import MOST, Mention, mentions_of
from tclint.semantics.readable import readable
from tclint.semantics.rows import FUNCTIONS, Function, Row, row_of
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.trace import Trace, Walk
from tclint.semantics.values import Value

SETS_UP: Final = frozenset({"__init__", "__post_init__", "__new__", "__init_subclass__"})
_LEAVES: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_WORDS: Final = {ast.Return: "return", ast.Raise: "raise", ast.Break: "break"}


@record(frozen=True)
class Way:
    """One way into a function: the region, why that counts as compiled, and the calls from there.

    ``place`` is where the program compiles it. ``off`` says that it leads below a flag that is off
    by default, or to an exception.
    """

    region: str
    because: str
    place: ChainLink | None
    chain: tuple[ChainLink, ...]
    off: bool


@record(frozen=True)
class Whereabouts:
    """What a line is in, by name; the ``ways`` to it, and why there are none.

    ``because`` has reasons also where there are ways into the function, but not to the line. Where
    only a call could be a way, ``named`` are the places that name the function.
    """

    name: str
    ways: tuple[Way, ...]
    because: tuple[str, ...] = ()
    named: tuple[Mention, ...] | None = None

    @property
    def is_reached(self) -> bool:
        """Whether the analysis came to the line in compiled code."""
        return bool(self.ways) and not self.because

    def reasons(self, file: Path) -> Iterator[str]:
        """Why nothing leads to the line, in words."""
        yield from self.because
        if self.named is None:
            return
        if not self.named:
            yield "nothing in the files that were read names it"
        ranked = sorted(self.named, key=lambda one: (one.rank, one.module.file.path != file))
        for one in ranked[:MOST]:
            yield f"{place_text(str(one.module.file.path), one.row, file)}: {one.said}"
        if len(ranked) > MOST:
            more = len(ranked) - MOST
            yield f"{more} more {'place names' if more == 1 else 'places name'} it"


def joined(seen: Sequence[Whereabouts]) -> Whereabouts:
    """What several analyses of parts of the program say of one line; the first is of its own."""
    for one in seen:
        if one.is_reached:
            return one
    named = [one.named for one in seen if one.named is not None]
    return replace(seen[0], named=tuple(m for some in named for m in some) if named else None)


def whereabouts(
    analysis: Analysis,
    trace: Trace,
    module: ModuleInfo,
    config: Config,
    row: int,
    walked: Collection[Path],
) -> Whereabouts:
    """Where a row of a file is; ``walked`` are the files that the analysis began with."""
    return _Looking(analysis, trace, module, config, walked).at(row_of(module.tree, row))


class _Looking:
    def __init__(
        self,
        analysis: Analysis,
        trace: Trace,
        module: ModuleInfo,
        config: Config,
        walked: Collection[Path],
    ) -> None:
        self.walked = walked
        self.analysis = analysis
        self.trace = trace
        self.module = module
        self.config = config
        self.known = {info.node: info for info in _functions(analysis, module)}

    def at(self, row: Row) -> Whereabouts:
        """In which regions a row is, or why in none."""
        name = row.name
        if row.statement is None:
            return Whereabouts(name, (), ("nothing is run on this line",))
        if not row.functions:
            where = "a class body" if name else "the top level of the file"
            return Whereabouts(name, (), (f"{where} runs once, when it is imported",))
        function = row.functions[-1]
        ways = self.ways(function)
        if ways:
            return Whereabouts(name, ways, tuple(self.why_not_reached(row, function)))
        because = tuple(self.why_not(row, function))
        if because:
            return Whereabouts(name, (), because)
        named = tuple(
            mentions_of(self.analysis, self.trace, function, self.known.get(function), self.walked)
        )
        because = (f"no compiled code is seen to call `{name}`", *self.not_followed())
        return Whereabouts(name, (), because, named)

    def not_followed(self) -> Iterator[str]:
        """Where the analysis stopped, behind which a call may be."""
        for (bound, _), cut in self.analysis.cuts.found.items():
            if bound.hides:
                place = f"{cut.module.file.path.name}:{cut.statement.lineno}"
                has = " has" if isinstance(bound, Bound) else ":"
                yield f"not everything is followed: {place}{has} {bound}"

    def ways(self, function: Function) -> tuple[Way, ...]:
        """The different ways into a function, the sure ones and the short ones first."""
        found: dict[tuple[str, tuple[ChainLink, ...]], Way] = {}
        for walk in self.trace.in_regions(function):
            if walk.region is not None:
                way = Way(walk.region.root, self.counts(walk), walk.place, walk.chain, walk.off)
                found.setdefault((way.region, way.chain), way)
        return tuple(sorted(found.values(), key=lambda way: (way.off, len(way.chain))))

    def counts(self, walk: Walk) -> str:
        """Why the start of a walk counts as compiled, where the program does not compile it."""
        if walk.place is not None:
            return ""
        if walk.region is not None and walk.region.explicit:
            return "the configuration names it in `compiled`"
        cls = walk.start.cls if walk.start is not None else None
        if walk.start is not None and cls is not None and walk.start.name == "forward":
            is_module = self.analysis.project.is_module_class(cls)
            of = "a module" if is_module else "an autograd function"
            return f"the `forward` of {of} counts as compiled"
        if walk.start is not None and walk.start.name == "step":
            return "the `step` of an optimizer counts as compiled"
        if self.config.scope == "all":
            return 'with `scope = "all"` every function counts as compiled'
        return "it is called on an object that is compiled, and counts as compiled"

    def why_not(self, row: Row, function: Function) -> Iterator[str]:
        """Why a function is in no region."""
        info, name = self.known.get(function), row.name
        kept_out = not_traced(self.analysis, info) if info is not None else frozenset()
        outer = row.functions[:-1]
        if kept_out:
            names = " or ".join(f"`{one}`" for one in sorted(filter(None, kept_out)))
            yield f"{names} keeps `{name}` out of compiled code"
        elif function.name in SETS_UP:
            made = name.rpartition(".")[0]
            yield f"`{name}` sets objects up, in eager mode: no compiled code makes a `{made}`"
        elif function.name == "forward" and info is not None and info.cls is not None:
            yield from self.why_no_root(info.cls)
        elif outer and not self.trace.in_regions(outer[-1]):
            within = self.at(row_of(self.module.tree, outer[-1].lineno))
            yield f"it is inside of `{within.name}`, which is in no region"
            yield from within.reasons(self.module.file.path)

    def why_no_root(self, cls: ClassInfo) -> Iterator[str]:
        """Why the ``forward`` of a class is no region."""
        if not self.analysis.project.is_module_class(cls):
            above = [_name(base) for base in self.analysis.project.ancestry(cls)[1:]]
            of = f" (its bases: {', '.join(f'`{one}`' for one in above)})" if above else ""
            yield f"`{cls.qualname}` is not known to be a `torch.nn.Module`{of}"
        elif self.config.scope == "compiled":
            yield (
                'with `scope = "compiled"` only what a `torch.compile` in the files reaches counts,'
                f" and none reaches `{cls.qualname}`"
            )

    def why_not_reached(self, row: Row, function: Function) -> Iterator[str]:
        """Why a line of a function that is walked is not."""
        body = self.analysis.walked(function)
        if body is None or row.statement is function:
            return
        outer: ast.stmt = function
        for statement, block in row.inside(function):
            if not _is_evaluated(body, statement):
                yield from _why_dead(body, outer, statement, block)
                return
            outer = statement


def _functions(analysis: Analysis, module: ModuleInfo) -> Iterator[FunctionInfo]:
    yield from module.functions.values()
    for cls in (*module.classes.values(), *analysis.local_classes.values()):
        yield from cls.methods.values()
    yield from analysis.local_functions.values()


def _name(base: ClassInfo | str) -> str:
    return base.qualname if isinstance(base, ClassInfo) else base


def _is_evaluated(body: Body, statement: ast.stmt) -> bool:
    """True where some expression of a statement was evaluated; and where it has none."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return True
    own = [node for node in ast.walk(statement) if isinstance(node, ast.expr)]
    return not own or any(node in body.values for node in own)


def _why_dead(
    body: Body, outer: ast.stmt, statement: ast.stmt, block: list[ast.stmt]
) -> Iterator[str]:
    """Why a statement of a block was not walked although what is around it was."""
    before = [one for one in block[: block.index(statement)] if _is_evaluated(body, one)]
    if before:
        yield _leaving(body, before[-1])
    else:
        yield _not_entered(body, outer, block)


def _leaving(body: Body, last: ast.stmt) -> str:
    row = last.lineno
    if isinstance(last, _LEAVES):
        return f"the code ends before it, with `{_WORDS.get(type(last), 'continue')}` in line {row}"
    if isinstance(last, ast.If):
        value = body.values.get(last.test)
        return (
            f"the code ends before it: every branch of the `if` in line {row} that can be taken"
            f" leaves the block{_taken_for(last.test, value)}"
        )
    return f"the code ends before it: nothing runs after line {row}"


def _not_entered(body: Body, outer: ast.stmt, block: list[ast.stmt]) -> str:
    row = outer.lineno
    match outer:
        case ast.If(test=test, body=then) | ast.While(test=test, body=then):
            wanted = "true" if block is then else "false"
            value = _taken_for(test, body.values.get(test))
            return f"the condition in line {row} is never {wanted}{value}"
        case ast.For() | ast.AsyncFor():
            return f"the loop in line {row} has nothing to iterate over"
        case ast.Try():
            return f"nothing in the `try` in line {row} leads there"
        case ast.Match():
            return f"an earlier case of the `match` in line {row} always matches"
    return f"the code in line {row} ends before it"


def _taken_for(test: ast.expr, value: Value | None) -> str:
    text = " ".join(ast.unparse(test).split())
    return f": `{text}` is treated as {readable(value)}" if value is not None else f": `{text}`"


def place_text(path: str, row: int, file: Path) -> str:
    """A place as somebody names it who looks at a file."""
    return f"line {row}" if path == str(file) else f"{path}:{row}"
