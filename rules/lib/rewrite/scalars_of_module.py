"""Tensors of one integer that a module keeps: the numbers beside them, and methods that use those.

``self.stride = nn.Buffer(torch.tensor(self.conv.stride[0]), persistent=False)`` makes each size and
each condition that is computed from it a read of a tensor, once per layer. The tensor stays, for
those that look at it from outside; the methods of the class compute with ``self.stride_int``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Import, Insert, Repair, Replace, Rewrite
from tclint.semantics.site import Site, once
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.syntax import nodes, path_of

from ..facts.handed_out import HandedOut
from ..facts.kept_scalars import Kept, Made, kept_scalars
from ..facts.scalar_writes import family_of, why_written, with_scopes
from ..judge.scalar_flow import follow_scalars
from ..judge.scalar_kinds import Flow, Kind, Method, is_changed
from ..judge.verdict import Changes, Refused, Verdict, combine
from .as_written import as_written
from .proved import repair_as_proved

_MESSAGE: Final = (
    "Keep the numbers beside the tensors that `__init__` makes of them, and compute with those"
)
_KEPT: Final = (
    "the methods of `{0}` compute with the numbers that `__init__` makes these tensors of, and do "
    "not see what is stored there later: {1}"
)
_DIVIDED: Final = (
    "quotients are computed in double precision, and to divide by zero raises ZeroDivisionError"
)
_Work = tuple[Kept, Flow]


def or_scalars_of_module(fix: Repair | Decline, site: Site, source: ast.expr) -> Repair | Decline:
    """A repair by the numbers of a module where there is no safe one, or the reason for none."""
    if isinstance(fix, Repair) and fix.change is Change.SAME_BITS:
        return fix
    cls, function = site.cls, site.function
    work = _work(site, cls) if cls is not None else None
    if cls is None or function is None or work is None:
        return fix
    flow = work[1]
    why = _why_left(flow, function.name, source)
    if why:
        return fix if isinstance(fix, Repair) else Decline(why)
    method = flow.methods.get(function.name)
    if method is None or not is_changed(method.kinds.get(source, Kind.OTHER)):
        return fix
    numbers = _repair(site, cls)
    if numbers is None or (isinstance(fix, Repair) and isinstance(numbers, Decline)):
        return fix
    return numbers


def _why_left(flow: Flow, name: str, source: ast.expr) -> str:
    """Why a method stays, or one that it asks for the number; empty where they do not."""
    asked = {one.attr for one in nodes(source) if isinstance(one, ast.Attribute)}
    return next((flow.left[one] for one in (name, *sorted(asked)) if one in flow.left), "")


@once
def _work(site: Site, cls: ClassInfo) -> _Work | None:
    """What the class keeps, and where its methods use it."""
    kept = kept_scalars(cls)
    if kept is None:
        return None
    spelled = site.spell("math")
    flow = Flow(
        cls,
        frozenset(kept.attributes),
        kept.suffix,
        spelled or "math",
        mentioned=frozenset(_mentioned(cls)),
        replaced=frozenset(_replaced(cls)),
    )
    follow_scalars(flow)
    return kept, flow


def _mentioned(cls: ClassInfo) -> Iterator[str]:
    """The methods that code of the file outside of the class names, too.

    What other classes call on themselves is theirs, unless they are of the family.
    """
    inside, family = set(nodes(cls.node)), family_of(cls)
    for scope, node in with_scopes(cls.module.tree):
        if node in inside:
            continue
        of_others = isinstance(scope, ast.ClassDef) and scope not in family
        match node:
            case ast.Attribute(value=ast.Name(id="self")) if of_others:
                continue
            case ast.Attribute(attr=name) | ast.Constant(value=str() as name):
                if name in cls.methods:
                    yield name


def _replaced(cls: ClassInfo) -> Iterator[str]:
    """The methods that another class of the family has, too."""
    for one in family_of(cls):
        if one is not cls.node:
            for item in one.body:
                if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield item.name


@once
def _repair(site: Site, cls: ClassInfo) -> Repair | Decline | None:
    """The numbers, and all places of the class that compute with them."""
    work = _work(site, cls)
    if work is None:
        return None
    kept, flow = work
    methods = [method for method in flow.methods.values() if method.rewrites]
    needed = _needed(kept, {name for method in methods for name in method.reads})
    computing: list[ast.AST] = [method.function.node for method in methods]
    verdicts = [
        *_stay(cls, kept, needed, computing),
        *_unsure(site, needed),
        *_results(flow, methods),
    ]
    rewrites: list[Rewrite] = []
    for made in needed:
        rewrites += _beside(site, kept, made)
    for method in methods:
        rewrites += method.rewrites.values()
    rounds = any(f"{flow.math}." in one.template for one in rewrites if isinstance(one, Replace))
    if rounds and site.spell("math") is None:
        rewrites.append(Import("math"))
    if any(method.divides for method in methods):
        verdicts.append(Changes(_DIVIDED))
    return repair_as_proved(combine(verdicts), _MESSAGE, tuple(rewrites))


def _needed(kept: Kept, reads: set[str]) -> list[Made]:
    """The numbers that methods read, and those that these are computed from, as `__init__` goes."""
    wanted = {f"{kept.own}.{name}{kept.suffix}" for name in reads}
    for _ in kept.all:
        for made in kept.all:
            if _number_name(kept, made) in wanted:
                wanted |= {
                    path_of(part) or "" for part in nodes(made.number) if isinstance(part, ast.expr)
                }
    return [made for made in kept.all if _number_name(kept, made) in wanted]


def _number_name(kept: Kept, made: Made) -> str:
    is_attribute = kept.attributes.get(made.name) is made
    return f"{kept.own}.{made.name}{kept.suffix}" if is_attribute else f"{made.name}{kept.suffix}"


def _stay(
    cls: ClassInfo, kept: Kept, needed: list[Made], computing: list[ast.AST]
) -> Iterator[Verdict]:
    """That the tensors keep the numbers that they were made of."""
    apart = [*computing, *(made.statement for made in kept.all)]
    init = cls.methods["__init__"].node
    classes = [HandedOut(cls.module, one, apart) for one in family_of(cls)]
    for made in _same_tensors(kept, needed):
        if made.persistent:
            yield Refused(f"`{made.name}` is in the state dict, which may hold another number")
        if kept.attributes.get(made.name) is made:
            written = why_written(cls, kept, made.name)
            given = any(one.attribute(made.name) for one in classes)
        else:
            written = ""
            given = classes[0].variable(made.name, init, made.statement) is not None
        if written:
            yield Refused(f"`{made.name}` is written in `{written}`, too")
        if given:
            yield Refused(f"`{made.name}` is handed out, and may be written there")
    names = (f"`{made.name}`" for made in needed if kept.attributes.get(made.name) is made)
    yield Changes(_KEPT.format(cls.name, ", ".join(names)))


def _same_tensors(kept: Kept, needed: list[Made]) -> list[Made]:
    """What is needed, and what else has the same tensors: ``self.both = self.size``."""
    found = [*needed]
    for made in found:  # grows while it is walked
        name = _number_name(kept, made)
        found += [
            one
            for one in kept.all
            if one not in found and one.given is None and path_of(one.number) == name
        ]
    return found


def _unsure(site: Site, needed: list[Made]) -> Iterator[Verdict]:
    for made in needed:
        for part in made.unsure:
            yield Changes(f"`{site.text(part)}` has to be an integer: the tensor truncated a float")


def _results(flow: Flow, methods: list[Method]) -> Iterator[Verdict]:
    for method in methods:
        if is_changed(flow.returns.get(method.function.name, Kind.OTHER)):
            yield Changes(f"`{method.function.name}` returns a number")


def _beside(site: Site, kept: Kept, made: Made) -> Iterator[Rewrite]:
    """The number beside the tensor that is made of it."""
    name = _number_name(kept, made)
    if made.given is not None and not isinstance(made.given, ast.Constant):
        yield Insert(made.statement, f"{name} = $number", {"number": made.given})
        yield Replace(made.given, name)
    else:
        after = kept.attributes.get(made.name) is made
        yield Insert(made.statement, f"{name} = {as_written(made.number, site.text)}", after=after)
