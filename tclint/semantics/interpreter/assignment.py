"""Binding values to targets: names, tuples, attributes of ``self``, items."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Items

from tclint.semantics.collect import SETTER
from tclint.semantics.events import (
    ClassWrite,
    EnvironmentWrite,
    FunctionWrite,
    ModuleWrite,
    TensorWrite,
)
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.compiling import note_reordered
from tclint.semantics.interpreter.containers import hold, report_growth, with_item
from tclint.semantics.interpreter.evaluate import evaluate, holds_drawn, need_drawn, need_number
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.indexing import index_tensor
from tclint.semantics.interpreter.iteration import as_tuple, element_of, row_of
from tclint.semantics.interpreter.memory import CONSTRUCTORS
from tclint.semantics.interpreter.reshaping import CONTENT, forget_shapes
from tclint.semantics.interpreter.special import iterated, may_be_object, special
from tclint.semantics.lattice import join, options, tensor_in
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.syntax import ATTRIBUTE, NAME, path_of
from tclint.semantics.values import (
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Object,
    Sequence,
    Static,
    Tensor,
    Value,
)


def assign(frame: Frame, target: ast.expr, value: Value, *, augmented: bool = False) -> None:
    """Bind ``value`` to an assignment target."""
    frame.body.values[target] = value
    if isinstance(target, NAME):
        if target.id in frame.tracked:
            _forget_paths(frame, target.id)
        frame.env[target.id] = value
        if frame.body.is_shared(target.id):
            frame.analysis.changes.note(frame, target, UNKNOWN, value)
            frame.analysis.changes.note_name(frame, target.id)
        return
    if isinstance(target, ATTRIBUTE):
        _assign_attribute(frame, target, value, augmented=augmented)
        return
    match target:
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(frame, targets, iterated(frame, target, value))
        case ast.Starred(value=inner):
            assign(frame, inner, value)
        case ast.Subscript():
            _assign_item(frame, target, value)


def _forget_paths(frame: Frame, name: str) -> None:
    """A variable that is bound anew is another object: its attributes are not known any more."""
    prefix = f"{name}."
    for key in [key for key in frame.env if key.startswith(prefix)]:
        del frame.env[key]


def _unpack(frame: Frame, targets: Items[ast.expr], value: Value) -> None:
    star = next((n for n, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    for place, target in enumerate(targets):
        members = [_member(option, place, len(targets), star) for option in options(value)]
        assign(frame, target, join(members))


def _member(value: Value, place: int, count: int, star: int | None) -> Value:
    """What the target at a place gets; the one with a star (at ``star``) gets a list."""
    value = as_tuple(value)
    if isinstance(value, Sequence) and value.items is not None:
        items = value.items
        if star is None and len(items) == count:
            return items[place]
        if star is not None and len(items) >= count - 1:
            after = len(items) - count
            if place == star:
                return Sequence("list", items=items[place : place + after + 1])
            return items[place] if place < star else items[place + after]
        if value.type == "tuple":  # to unpack it would raise: an annotation is wrong
            return UNKNOWN
    member = row_of(value) if isinstance(value, Tensor) else element_of(value)
    return Sequence("list", member) if place == star else member


def _assign_attribute(
    frame: Frame, target: ast.Attribute, value: Value, *, augmented: bool
) -> None:
    owner = evaluate(frame, target.value)
    if sets_itself(frame, target, owner, target.attr, value):
        return
    _bind_path(frame, target.value, target.attr, value)
    note_store(frame, target, owner, target.attr, value)
    if isinstance(owner, Object) and owner.cls is not None:
        frame.analysis.changes.note_elsewhere(frame, target, owner.cls, target.attr)
    if isinstance(owner, External):
        _note_config(frame, owner.name, target.attr, value)
    _report_function_write(frame, target, owner, target.attr)
    _report_tensor_write(frame, target, target.value, owner, target.attr)
    if target.attr in CONTENT:
        forget_shapes(frame)
    if frame.region is not None and ClassWrite in frame.analysis.wanted:
        _report_class_write(frame, target, owner)
    if not isinstance(owner, Object) or owner.cls is None:
        return
    if frame.region is None:
        function = frame.body.function
        if owner.fields is not None and function is not None and function.name in CONSTRUCTORS:
            return
        initial = function is not None and function.name == "__init__"
        frame.analysis.record_attribute(owner.cls, target.attr, value, initial=initial)
    elif owner.is_module:
        frame.analysis.emit(
            frame, ModuleWrite, target, owner=owner, attribute=target.attr, target=target,
            value=value, augmented=augmented,
        )  # fmt: skip


def sets_itself(frame: Frame, node: ast.expr, owner: Value, name: str, value: Value) -> bool:
    """Follow what an object's own code does when an attribute is set; true for a property."""
    if not may_be_object(owner):
        return False
    given = Static("str", name, known=True)
    special(frame, node, owner, "__setattr__", given, value)
    return special(frame, node, owner, f"{name}{SETTER}", value) is not None


def _bind_path(frame: Frame, subject: ast.expr, name: str, value: Value) -> None:
    """Follow an attribute; other names of its object have it, too."""
    path = path_of(subject)
    if frame.tracked:
        _spread_to_aliases(frame, path, name, value)
    if path is not None:
        frame.env[f"{path}.{name}"] = value
        frame.tracked.add(path.partition(".")[0])
        owner = frame.env.get(path)
        if isinstance(owner, Object) and owner.fields is not None:
            frame.env[path] = owner.with_field(name, value)


