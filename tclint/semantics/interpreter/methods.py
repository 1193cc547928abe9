"""Methods of containers, strings, modules, optimizers and other library objects."""

from __future__ import annotations

import ast
from typing import Final

from tclint import torch_facts
from tclint.semantics.events import ArrayRead, Call, Deciding, TensorBranch
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.assignment import note_content
from tclint.semantics.interpreter.containers import hold, names_for, report_growth
from tclint.semantics.interpreter.evaluate import need_drawn, need_number, need_sizes
from tclint.semantics.interpreter.expressions import (
    element_of_mapping,
    may_equal_tensor,
    read_template,
)
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.given import sorting_key
from tclint.semantics.interpreter.hooked import register
from tclint.semantics.interpreter.iteration import element_of
from tclint.semantics.interpreter.library import drawn, report_selection
from tclint.semantics.interpreter.objects import replaced
from tclint.semantics.interpreter.operators import elements, held, named_dtype
from tclint.semantics.interpreter.stores import MUTATING
from tclint.semantics.lattice import bounded, is_tensor, join, tensor_in
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    BoundExternal,
    Compiled,
    DataScalar,
    External,
    Iteration,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
    Value,
)
from tclint.torch_facts.compiling import PREPARERS
from tclint.torch_facts.modules import HOOKS, MODULE_METHODS

OPTIMIZER_STEP: Final = "step"


def call_bound(frame: Frame, node: ast.Call, callee: BoundExternal, arguments: Arguments) -> Value:
    """The result of a method of something that is not a tensor."""
    name = callee.name.rpartition(".")[2]
    held_there = _held(callee.owner, name)
    if held_there is not None:
        return held_there
    if name in MUTATING and isinstance(node.func, ast.Attribute):
        _note_change(frame, node, node.func.value, name, arguments)
    match callee.owner:
        case Sequence(type="ModuleList" | "Sequential") if name in MODULE_METHODS:
            layers = Object("torch.nn.Module", is_module=True)
            return _object_method(frame, node, layers, f"torch.nn.Module.{name}", arguments)
        case Sequence() as sequence:
            return _sequence_method(frame, node, sequence, name, arguments)
        case Mapping() as mapping:
            return _mapping_method(frame, node, mapping, name, arguments)
        case NDArray() | Iteration(source="numpy"):
            return _array_method(frame, node, name, arguments)
        case NumpyScalar() as number:
            return _number_method(frame, node, number, name, arguments)
        case Static(type="str"):
            return _string_method(frame, node, name, arguments)
        case Static():
            return STATIC
        case Object() as owner if name == "_replace":
            return replaced(owner, arguments)
        case Object() as owner:
            return _object_method(frame, node, owner, callee.name, arguments)
    return UNKNOWN


_OWN_TENSORS: Final[dict[str, Value]] = {
    "parameters": Iteration(Tensor(role="parameter", why="parameter of a module")),
    "buffers": Iteration(Tensor(role="buffer", why="buffer of a module")),
    "named_parameters": Iteration(
        Sequence("tuple", items=(Static("str"), Tensor(role="parameter", why="named parameter")))
    ),
    "named_buffers": Iteration(
        Sequence("tuple", items=(Static("str"), Tensor(role="buffer", why="named buffer")))
    ),
}


def _held(owner: Value, name: str) -> Value | None:
    """What a module or a container of layers is asked for: its tensors, or its layers."""
    if name in _OWN_TENSORS and _holds_layers(owner):
        return _OWN_TENSORS[name]
    if name not in ("children", "named_children") or not isinstance(owner, (Sequence, Mapping)):
        return None
    child = elements(owner) if isinstance(owner, Sequence) else element_of_mapping(owner)
    named = name == "named_children"
    return Iteration(Sequence("tuple", items=(Static("str"), child)) if named else child)


def _holds_layers(owner: Value) -> bool:
    """True for modules, and for what stands for lists and dicts of them."""
    return isinstance(owner, (Sequence, Mapping)) or (isinstance(owner, Object) and owner.is_module)


def _note_change(
    frame: Frame, node: ast.Call, container: ast.expr, name: str, arguments: Arguments
) -> None:
    added = arguments.positional[-1] if arguments.positional and name in _ADDING else UNKNOWN
    note_content(frame, node, container, element_of(added) if name == "extend" else added)


_ADDING: Final = frozenset({"append", "add", "insert", "appendleft", "setdefault", "extend"})


