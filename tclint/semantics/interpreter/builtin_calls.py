"""Python's builtin functions on abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, Literal

from tclint import torch_facts
from tclint.semantics.events import ArrayRead, Call, TensorBranch
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.assignment import write_attribute
from tclint.semantics.interpreter.attributes import attribute_of
from tclint.semantics.interpreter.containers import with_item
from tclint.semantics.interpreter.evaluate import is_drawn, need_drawn, need_number
from tclint.semantics.interpreter.expressions import (
    host_read,
    number_read,
    read_shown,
    read_template,
)
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.given import call_given, sorting_key
from tclint.semantics.interpreter.iteration import element_of, loop_source
from tclint.semantics.interpreter.library import call_library
from tclint.semantics.interpreter.narrowing import instance_verdict
from tclint.semantics.interpreter.operators import binary, combined
from tclint.semantics.interpreter.traced import closes_over, traced
from tclint.semantics.lattice import bounded, is_static, is_tensor, join, options, tensor_in
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import (
    ANY_FIELD,
    NONE,
    STATIC,
    SYMINT,
    TRUE,
    UNKNOWN,
    BoundExternal,
    Class,
    DataScalar,
    External,
    Iteration,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
    set_by_default,
)

Builtin = Callable[[Frame, ast.Call, Arguments], Value]


def _number(kind: str) -> Builtin:
    def convert(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
        if not arguments.positional:
            return Static(kind)
        value = arguments.positional[0]
        number_read(frame, node, kind, node.args[0], value)
        if is_tensor(value):
            return DataScalar(kind)
        need_number(frame, node.args[0], value, "python")
        match value:
            case NumpyScalar(origin="drawn"):
                return Static(kind)  # the graph has broken, and the number is one of Python's
            case DataScalar() | NumpyScalar():
                return DataScalar(kind)
            case NDArray():
                frame.analysis.emit(frame, ArrayRead, node, via="number")
                return DataScalar(kind)
            case SymInt():
                return SYMINT if kind == "int" else Static(kind)
            case Static():
                if kind == "bool" and value.known:
                    return Static(kind, bool(value.value), known=True)
                return Static(kind)
        return UNKNOWN

    return convert


def _string(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if arguments.positional:
        read_shown(frame, node, node.args[0], arguments.positional[0])
    return Static("str")


def _template(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    rest = Arguments(arguments.positional[1:], arguments.keywords, arguments.exact)
    read_template(frame, node, rest)
    return Static("str")


def _range(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    source = "static"
    for place, value in enumerate(arguments.positional):
        part = node.args[min(place, len(node.args) - 1)]  # a star stands for several
        if number_read(frame, node, "range", part, value):
            source = "data"
        need_number(frame, part, value, "range")
        if isinstance(value, DataScalar):
            source = "data"
        elif isinstance(value, SymInt) and source == "static":
            source = "shape"
    return Iteration(Static("int"), source if source != "static" else "range")


def _length(frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else UNKNOWN
    match value:
        case Tensor():
            return SYMINT
        case Sequence(items=tuple() as items):
            return Static("int", len(items), known=True)
    return Static("int")


def _enumerate(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    inner = arguments.positional[0] if arguments.positional else UNKNOWN
    pair = Sequence("tuple", items=(Static("int"), element_of(inner)))
    return Iteration(pair, _passed_on(inner))


def _zip(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    known = [v.items for v in arguments.positional if isinstance(v, Sequence) and v.items]
    if known and len(known) == len(arguments.positional):
        rows = (Sequence("tuple", items=row) for row in zip(*known, strict=False))
        return bounded(Sequence("tuple", items=tuple(rows)))
    members = tuple(element_of(value) for value in arguments.positional)
    sources = {_passed_on(value) for value in arguments.positional}
    return Iteration(
        bounded(Sequence("tuple", items=members)), sources.pop() if len(sources) == 1 else "other"
    )


def _passed_on(value: Value) -> str:
    source = loop_source(value)
    return source if source in ("tensor", "shape", "data", "numpy") else "other"


def _truths(kind: Literal["any", "all"]) -> Builtin:
    def ask(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
        value = arguments.positional[0] if arguments.positional else UNKNOWN
        if is_tensor(element_of(value)):
            frame.analysis.emit(frame, TensorBranch, node, kind=kind, test=node.args[0])
        return Static("bool")

    return ask


def _extreme(kind: Literal["max", "min"]) -> Builtin:
    def pick(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
        values = arguments.positional
        if node.keywords and _is_refused(frame, node, arguments):
            frame.analysis.emit(frame, TensorBranch, node, kind=kind, test=node.args[0])
        if len(values) == 1:
            return element_of(values[0])
        if "key" in arguments.keywords:
            return join(values)
        tensors = [tensor for value in values if (tensor := tensor_in(value)) is not None]
        if tensors:
            guessed = all(tensor.assumed for tensor in tensors)
            return Tensor(assumed=guessed, why=f"builtin `{kind}` of tensors")
        if all(map(is_static, values)):
            return join(values)
        return _extreme_of_numbers(values)

    return pick


def _is_refused(frame: Frame, node: ast.Call, arguments: Arguments) -> bool:
    """True where Dynamo has no constant for something that is given: then it takes no ``key=``."""
    key = arguments.keywords.get("key", NONE)
    lazy = any(_is_lazy(frame, argument) for argument in node.args)
    seen = [*arguments.positional, *arguments.keywords.values()]
    return bool(node.args) and (
        lazy or closes_over(frame, key) or any(traced(frame, value) for value in seen)
    )


def _is_lazy(frame: Frame, node: ast.expr) -> bool:
    """True for generators, iterators of Python's and the views of a dict."""
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call):
        return False
    match frame.body.values.get(node.func, UNKNOWN):
        case External(name=name):
            return name in _ITERATORS or name.startswith("itertools.")
        case BoundExternal(owner=Mapping(), name=name):
            return name.rpartition(".")[2] in ("items", "keys", "values")
    return False