def _spread_to_aliases(frame: Frame, path: str | None, name: str, value: Value) -> None:
    owner = frame.env.get(path) if path is not None else None
    own, ending = f"{path}.{name}", f".{name}"
    for key in [key for key in frame.env if key.endswith(ending) and key != own]:
        other = frame.env.get(key.rpartition(".")[0])
        apart = isinstance(owner, Object) and isinstance(other, Object) and owner.cls != other.cls
        if not apart:
            frame.env[key] = join((frame.env[key], value))


def note_store(frame: Frame, node: ast.AST, owner: Value, name: str, value: Value) -> None:
    """Remember what is written to an attribute, or into a container that an attribute holds."""
    changes = frame.analysis.changes
    changes.note(frame, node, owner, value)
    changes.note_name(frame, name)


def write_attribute(
    frame: Frame, node: ast.Call, subject: ast.expr, owner: Value, name: str, value: Value
) -> None:
    """What ``setattr(subject, name, value)`` does."""
    if sets_itself(frame, node, owner, name, value):
        return
    _bind_path(frame, subject, name, value)
    note_store(frame, node, owner, name, value)
    if isinstance(owner, Object) and owner.cls is not None:
        frame.analysis.changes.note_elsewhere(frame, node, owner.cls, name)
    frame.analysis.changes.note_set(frame, node, subject, name)
    _report_tensor_write(frame, node, subject, owner, name)
    _report_function_write(frame, node, owner, name)


def _report_function_write(frame: Frame, node: ast.expr, owner: Value, name: str) -> None:
    if not isinstance(owner, Function) or owner.bound is not None or frame.region is None:
        return
    around = frame.analysis.closures.get(owner.info.node)
    if around is None or around.region is None:
        frame.analysis.emit(frame, FunctionWrite, node, attribute=name)


def _report_tensor_write(
    frame: Frame, node: ast.expr, subject: ast.expr, owner: Value, name: str
) -> None:
    tensor = tensor_in(owner)
    if tensor is not None:
        frame.analysis.emit(frame, TensorWrite, node, attribute=name, owner=subject, tensor=tensor)


def _report_class_write(frame: Frame, target: ast.Attribute, owner: Value) -> None:
    """Report ``Net.x = ...``, ``type(self).x = ...`` and ``self.__class__.x = ...``."""
    instance = _instance(target.value)
    if instance is not None:
        made = evaluate(frame, instance)
        cls = made.cls if isinstance(made, Object) else None
    else:
        cls = owner.info if isinstance(owner, Class) else None
    if cls is not None:
        frame.analysis.emit(
            frame, ClassWrite, target, owner=cls, attribute=target.attr, target=target
        )


def _instance(node: ast.expr) -> ast.expr | None:
    """``x`` of ``type(x)`` and ``x.__class__``."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "__class__" else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    return node.args[0] if node.func.id == "type" and len(node.args) == 1 else None


def _note_config(frame: Frame, owner: str, attribute: str, value: Value) -> None:
    if owner != "torch._dynamo.config":
        return
    if isinstance(value, Static) and value.known:
        frame.analysis.note_config(attribute, on=bool(value.value))
    elif attribute == "reorderable_logging_functions":
        note_reordered(frame, Arguments((value,)))


def _assign_item(frame: Frame, target: ast.Subscript, value: Value) -> None:
    base = evaluate(frame, target.value)
    index = evaluate(frame, target.slice)
    if not isinstance(base, Tensor):
        note_content(frame, target, target.value, value)
    match base:
        case Tensor():
            index_tensor(frame, target, base, store=True)
        case Mapping():
            report_growth(frame, target, target.value, key=index)
            _store(frame, target, base, index, value)
        case Sequence():
            need_number(frame, target.slice, index, "python")
            _hold_item(frame, target, base, index, value)
        case Object(cls=ClassInfo()):
            special(frame, target, base, "__setitem__", index, value)
        case External():
            report_environment_write(frame, target, base)
        case Object(name="torch.optim.param_group") if index == Static("str", "lr", known=True):
            if frame.region is not None and _is_of_another(frame.statement):
                return
            frame.analysis.note_lr_change(base, "write", "param_groups", target)


def _is_of_another(statement: ast.AST) -> bool:
    """True for a learning rate that is taken from another optimizer, at each step the same."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Subscript) and getattr(value.slice, "value", None) == "lr"


def report_environment_write(frame: Frame, target: ast.Subscript, base: Value) -> None:
    """Report what sets or removes an item of ``os.environ``."""
    if isinstance(base, External) and base.name in ("os.environ", "os.environb"):
        frame.analysis.emit(frame, EnvironmentWrite, target, target=target)


def note_content(frame: Frame, node: ast.AST, container: ast.expr, value: Value) -> None:
    """Remember what is put into a container that an attribute or a shared variable holds."""
    while isinstance(container, ast.Subscript):
        container = container.value
    changes = frame.analysis.changes
    if isinstance(container, ast.Attribute):
        owner = frame.body.values.get(container.value, UNKNOWN)
        note_store(frame, node, owner, container.attr, value)
    elif isinstance(container, ast.Name):
        changes.note(frame, node, UNKNOWN, value)
        if frame.env.get(container.id) is None:
            changes.note_name(frame, container.id)


def _store(frame: Frame, target: ast.Subscript, base: Mapping, index: Value, value: Value) -> None:
    if holds_drawn(index):
        need_drawn(frame, target.slice, index, "hash")
    else:
        need_number(frame, target.slice, index, "key")
    _hold_item(frame, target, base, index, value)


def _hold_item(
    frame: Frame, target: ast.Subscript, base: Value, index: Value, value: Value
) -> None:
    changed = with_item(base, index, value)
    if changed is not None:
        hold(frame, target.value, changed)
