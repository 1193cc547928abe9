"""What lists and dicts hold after something is put into them, however deep inside of others."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tclint.semantics.body import Body
from tclint.semantics.events import ContainerGrown
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.operators import elements
from tclint.semantics.lattice import bounded, join
from tclint.semantics.syntax import NAME, path_of
from tclint.semantics.values import UNKNOWN, Mapping, Object, Sequence, Static, Value


def hold(frame: Frame, container: ast.expr, value: Value) -> None:
    """Let an expression of a container stand for what it is now: ``d`` of ``d["a"].append(x)``.

    So does every other expression in the function that may be the same list or dict.
    """
    _hold(frame, container, value, set())


def _hold(frame: Frame, container: ast.expr, value: Value, seen: set[str]) -> None:
    """Hold in an expression and in the others; ``seen`` are the names that were dealt with.

    Of a name that is bound anew in between, other things are known: it is not the same any more.
    """
    before = held_by(frame, container)
    _hold_there(frame, container, value, seen)
    for other, is_one_of_several in _others(frame, container, seen):
        known = held_by(frame, other)
        if known == before:
            _hold_there(frame, other, value, seen)
        elif is_one_of_several and _is_of_kind(known, value):
            _hold_there(frame, other, joined((known, value)), seen)


def _hold_there(frame: Frame, container: ast.expr, value: Value, seen: set[str]) -> None:
    path = path_of(container)
    if path is not None:
        if path in frame.env or "." in path:
            frame.env[path] = value
            frame.tracked.add(path.partition(".")[0])
        return
    outer, key = _place_of(container)
    if outer is None or key is None:
        return
    changed = with_item(held_by(frame, outer), frame.body.values.get(key, UNKNOWN), value)
    if changed is not None:
        _hold(frame, outer, changed, seen)


def _is_of_kind(one: Value, other: Value) -> bool:
    """True for two lists, or two dicts."""
    return isinstance(one, (Sequence, Mapping)) and type(one) is type(other)


def _others(frame: Frame, container: ast.expr, seen: set[str]) -> Iterator[tuple[ast.expr, bool]]:
    """What else may be the container, and whether it is one of several that may.

    ``a`` and ``b`` of ``a if c else b``, what a name is bound to, and the names bound to it.
    """
    pending = [(container, False)]
    for one, is_one_of_several in pending:  # grows while it is walked
        if isinstance(one, NAME):
            if one.id in seen:
                continue
            seen.add(one.id)
            pending += names_for(frame.body, one.id)
        pending += [(part, True) for part in _alternatives(one)]
        if one is not container:
            yield one, is_one_of_several


def names_for(body: Body, name: str) -> Iterator[tuple[ast.expr, bool]]:
    """What a variable is bound to, and the variables that are bound to it, among others or not."""
    for node in body.names(name):
        part: ast.AST = node
        around = body.parent(node)
        while isinstance(around, (ast.IfExp, ast.BoolOp)):
            part, around = around, body.parent(around)
        match around:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                yield (value, False) if target is part else (target, part is not node)
            case ast.For(target=ast.Name() as target, iter=ast.Tuple() | ast.List() as several):
                if target is part:
                    yield from ((one, True) for one in several.elts)


def _alternatives(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.BoolOp(values=values):
            return values
    return []


def held_by(frame: Frame, container: ast.expr) -> Value:
    """What an expression of a container stands for at the moment."""
    path = path_of(container)
    now = frame.env.get(path) if path is not None else None
    return now or frame.body.values.get(container, UNKNOWN)


def _place_of(node: ast.expr) -> tuple[ast.expr | None, ast.expr | None]:
    """The container and the key of ``d["a"]`` and ``d.setdefault("a", [])``."""
    match node:
        case ast.Subscript(value=outer, slice=key):
            return outer, key
        case ast.Call(func=ast.Attribute(value=outer, attr="setdefault"), args=[key, *_]):
            return outer, key
    return None, None


def with_item(container: Value, key: Value, value: Value) -> Value | None:
    """A list or dict after ``container[key] = value``; None for everything else."""
    place = key.value if isinstance(key, Static) and key.known else None
    if isinstance(container, Mapping):
        if isinstance(place, (str, int)):
            known = {**dict(container.items), place: value}
            return bounded(Mapping(tuple(known.items()), container.element))
        unknown = container.element is UNKNOWN
        items = tuple(
            (name, joined((held, value)) if _is_of_kind(held, value) else held)
            for name, held in container.items
        )
        return Mapping(items, value if unknown else joined((container.element, value)))
    if not isinstance(container, Sequence):
        return None
    items_of = container.items
    if items_of is not None and isinstance(place, int) and -len(items_of) <= place < len(items_of):
        changed = list(items_of)
        changed[place] = value
        return Sequence(container.type, items=tuple(changed))
    if isinstance(key, Static) and key.type == "slice":
        value = elements(value) if isinstance(value, Sequence) else UNKNOWN
    others = [elements(container)] if items_of != () else []
    return Sequence(container.type, join([*others, value]))


def joined(values: Iterable[Value]) -> Value:
    """Any of some values of a container; an empty list says nothing of what others hold."""
    found = list(values)
    return join([v for v in found if not isinstance(v, Sequence) or v.items != ()] or found)


def report_growth(
    frame: Frame, node: ast.expr, container: ast.expr, method: str = "", key: Value = UNKNOWN
) -> None:
    """Report another member of a list or dict, if that outlives the call."""
    if frame.region is None or ContainerGrown not in frame.analysis.wanted:
        return
    kept = ""
    match container:
        case ast.Attribute(value=owner):
            known = frame.body.values.get(owner)
            kept = "module" if isinstance(known, Object) and known.is_module else ""
        case ast.Name(id=name):
            is_global = frame.enclosed(name) is None and name in frame.body.module.assigned
            kept = "global" if is_global else ""
    if kept:
        frame.analysis.emit(
            frame, ContainerGrown, node, container=container, kept=kept, method=method, key=key
        )