def _sequence_method(
    frame: Frame, node: ast.Call, sequence: Sequence, name: str, arguments: Arguments
) -> Value:
    if name in _GROWING:
        if isinstance(node.func, ast.Attribute):
            report_growth(frame, node, node.func.value, name)
        added = arguments.positional[-1] if arguments.positional else UNKNOWN
        if name in ("extend", "extendleft"):
            added = element_of(added)
        known = elements(sequence) if sequence.items != () else None
        _rebind(frame, node, Sequence(sequence.type, join(filter(None, (known, added)))))
        return NONE
    if name in _COMPARING:
        _report_comparing(frame, node, sequence, name, arguments)
    if name == "sort":
        return NONE
    if name == "numel":
        return Static("int")
    if name in ("pop", "popleft", "__getitem__"):
        return elements(sequence)
    if name in ("copy", "__iter__"):
        return sequence
    if name in ("index", "count"):
        return Static("int")
    return UNKNOWN


_GROWING: Final = frozenset({"append", "appendleft", "add", "insert", "extend", "extendleft"})


# What compares the members of a list, with each other or with an argument.
_COMPARING: Final[dict[str, Deciding]] = {"sort": "sorted", "index": "in", "remove": "in"}


def _report_comparing(
    frame: Frame, node: ast.Call, sequence: Sequence, name: str, arguments: Arguments
) -> None:
    member = elements(sequence)
    if name == "sort":
        tensors = is_tensor(sorting_key(frame, node, member, arguments))
        if "key" not in arguments.keywords:
            need_drawn(frame, node.func, member, "order")
    else:
        kinds = [member, *arguments.positional[:1]]
        tensors = any(map(is_tensor, kinds)) and all(map(may_equal_tensor, kinds))
    if tensors and isinstance(node.func, ast.Attribute):
        frame.analysis.emit(frame, TensorBranch, node, kind=_COMPARING[name], test=node.func.value)


def _rebind(frame: Frame, node: ast.Call, value: Value) -> None:
    """Track what a mutating method did to what it was called on."""
    if isinstance(node.func, ast.Attribute):
        hold(frame, node.func.value, value)
    elif isinstance(node.func, ast.Name):
        for method, _ in names_for(frame.body, node.func.id):
            if isinstance(method, ast.Attribute):
                hold(frame, method.value, value)


def _mapping_method(
    frame: Frame, node: ast.Call, mapping: Mapping, name: str, arguments: Arguments
) -> Value:
    first = arguments.positional[0] if arguments.positional else UNKNOWN
    everything = element_of_mapping(mapping)
    if name in _LOOKING_UP and node.args:
        need_drawn(frame, node.args[0], first, "hash")
    if name == "setdefault":
        return _set_default(frame, node, mapping, arguments)
    if name in ("get", "pop"):
        default = arguments.positional[1] if len(arguments.positional) > 1 else NONE
        if isinstance(first, Static) and first.known:
            found = mapping.get(first.value)
            if found is not UNKNOWN:
                there = first.value in dict(mapping.items)
                return found if there else join((found, default))
            if mapping.element is not UNKNOWN:
                return default
            return join((UNKNOWN, default)) if is_tensor(default) else UNKNOWN
        return UNKNOWN
    if name == "values":
        return Iteration(everything)
    if name in ("items", "popitem"):
        pair = Sequence("tuple", items=(Static(), everything))
        return pair if name == "popitem" else Iteration(pair)
    if name == "keys":
        return Iteration(Static(), "keys")
    if name == "update":
        _update(frame, node, mapping, arguments)
        return NONE
    if name == "copy":
        return mapping
    return UNKNOWN


_LOOKING_UP: Final = frozenset({"get", "pop", "setdefault"})


def _update(frame: Frame, node: ast.Call, mapping: Mapping, arguments: Arguments) -> None:
    first = arguments.positional[0] if arguments.positional else Mapping()
    if not isinstance(first, Mapping):
        return
    merged = {**dict(mapping.items), **dict(first.items), **arguments.keywords}
    elements_of = [one.element for one in (mapping, first) if one.element is not UNKNOWN]
    element = join(elements_of) if elements_of else UNKNOWN
    _rebind(frame, node, bounded(Mapping(tuple(merged.items()), element)))


def _set_default(frame: Frame, node: ast.Call, mapping: Mapping, arguments: Arguments) -> Value:
    key, default = (*arguments.positional, NONE, NONE)[:2]
    if not (isinstance(key, Static) and isinstance(key.value, (str, int))):
        return UNKNOWN
    known = dict(mapping.items).get(key.value)
    if known is None and mapping.element is not UNKNOWN:
        known = mapping.element
    value = default if known is None else join((known, default))
    items = tuple({**dict(mapping.items), key.value: value}.items())
    _rebind(frame, node, bounded(Mapping(items, mapping.element)))
    return value


_READS: Final = frozenset({"item", "tolist"})