_ITERATORS: Final = frozenset(f"builtins.{name}" for name in ("enumerate", "filter", "map", "zip"))


def _round(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    value = _same(frame, node, arguments)
    if isinstance(value, NumpyScalar) and value.is_drawn:
        need_number(frame, node, value, "python")
        return Static("float" if len(node.args) > 1 else "int")
    return value


def _extreme_of_numbers(values: tuple[Value, ...]) -> Value:
    """The greatest or least of numbers, where numpy made some of them."""
    numbers = [value for value in values if isinstance(value, NumpyScalar)]
    if not numbers or not all(isinstance(v, NumpyScalar) or is_static(v) for v in values):
        return UNKNOWN
    types = {getattr(value, "type", None) for value in values}
    return combined(types.pop() if len(types) == 1 else None, numbers)


def _of_number(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """``divmod``, ``hex`` and their like: nothing of numpy's is traced by them."""
    for place, value in enumerate(arguments.positional):
        if place < len(node.args):
            need_number(frame, node.args[place], value, "range")
    return UNKNOWN


def _sum(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    given = arguments.positional[0] if arguments.positional else UNKNOWN
    member = element_of(given)
    if len(arguments.positional) == 1 and not node.keywords:
        for value in given.items or () if isinstance(given, Sequence) else (member,):
            if any(not is_static(kind) and not is_drawn(kind) for kind in options(value)):
                break  # from a tensor on, the graph adds
            need_drawn(frame, node.args[0], value, "arithmetic")
    return binary(ast.Add(), member, Static("int")) if is_tensor(member) else member


def _sorted(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    member = element_of(arguments.positional[0]) if arguments.positional else UNKNOWN
    if is_tensor(sorting_key(frame, node, member, arguments)):
        frame.analysis.emit(frame, TensorBranch, node, kind="sorted", test=node.args[0])
    if "key" not in arguments.keywords:
        need_drawn(frame, node.args[0] if node.args else node, member, "order")
    return Sequence("list", member)


def _listed(kind: str) -> Builtin:
    def make(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
        if not arguments.positional:
            return Sequence(kind, items=())
        value = arguments.positional[0]
        if isinstance(value, Sequence):
            return Sequence(kind, value.element, value.items)
        if isinstance(value, Iteration) and value.source in ("range", "shape"):
            return Sequence(f"{kind}({value.source})", value.element)
        return Sequence(kind, element_of(value))

    return make


def _dict(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    base = arguments.positional[0] if arguments.positional else Mapping()
    known = base if isinstance(base, Mapping) else _of_pairs(base)
    items = {**dict(known.items), **arguments.keywords}
    return bounded(Mapping(tuple(items.items()), known.element))


def _of_pairs(pairs: Value) -> Mapping:
    """The dict of ``dict(zip(names, values))`` and ``dict([(name, value)])``, names known."""
    made: Value = Mapping()
    for row in (pairs.items if isinstance(pairs, Sequence) else None) or ():
        if isinstance(row, Sequence) and row.items is not None and len(row.items) == 2:
            key, value = row.items
            if isinstance(key, Static) and key.known:
                made = with_item(made, key, value) or made
    return made if isinstance(made, Mapping) else Mapping()


def _from_keys(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    keys, value = (*arguments.positional, NONE, NONE)[:2]
    made: Value = Mapping()
    for key in (keys.items if isinstance(keys, Sequence) and keys.items else ()) or (UNKNOWN,):
        made = with_item(made, key, value) or made
    return made


def _isinstance(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) != 2:
        return Static("bool")
    verdict = instance_verdict(*arguments.positional)
    return Static("bool") if verdict is None else Static("bool", verdict, known=True)


def _getattr(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) < 2:
        return UNKNOWN
    base, name = arguments.positional[:2]
    if not (isinstance(name, Static) and isinstance(name.value, str)):
        return UNKNOWN
    found = attribute_of(frame, base, name.value, node)
    if len(arguments.positional) > 2:
        default = arguments.positional[2]
        flag = isinstance(found, Static) or found is UNKNOWN
        if flag and isinstance(default, Static) and default.value is False:
            return Static("bool", default=False)
        return join((found, default)) if found is not UNKNOWN else UNKNOWN
    return found


def _hasattr(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    """Known for functions of torch's: whoever asks supports a torch without them."""
    match arguments.positional:
        case (External(name=module), Static(value=str() as name)) if module.startswith("torch"):
            if torch_facts.function_returns(f"{module}.{name}") is not None:
                return TRUE
    return Static("bool")


def _constant(value: Value) -> Builtin:
    return lambda _frame, _node, _arguments: value


def _same(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    return arguments.positional[0] if arguments.positional else UNKNOWN


def _absolute(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else UNKNOWN
    if isinstance(value, NumpyScalar) and value.origin == "constant" and value.type == "float":
        # Dynamo converts a float that numpy computed of constants, and none that `abs` did.
        return NumpyScalar("float", value.from_loop, "computed", value.made)
    return value


def _map(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    function, *iterables = arguments.positional or (UNKNOWN,)
    if not iterables:
        return UNKNOWN
    members = Arguments(tuple(element_of(value) for value in iterables))
    return Iteration(call_given(frame, node, function, members, node.args[-1]))


def filtered(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """``filter(test, members)``, and those of `itertools` that are called alike."""
    if len(arguments.positional) != 2:
        return UNKNOWN
    test, members = arguments.positional
    member, source = element_of(members), node.args[-1]
    plain = test in (NONE, External("builtins.bool"))
    asked = member if plain else call_given(frame, node, test, Arguments((member,)), source)
    read_given(frame, node, source, asked)
    return Iteration(member)


def read_given(frame: Frame, node: ast.Call, source: ast.expr, asked: Value) -> None:
    """Report that what is called asks for the truth of tensors."""
    tensor = tensor_in(asked)
    if tensor is not None:
        host_read(frame, node, "given", source, tensor)


def _setattr(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) == 3:
        owner, name, value = arguments.positional
        if isinstance(name, Static) and isinstance(name.value, str):
            write_attribute(frame, node, node.args[0], owner, name.value, value)
        elif isinstance(owner, Object) and owner.fields is not None:
            write_attribute(frame, node, node.args[0], owner, ANY_FIELD, value)
    return NONE


def _execute(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """What a file executes may set its variables anew: a file of settings does."""
    call_library(frame, node, "builtins.exec", arguments)
    if frame.body.function is None:
        for name, value in frame.env.items():
            if isinstance(value, Static) and value.known:
                frame.env[name] = set_by_default(value.value)
    return NONE


def _type(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    match arguments.positional:
        case (Object(cls=ClassInfo() as cls),):
            return Class(cls)
    return STATIC


def _pow(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    pair = arguments.positional
    if any(map(is_tensor, pair)):
        name = "builtins.pow"
        frame.analysis.emit(frame, Call, node, function=name, call=node, arguments=tuple(pair))
    elif len(node.args) == len(pair):
        for part, value in zip(node.args, pair, strict=True):
            need_drawn(frame, part, value, "power")
    return binary(ast.Pow(), *pair) if len(pair) == 2 else UNKNOWN


def _next(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    return element_of(arguments.positional[0]) if arguments.positional else UNKNOWN


def _new(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    made = arguments.positional[0] if arguments.positional else UNKNOWN
    return Object(made.info.qualname, made.info) if isinstance(made, Class) else UNKNOWN


BUILTINS: Final[dict[str, Builtin]] = {
    f"builtins.{name}": function
    for name, function in {
        "float": _number("float"), "int": _number("int"), "bool": _number("bool"),
        "complex": _number("complex"), "str": _string, "repr": _string, "format": _string,
        "ascii": _string, "str.format": _template, "setattr": _setattr, "exec": _execute,
        "range": _range, "len": _length, "enumerate": _enumerate, "zip": _zip,
        "any": _truths("any"), "all": _truths("all"), "max": _extreme("max"),
        "min": _extreme("min"), "sum": _sum, "sorted": _sorted, "list": _listed("list"),
        "tuple": _listed("tuple"), "set": _listed("set"), "frozenset": _listed("frozenset"),
        "object.__new__": _new, "dict": _dict, "dict.fromkeys": _from_keys,
        "isinstance": _isinstance, "getattr": _getattr, "hasattr": _hasattr,
        "callable": _constant(Static("bool")), "abs": _absolute, "round": _round, "reversed": _same,
        "iter": _same, "map": _map, "filter": filtered, "next": _next, "pow": _pow,
        "type": _type, "id": _constant(Static("int")),
        "issubclass": _constant(Static("bool")), "divmod": _of_number, "bin": _of_number,
        "hex": _of_number, "oct": _of_number, "chr": _of_number,
    }.items()
}  # fmt: skip
