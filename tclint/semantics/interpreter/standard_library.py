"""``operator``, ``itertools``, ``functools`` and ``collections`` on abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.semantics.events import Call, TensorBranch
from tclint.semantics.interpreter import operators, versions
from tclint.semantics.interpreter.annotations import annotation_value, kept_promise
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.attributes import attribute_of
from tclint.semantics.interpreter.builtin_calls import (
    BUILTINS,
    Builtin,
    filtered,
    read_given,
)
from tclint.semantics.interpreter.evaluate import need_number
from tclint.semantics.interpreter.expressions import element_of_mapping, host_read, report_member
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.given import call_given, reduced
from tclint.semantics.interpreter.higher_order import call_higher_order
from tclint.semantics.interpreter.iteration import element_of, row_of
from tclint.semantics.interpreter.library import call_library
from tclint.semantics.interpreter.special import augment, operate
from tclint.semantics.lattice import bounded, join, present, spread, tensor_in
from tclint.semantics.values import (
    UNKNOWN,
    External,
    Iteration,
    Mapping,
    Partial,
    Sequence,
    Static,
    Tensor,
    Value,
)
from tclint.torch_facts.compiling import VERSION_PARSERS

_BINARY: Final[dict[str, ast.operator]] = {
    "add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "truediv": ast.Div(),
    "floordiv": ast.FloorDiv(), "mod": ast.Mod(), "pow": ast.Pow(), "matmul": ast.MatMult(),
    "and_": ast.BitAnd(), "or_": ast.BitOr(), "xor": ast.BitXor(), "lshift": ast.LShift(),
    "rshift": ast.RShift(), "concat": ast.Add(),
}  # fmt: skip
_COMPARISONS: Final[dict[str, ast.cmpop]] = {
    "lt": ast.Lt(), "le": ast.LtE(), "eq": ast.Eq(), "ne": ast.NotEq(), "gt": ast.Gt(),
    "ge": ast.GtE(),
}  # fmt: skip
_ALIKE: Final = ("neg", "pos", "abs", "invert", "inv")


def _binary(op: ast.operator) -> Builtin:
    def compute(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
        pair = arguments.positional
        return operate(frame, node, op, *pair) if len(pair) == 2 else UNKNOWN

    return compute


def _in_place(op: ast.operator) -> Builtin:
    def compute(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
        pair = arguments.positional
        if len(pair) != 2:
            return UNKNOWN
        return pair[0] if isinstance(pair[0], Tensor) else augment(frame, node, op, *pair)

    return compute


def _comparison(op: ast.cmpop) -> Builtin:
    def compare(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
        if len(arguments.positional) != 2:
            return UNKNOWN
        left, right = arguments.positional
        return join([operators.compare(op, a, b) for a in present(left) for b in present(right)])

    return compare


def _first(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    return arguments.positional[0] if arguments.positional else UNKNOWN


def _negation(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    tensor = tensor_in(arguments.positional[0]) if arguments.positional else None
    if tensor is not None:
        # Reported at what is asked: whoever rewrites it keeps the negation.
        asked = node.args[0]
        frame.analysis.emit(frame, TensorBranch, asked, kind="not", test=asked)
    return Static("bool")


def _index(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else UNKNOWN
    tensor = tensor_in(value)
    if tensor is not None:
        host_read(frame, node, "index", node.args[0], tensor)
    need_number(frame, node, value, "python")
    return Static("int") if tensor is not None else value


def _contains(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) == 2 and len(node.args) == 2:
        container, member = zip(node.args, arguments.positional, strict=True)
        report_member(frame, node, member, container)
    return Static("bool")


def _item(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) != 2:
        return UNKNOWN
    owner, key = arguments.positional
    return spread(lambda kind: _item_of(kind, key), owner)


def _item_of(owner: Value, key: Value) -> Value:
    place = key.value if isinstance(key, Static) and key.known else None
    if isinstance(owner, Tensor):
        return row_of(owner) if isinstance(place, int) else Tensor(assumed=owner.assumed)
    if isinstance(owner, Mapping):
        return owner.get(place) if place is not None else element_of_mapping(owner)
    if isinstance(owner, Sequence):
        items = owner.items or ()
        inside = isinstance(place, int) and -len(items) <= place < len(items)
        return items[place] if inside and isinstance(place, int) else operators.elements(owner)
    return UNKNOWN


def _getter(name: str) -> Builtin:
    """``operator.itemgetter(0)``: a function that is called with what it works on."""

    def make(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
        made = External(f"operator.{name}()")
        return Partial(made, arguments.positional, tuple(arguments.keywords.items()))

    return make


def _get_items(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    *keys, owner = arguments.positional or (UNKNOWN,)
    found = [_item(frame, node, Arguments((owner, key))) for key in keys]
    return found[0] if len(found) == 1 else Sequence("tuple", items=tuple(found))


def _get_attributes(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    *names, owner = arguments.positional or (UNKNOWN,)
    found = [_attribute(frame, node, owner, name) for name in names]
    return found[0] if len(found) == 1 else Sequence("tuple", items=tuple(found))


def _attribute(frame: Frame, node: ast.Call, owner: Value, path: Value) -> Value:
    if not (isinstance(path, Static) and isinstance(path.value, str)):
        return UNKNOWN
    for name in path.value.split("."):
        owner = attribute_of(frame, owner, name, node)
    return owner


def _call_method(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) < 2:
        return UNKNOWN
    name, *given, owner = arguments.positional
    method = _attribute(frame, node, owner, name)
    passed = Arguments(tuple(given), arguments.keywords, arguments.exact)
    return call_given(frame, node, method, passed, node.args[-1] if node.args else node)


def _partial(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    call_library(frame, node, "functools.partial", arguments)
    call_higher_order(frame, node, "functools.partial", arguments)
    if not arguments.positional or not arguments.exact:
        return UNKNOWN
    function, *given = arguments.positional
    return Partial(function, tuple(given), tuple(arguments.keywords.items()))


def _cast(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """``typing.cast`` gives what it was given: the type is a promise, and nothing converts."""
    given = [*arguments.positional, *arguments.keywords.values()]
    function = frame.body.function
    if len(given) != 2 or not node.args or function is None:
        return UNKNOWN
    return kept_promise(given[1], annotation_value(frame.analysis, function, node.args[0]))


def _chain(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    return Iteration(join([element_of(value) for value in arguments.positional]))


def _flattened(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    return (
        Iteration(element_of(element_of(arguments.positional[0])))
        if arguments.positional
        else UNKNOWN
    )


def _product(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    members = tuple(element_of(value) for value in arguments.positional)
    return Iteration(bounded(Sequence("tuple", items=members)))


def _groups(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    member = element_of(arguments.positional[0]) if arguments.positional else UNKNOWN
    return Iteration(Sequence("tuple", member))


def _accumulate(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if not arguments.positional:
        return UNKNOWN
    member = element_of(arguments.positional[0])
    function = (*arguments.positional, External("operator.add"))[1]
    function = arguments.keywords.get("func", function)
    return Iteration(join([member, reduced(frame, node, function, member, member)]))


def _compress(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) != 2:
        return UNKNOWN
    members, selectors = arguments.positional
    read_given(frame, node, node.args[-1], element_of(selectors))
    return Iteration(element_of(members))


def _grouped(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if not arguments.positional:
        return UNKNOWN
    frame.analysis.emit(frame, Call, node, function="itertools.groupby", call=node)
    member = element_of(arguments.positional[0])
    function = (*arguments.positional, *arguments.keywords.values(), None)[1]
    source = node.args[0] if node.args else node
    key = member
    if function is not None:
        key = call_given(frame, node, function, Arguments((member,)), source)
    read_given(frame, node, source, key)
    return Iteration(Sequence("tuple", items=(key, Iteration(member))))


def _tee(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    member = element_of(arguments.positional[0]) if arguments.positional else UNKNOWN
    return Sequence("tuple", Iteration(member))


def _default_dict(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """A dict with what its factory makes for the keys that nobody stored."""
    factory, *rest = arguments.positional or (UNKNOWN,)
    filled = BUILTINS["builtins.dict"](frame, node, Arguments(tuple(rest), arguments.keywords))
    if factory is UNKNOWN or not isinstance(filled, Mapping):
        return filled
    made = call_given(frame, node, factory, Arguments(), node)
    return Mapping(filled.items, made)


def _chain_map(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    maps = [one for one in arguments.positional if isinstance(one, Mapping)]
    items: dict[object, Value] = {}
    for one in reversed(maps):
        items.update(one.items)
    closed = len(maps) == len(arguments.positional)
    return Mapping(tuple(items.items()), UNKNOWN) if closed else UNKNOWN


def _part(place: int) -> Builtin:
    def draw(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
        given = arguments.positional[place : place + 1]
        return Iteration(element_of(given[0])) if given else UNKNOWN

    return draw


def _repeat(_frame: Frame, _node: ast.Call, arguments: Arguments) -> Value:
    return Iteration(arguments.positional[0]) if arguments.positional else UNKNOWN


def _starmap(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) != 2:
        return UNKNOWN
    function, rows = arguments.positional
    row = element_of(rows)
    items = row.items if isinstance(row, Sequence) else None
    given = Arguments(items) if items is not None else Arguments(exact=False)
    return Iteration(call_given(frame, node, function, given, node.args[-1]))


_OPERATOR: Final[dict[str, Builtin]] = {
    **{name: _binary(op) for name, op in _BINARY.items()},
    **{f"i{name.rstrip('_')}": _in_place(op) for name, op in _BINARY.items()},
    **{name: _comparison(op) for name, op in _COMPARISONS.items()},
    **dict.fromkeys(_ALIKE, _first),
    "truth": BUILTINS["builtins.bool"], "not_": _negation, "index": _index,
    "contains": _contains, "getitem": _item,
    "itemgetter": _getter("itemgetter"), "attrgetter": _getter("attrgetter"),
    "methodcaller": _getter("methodcaller"),
    "itemgetter()": _get_items, "attrgetter()": _get_attributes, "methodcaller()": _call_method,
}  # fmt: skip
_ITERTOOLS: Final[dict[str, Builtin]] = {
    "chain": _chain, "chain.from_iterable": _flattened, "product": _product,
    "zip_longest": _product, "combinations": _groups, "permutations": _groups,
    "pairwise": _groups, "islice": _part(0), "cycle": _part(0), "takewhile": filtered,
    "dropwhile": filtered, "filterfalse": filtered, "repeat": _repeat, "starmap": _starmap,
    "accumulate": _accumulate, "compress": _compress, "groupby": _grouped, "tee": _tee,
}  # fmt: skip
_COLLECTIONS: Final[dict[str, Callable[..., Value]]] = {
    "deque": BUILTINS["builtins.list"], "OrderedDict": BUILTINS["builtins.dict"],
    "defaultdict": _default_dict, "ChainMap": _chain_map,
}  # fmt: skip
STANDARD: Final[dict[str, Builtin]] = {
    **{f"operator.{name}": function for name, function in _OPERATOR.items()},
    **{f"itertools.{name}": function for name, function in _ITERTOOLS.items()},
    **{f"collections.{name}": function for name, function in _COLLECTIONS.items()},
    **dict.fromkeys(VERSION_PARSERS, versions.parsed),
    "functools.partial": _partial,
    "typing.cast": _cast,
    "typing_extensions.cast": _cast,
}
