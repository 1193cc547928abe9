"""What lists and dicts hold after something is put into them, however deep inside of others."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tclint.semantics.events import ContainerGrown
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.operators import elements
from tclint.semantics.lattice import bounded, join
from tclint.semantics.syntax import path_of
from tclint.semantics.values import UNKNOWN, Mapping, Object, Sequence, Static, Value


def hold(frame: Frame, container: ast.expr, value: Value) -> None:
    """Let an expression of a container stand for what it is now: ``d`` of ``d["a"].append(x)``."""
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
        hold(frame, outer, changed)


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
            items = {**dict(container.items), place: value}
            return bounded(Mapping(tuple(items.items()), container.element))
        unknown = container.element is UNKNOWN
        return Mapping(container.items, value if unknown else joined((container.element, value)))
    if not isinstance(container, Sequence):
        return None
    items_of = container.items
    if items_of is not None and isinstance(place, int) and -len(items_of) <= place < len(items_of):
        changed = list(items_of)
        changed[place] = value
        return Sequence(container.type, items=tuple(changed))
    if isinstance(key, Static) and key.type == "slice":
        value = elements(value) if isinstance(value, Sequence) else UNKNOWN
    known = [elements(container)] if items_of != () else []
    return Sequence(container.type, join([*known, value]))


def joined(values: Iterable[Value]) -> Value:
    """Any of some values of a container; an empty list says nothing of what others hold."""
    found = list(values)
    return join([one for one in found if not _is_empty(one)] or found)


def _is_empty(value: Value) -> bool:
    return isinstance(value, Sequence) and value.items == ()


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