def _array_method(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    if name in _READS:
        if not arguments.positional:  # `a.item(0)` is traced
            frame.analysis.emit(frame, ArrayRead, node, via=name)
        return DataScalar() if name == "item" else UNKNOWN
    if name == "nonzero":
        report_selection(frame, node, name)
        return Sequence("tuple", NDArray())
    if name == "reshape":
        for part, value in zip(node.args, arguments.positional, strict=False):
            need_sizes(frame, part, value)
    reduces = name in _REDUCING and not arguments.positional and not arguments.keywords
    if not reduces:
        return NDArray()
    return NumpyScalar(
        torch_facts.numpy_number_type(name),
        origin="array" if frame.region is not None else "outside",
    )


_REDUCING: Final = frozenset(
    {"all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum"}
)


def _number_method(
    frame: Frame, node: ast.Call, number: NumpyScalar, name: str, arguments: Arguments
) -> Value:
    if name == "astype":
        kind = _asked_type(arguments)
        return NumpyScalar(kind, number.from_loop, number.origin, number.made)
    if name in _OF_NUMBERS:
        need_drawn(frame, node.func, number, "method")
        return UNKNOWN
    if name not in _READS:
        return UNKNOWN
    if number.of_array and not number.made:
        frame.analysis.emit(frame, ArrayRead, node, via=name)
    elif isinstance(node.func, ast.Attribute):
        need_number(frame, node.func.value, number, "python")
    return DataScalar(number.type)


_OF_NUMBERS: Final = frozenset(
    {"as_integer_ratio", "bit_count", "bit_length", "conjugate", "hex", "is_integer", "to_bytes"}
)


def _asked_type(arguments: Arguments) -> str | None:
    asked = (*arguments.positional, arguments.keywords.get("dtype", UNKNOWN))[0]
    written = asked.value if isinstance(asked, Static) else None
    name = asked.name.rpartition(".")[2] if isinstance(asked, External) else str(written)
    name = name.rstrip("_")  # numpy.bool_, numpy.int_
    dtype = named_dtype(External(name))
    return dtype.category if dtype is not None else None


def _string_method(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    if name == "format":
        read_template(frame, node, arguments)
        return Static("str")
    if name in ("split", "splitlines", "rsplit", "partition"):
        return Sequence("list", Static("str"))
    if name in ("startswith", "endswith", "isdigit", "isalpha"):
        return Static("bool")
    return Static("str") if name in ("lower", "upper", "strip", "replace", "join") else STATIC


def _object_method(
    frame: Frame, node: ast.Call, owner: Object, dotted: str, arguments: Arguments
) -> Value:
    name = dotted.rpartition(".")[2]
    if owner.is_optimizer and name == OPTIMIZER_STEP and frame.region is not None:
        frame.analysis.note_compiled_step(owner)
    if name in HOOKS:
        register(frame, node, owner, name, arguments)
    frame.analysis.emit(
        frame, Call, node, function=dotted, call=node, arguments=tuple(arguments.positional),
        owner=owner,
    )  # fmt: skip
    if dotted.startswith("torch.nn.Module.") and name not in HOOKS:
        return _module_method(frame, owner, name, arguments)
    if name in PREPARERS.get(owner.name, ()):
        return _prepared(arguments)
    return drawn(frame, node, dotted) if dotted in torch_facts.DRAWN_BY else UNKNOWN


def _prepared(arguments: Arguments) -> Value:
    """What a framework gives back: the modules behave as they did, of the rest nothing is known."""
    kept = [one if _is_model(one) else UNKNOWN for one in arguments.positional]
    if not arguments.exact:
        return UNKNOWN
    return kept[0] if len(kept) == 1 else Sequence("tuple", items=tuple(kept))


def _is_model(value: Value) -> bool:
    inner = value.inner if isinstance(value, Compiled) else value
    return isinstance(inner, Object) and inner.is_module


def _module_method(frame: Frame, owner: Object, name: str, arguments: Arguments) -> Value:
    if name in ("register_buffer", "register_parameter") and len(arguments.positional) > 1:
        key, value = arguments.positional[:2]
        if isinstance(key, Static) and key.known and owner.cls is not None:
            role = "buffer" if name == "register_buffer" else "parameter"
            tensor = tensor_in(value)
            known = tensor or Tensor()
            dtype = held(known.dtype)
            stored = Tensor(known.rank, dtype, None, role=role, why=f"registered {role}")
            if value is not NONE or role == "buffer":
                frame.analysis.record_attribute(
                    owner.cls, str(key.value), join((stored, NONE)) if value is NONE else stored
                )
        return NONE
    if name in ("eval", "train", "to", "cuda", "cpu", "half", "float", "requires_grad_", "apply"):
        return owner
    return UNKNOWN
