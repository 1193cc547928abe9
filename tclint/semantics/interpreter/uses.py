"""What a function does with its parameters, as far as that tells what they are.

``x["key"]`` fails for a tensor, ``x[:, 0]`` for everything else; nobody passes one there on purpose
without annotating it. What is taken out of a parameter is followed: its members, the values of its
keys, and variables that stand for them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Final

from tclint import torch_facts
from tclint.semantics.bounds import Bound
from tclint.semantics.symbols import FunctionNode
from tclint.semantics.syntax import (
    ATTRIBUTE,
    CALL,
    CONSTANT,
    NAME,
    SLICE,
    STARRED,
    SUBSCRIPT,
    add_children,
    nodes,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis


class Sign(Enum):
    """What a use says of a value."""

    TENSOR = "a tensor"
    MAPPING = "a dict"
    SEQUENCE = "a list or tuple"
    TEXT = "a string"
    NUMBER = "a number"
    BOUND = "the bound of a slice"
    OTHER = "an object with attributes that tensors lack"
    ASKED = "one of several types"
    PRINTED = "a part of a text"
    LISTED = "the members of a list"


AGAINST: Final = frozenset({Sign.MAPPING, Sign.SEQUENCE, Sign.TEXT, Sign.NUMBER, Sign.OTHER})
NEITHER: Final = frozenset({Sign.ASKED, Sign.PRINTED, Sign.LISTED})
LEVELS: Final = Bound(8, "dicts in dicts are followed from call to call", hides=False)
"""Below, nothing is learned of what a parameter holds."""


class Use:
    """What the uses of one value say.

    ``keys`` are those of the values of its keys, ``member`` is that of any of its members, and
    ``parts`` are those of the variables that it is taken apart into.
    """

    __slots__ = ("keys", "member", "parts", "signs")

    def __init__(self) -> None:
        self.signs: Final[set[Sign]] = set()
        self.keys: Final[dict[str, Use]] = {}
        self.member: Use | None = None
        self.parts: Final[dict[int, Use]] = {}

    def of_key(self, name: str) -> Use:
        """The use of the value of a key."""
        return self.keys.setdefault(name, Use())

    def of_member(self) -> Use:
        """The use of any member."""
        if self.member is None:
            self.member = Use()
        return self.member

    def of_part(self, place: int) -> Use:
        """The use of a variable that one of the members is unpacked to."""
        return self.parts.setdefault(place, Use())

    def add(self, other: Use, depth: int = 0) -> None:
        """Learn what another function does with the same value."""
        if other is self:
            return
        if depth == LEVELS.most:
            LEVELS.cut()
            return
        self.signs.update(other.signs)
        for name, use in [*other.keys.items()]:
            self.of_key(name).add(use, depth + 1)
        for place, use in [*other.parts.items()]:
            self.of_part(place).add(use, depth + 1)
        if other.member is not None:
            self.of_member().add(other.member, depth + 1)

    def speaks_against(self) -> bool:
        """True where something says that this is no tensor."""
        below = [*self.parts.values(), *filter(None, (self.member,))]
        return not AGAINST.isdisjoint(self.signs) or any(use.speaks_against() for use in below)


class Uses:
    """What a function does with its parameters.

    ``passed`` are the arguments of calls that a parameter, or something out of it, is. ``masks``
    are boolean: what `torch.where` and `masked_fill` are told by, and ``x[~m]``.
    """

    def __init__(self, node: FunctionNode) -> None:
        self.parameters: Final = {name: Use() for name in _names_of(node)}
        self.passed: Final[list[tuple[ast.expr, int | str, Use]]] = []
        self.followed = False
        self._bound: Final[dict[str, list[tuple[ast.expr | None, _Step]]]] = {}
        self._until: Final[dict[str, _Place]] = {}
        self._known: Final[dict[str, Use | None]] = {}
        found = _own_nodes(node)
        self._note_bindings(found, _passed_on(found, _dicts_of(node)))
        masks: set[str] = set()
        for inner in found:
            tell = _TELLING.get(type(inner))
            if tell is not None:
                for part, sign in tell(inner):
                    if sign is not Sign.NUMBER or not self._is_of_module(inner):
                        self._note(part, sign)
            if isinstance(inner, CALL):
                self._note_passed(inner)
            elif isinstance(inner, SUBSCRIPT):
                self.use(inner)  # for its key
            masks.update(part.id for part in _as_mask(inner) if isinstance(part, NAME))
        # what is bound anew was another kind
        self.masks: Final = frozenset(masks - self._bound.keys())

    def _is_of_module(self, node: ast.AST) -> bool:
        """True for ``itertools.repeat(x, 2)``: called like a method, and the first is no size."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
                own = owner in self.parameters or owner in self._bound
                return name in _SIZED_METHODS and not own
        return False

    def _note(self, part: ast.expr, sign: Sign) -> None:
        use = self.use(part)
        if use is not None:
            use.signs.add(sign)

    def _note_passed(self, call: ast.Call) -> None:
        if not isinstance(call.func, (NAME, ATTRIBUTE)):
            return
        for place, argument in enumerate(call.args):
            if isinstance(argument, STARRED):
                break
            self._note_argument(call, place, argument)
        for keyword in call.keywords:
            if keyword.arg is not None:
                self._note_argument(call, keyword.arg, keyword.value)

    def _note_argument(self, call: ast.Call, place: int | str, argument: ast.expr) -> None:
        use = self.use(argument) if isinstance(argument, (NAME, SUBSCRIPT)) else None
        if use is not None:
            self.passed.append((call.func, place, use))

    def _note_bindings(self, found: list[ast.AST], same: set[ast.AST]) -> None:
        late: dict[ast.AST, _Place] = {}
        for target, value, step in _new_bindings(found, same):
            end = (value.end_lineno or 0, value.end_col_offset or 0)
            for name in nodes(target):
                if isinstance(name, NAME) and name not in late:
                    late[name] = end
            if isinstance(target, NAME):
                self._bound.setdefault(target.id, []).append((value, step))
            elif isinstance(target, ast.Tuple):
                for part_of, part in enumerate(target.elts):
                    if isinstance(part, NAME):
                        self._bound.setdefault(part.id, []).append((value, (*step, part_of)))
        told = set(late)
        for node in found:
            if isinstance(node, NAME) and not isinstance(node.ctx, ast.Load) and node not in same:
                place = late.get(node, (node.lineno, node.col_offset))
                self._until[node.id] = min(place, self._until.get(node.id, place))
                if node not in told:
                    self._bound.setdefault(node.id, []).append((None, ()))

    def use(self, node: ast.expr) -> Use | None:
        """The use of what an expression stands for; None where that is no part of a parameter."""
        if isinstance(node, NAME):
            return self._use_of_name(node)
        if isinstance(node, SUBSCRIPT):
            step = _step(node.slice)
            owner = None if step is None else self.use(node.value)
            return None if owner is None or step is None else _follow(owner, step)
        match node:
            case ast.Call(
                func=ast.Attribute(value=value, attr="get" | "pop"),
                args=[ast.Constant(value=str() as key), *_],
            ):
                owner = self.use(value)
                return None if owner is None else owner.of_key(key)
        return None

    def _use_of_name(self, node: ast.Name) -> Use | None:
        own = self.parameters.get(node.id)
        if own is not None:
            until = self._until.get(node.id)
            return own if until is None or (node.lineno, node.col_offset) < until else None
        if node.id not in self._known:
            self._known[node.id] = None  # while it is looked for: it may be bound to itself
            self._known[node.id] = self._use_of_variable(node.id)
        return self._known[node.id]

    def _use_of_variable(self, name: str) -> Use | None:
        known: Use | None = None
        for value, step in self._bound.get(name, ()):
            use = None if value is None else self.use(value)
            use = None if use is None else _follow(use, step)
            if use is None or (known is not None and use is not known):
                return None
            known = use
        return known


def _new_bindings(
    found: list[ast.AST], same: set[ast.AST]
) -> Iterator[tuple[ast.expr, ast.expr, _Step]]:
    for node in found:
        for target, value, step in _bindings(node):
            if target not in same:
                yield target, value, step


def _passed_on(found: list[ast.AST], dicts: frozenset[str]) -> set[ast.AST]:
    """Where ``batch = prepare(batch)`` binds one of the dicts anew: it is the same, or alike."""
    if not dicts:
        return set()
    return {
        target
        for node in found
        for target, value, _ in _bindings(node)
        if isinstance(target, NAME) and target.id in dicts and _takes(value, target.id)
    }


def _dicts_of(node: FunctionNode) -> frozenset[str]:
    """The parameters that are said to be dicts."""
    arguments = node.args
    given = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return frozenset([one.arg for one in given if _is_dict(one.annotation)])


def _is_dict(annotation: ast.expr | None) -> bool:
    if not isinstance(annotation, SUBSCRIPT):
        return False
    base = annotation.value
    name = base.attr if isinstance(base, ATTRIBUTE) else getattr(base, "id", "")
    return name in ("dict", "Dict", "Mapping", "MutableMapping")


def _takes(value: ast.expr, name: str) -> bool:
    """True for a call that is handed a variable."""
    return isinstance(value, CALL) and any(
        isinstance(argument, NAME) and argument.id == name for argument in value.args
    )


_Place = tuple[int, int]
_Step = tuple[str | int | None, ...]
_MEMBER: Final = None
"""The step to any member: the others are keys, and places of variables."""
_Told = Iterator[tuple[ast.expr, Sign]]


def uses_of(analysis: Analysis, node: FunctionNode) -> Uses:
    """How the body uses the parameters."""
    known = analysis.uses.get(node)
    if known is None:
        known = analysis.uses[node] = Uses(node)
    return known


def signs_of(node: FunctionNode, name: str) -> Iterator[tuple[str, bool | None, ast.AST]]:
    """The places that tell what a parameter is by how they use it.

    Each with what it is used as, and whether that speaks for a tensor; None where for neither.
    """
    uses = Uses(node)
    for inner in _own_nodes(node):
        tell = _TELLING.get(type(inner))
        for part, sign in tell(inner) if tell is not None else ():
            if uses.use(part) is uses.parameters[name]:
                yield sign.value, None if sign in NEITHER else sign is Sign.TENSOR, inner
        if any(isinstance(part, NAME) and part.id == name for part in _as_mask(inner)):
            yield "a mask", True, inner


def _follow(use: Use, step: _Step) -> Use:
    for one in step:
        if one is _MEMBER:
            use = use.of_member()
        else:
            use = use.of_part(one) if isinstance(one, int) else use.of_key(one)
    return use


def _step(index: ast.expr) -> _Step | None:
    """What a subscript takes out; a slice of a list is one, as that of a tensor."""
    if isinstance(index, CONSTANT):
        if isinstance(index.value, str):
            return (index.value,)
        return (_MEMBER,) if type(index.value) is int else None
    if isinstance(index, SLICE):
        return ()
    return (_MEMBER,) if isinstance(index, (NAME, ast.UnaryOp, ast.BinOp)) else None


def _names_of(node: FunctionNode) -> Iterator[str]:
    spec = node.args
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        yield argument.arg
    if spec.kwarg is not None:
        yield spec.kwarg.arg


_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _own_nodes(node: FunctionNode) -> list[ast.AST]:
    """The nodes of a function, without inner ones that have parameters of the same name."""
    names = {*_names_of(node)}
    body = node.body if isinstance(node.body, list) else [node.body]
    found: list[ast.AST] = [*body]
    for part in found:  # grows while it is walked
        if not isinstance(part, _FUNCTIONS) or names.isdisjoint(_names_of(part)):
            add_children(part, found)
    return found


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, _Step]]:
    """What a node binds: the target, what it is taken out of, and how."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(value, ast.Tuple) and isinstance(target, ast.Tuple):
                    yield from zip(target.elts, value.elts, [()] * len(value.elts), strict=False)
                else:
                    yield target, value, ()
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value, ()
        case ast.For(target=target, iter=given) | ast.comprehension(target=target, iter=given):
            yield from _loop(target, given)


def _loop(target: ast.expr, given: ast.expr) -> Iterator[tuple[ast.expr, ast.expr, _Step]]:
    """What a loop binds; ``enumerate``, ``zip`` and ``items`` hand the members on."""
    match given, target:
        case (
            ast.Call(func=ast.Name(id="enumerate"), args=[source, *_]),
            ast.Tuple(elts=[_, member]),
        ):
            yield from _loop(member, source)
        case ast.Call(func=ast.Name(id="zip"), args=sources), ast.Tuple(elts=members):
            for member, source in zip(members, sources, strict=False):
                yield from _loop(member, source)
        case ast.Call(func=ast.Attribute(value=owner, attr="items")), ast.Tuple(elts=[_, member]):
            yield member, owner, (_MEMBER,)
        case ast.Call(func=ast.Attribute(value=owner, attr="values")), _:
            yield target, owner, (_MEMBER,)
        case _:
            yield target, given, (_MEMBER,)


def _in_subscript(node: ast.Subscript) -> _Told:
    index = node.slice
    if isinstance(node.value, ATTRIBUTE) and node.value.attr == "shape":
        yield index, Sign.NUMBER
    if isinstance(index, CONSTANT) and isinstance(index.value, str):
        yield node.value, Sign.MAPPING
    elif isinstance(index, ast.Tuple) and any(map(_is_of_array, index.elts)):
        yield node.value, Sign.TENSOR
    elif isinstance(index, SLICE):
        for bound in (index.lower, index.upper):
            for part in _terms(bound) if bound is not None else ():
                yield part, Sign.BOUND


def _is_of_array(index: ast.expr) -> bool:
    """True for an index that no list or dict takes."""
    return isinstance(index, SLICE) or (isinstance(index, CONSTANT) and index.value in (None, ...))


def _terms(node: ast.expr) -> list[ast.expr]:
    """The operands of arithmetic."""
    if isinstance(node, ast.BinOp):
        return [*_terms(node.left), *_terms(node.right)]
    return _terms(node.operand) if isinstance(node, ast.UnaryOp) else [node]


def _in_compare(node: ast.Compare) -> _Told:
    left: ast.expr = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, (ast.In, ast.NotIn)):
            if _is_text(left):
                yield right, Sign.MAPPING
            elif _are_texts(right):
                yield left, Sign.TEXT
        elif isinstance(op, (ast.Eq, ast.NotEq)):
            if _is_text(right):
                yield left, Sign.TEXT
            if _is_text(left):
                yield right, Sign.TEXT
        left = right


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, CONSTANT) and isinstance(node.value, str)


def _are_texts(node: ast.expr) -> bool:
    several = isinstance(node, (ast.Tuple, ast.List, ast.Set)) and node.elts
    return bool(several) and all(map(_is_text, several or ()))


def _in_attribute(node: ast.Attribute) -> _Told:
    sign = _SIGN_OF_MEMBER.get(node.attr)
    if sign is None and not torch_facts.is_tensor_member(node.attr):
        sign = None if node.attr in _OF_OTHERS else Sign.OTHER
    elif sign is None and node.attr not in _OF_OTHERS:
        sign = Sign.TENSOR
    if sign is not None:
        yield node.value, sign


def _only_of(kind: type, *others: type) -> frozenset[str]:
    """The methods of a type that neither tensors nor the others have."""
    shared = {name for other in (object, *others) for name in dir(other)}
    own = (name for name in dir(kind) if name not in shared)
    return frozenset(name for name in own if not torch_facts.is_tensor_member(name))


_SIGN_OF_MEMBER: Final = {
    **dict.fromkeys(_only_of(dict, list, str, set), Sign.MAPPING),
    **dict.fromkeys(_only_of(list, dict, str, set), Sign.SEQUENCE),
    **dict.fromkeys(_only_of(str, dict, list, bytes), Sign.TEXT),
    **dict.fromkeys(("startswith", "endswith", "lower", "upper", "strip"), Sign.TEXT),
}
_OF_PYTHON: Final = frozenset(
    name for kind in (dict, list, str, set, int, float, bytes) for name in dir(kind)
)
_OF_OTHERS: Final = _OF_PYTHON | {"type", "name", "storage"}


def _in_call(node: ast.Call) -> _Told:
    for keyword in node.keywords:
        if keyword.arg is None:
            yield keyword.value, Sign.MAPPING
        elif keyword.arg in _SIZES_BY_NAME:
            yield from _sizes([keyword.value])
    func = node.func
    if isinstance(func, NAME):
        yield from _in_call_of_name(node, func.id)
    elif isinstance(func, ATTRIBUTE) and func.attr == "format" and _is_text(func.value):
        yield from ((argument, Sign.PRINTED) for argument in node.args)
    elif isinstance(func, ATTRIBUTE):
        yield from _in_call_of_attribute(node, func)


_SIZES_BY_NAME: Final = frozenset({"size", "dim", "num_classes", "output_size", "scale_factor"})


def _in_call_of_name(node: ast.Call, name: str) -> _Told:
    if name == "range":
        for argument in node.args:
            yield argument, Sign.NUMBER
    elif name in ("isinstance", "hasattr") and node.args:
        yield node.args[0], Sign.ASKED
    elif name in ("list", "tuple") and node.args:
        yield node.args[0], Sign.LISTED
    elif name == "open" and node.args:
        yield node.args[0], Sign.TEXT
    elif name == "str" and node.args:
        yield node.args[0], Sign.PRINTED


def _in_call_of_attribute(node: ast.Call, func: ast.Attribute) -> _Told:
    owner, name = func.value, func.attr
    of_torch = isinstance(owner, NAME) and owner.id in ("torch", "F")
    if name in _SIZED_METHODS and not of_torch:
        yield from _sizes(node.args)
    elif name in _SIZED_FUNCTIONS and isinstance(owner, NAME):
        yield from _sizes(node.args if name != "full" else node.args[:1])
    elif name in ("get", "pop") and len(node.args) == 2:
        sign = _SIGN_OF_DEFAULT.get(type(getattr(node.args[1], "value", None)))
        if sign is not None:
            yield node, sign
    elif name in _JOINING and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
        for part in node.args[0].elts:
            yield part, Sign.TENSOR
    elif isinstance(owner, ATTRIBUTE) and isinstance(owner.value, NAME):
        if owner.value.id == "os" and owner.attr == "path":
            for argument in node.args:
                yield argument, Sign.TEXT
    elif of_torch and node.args:
        yield from ((part, Sign.TENSOR) for part in node.args[: torch_facts.is_tensor_member(name)])


_SIZED_METHODS: Final = frozenset(
    {"view", "reshape", "expand", "repeat", "new_zeros", "new_ones", "new_empty", "resize_"}
)
_SIZED_FUNCTIONS: Final = frozenset(
    {"zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "randperm"}
)
_SIGN_OF_DEFAULT: Final[dict[type, Sign]] = {
    bool: Sign.NUMBER, int: Sign.NUMBER, float: Sign.NUMBER, str: Sign.TEXT,
}  # fmt: skip
_JOINING: Final = frozenset({"cat", "stack", "concat", "hstack", "vstack"})


def _sizes(given: list[ast.expr]) -> _Told:
    for argument in given:
        several = argument.elts if isinstance(argument, (ast.Tuple, ast.List)) else [argument]
        for size in several:
            for part in _terms(size):
                yield part, Sign.NUMBER


def _in_assign(node: ast.Assign) -> _Told:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(
                func=ast.Name(id="int" | "float" | "bool"), args=[ast.Name(id=given) as part]
            ),
        ) if name == given:
            yield part, Sign.NUMBER


def _in_operation(node: ast.BinOp) -> _Told:
    if isinstance(node.op, ast.MatMult):
        yield node.left, Sign.TENSOR
        yield node.right, Sign.TENSOR


def _in_text(node: ast.FormattedValue) -> _Told:
    yield node.value, Sign.PRINTED


_TELLING: Final[dict[type, Callable[..., _Told]]] = {
    ast.Subscript: _in_subscript,
    ast.Compare: _in_compare,
    ast.Attribute: _in_attribute,
    ast.Call: _in_call,
    ast.Assign: _in_assign,
    ast.BinOp: _in_operation,
    ast.FormattedValue: _in_text,
}

_MASKED: Final = frozenset(
    {"masked_fill", "masked_fill_", "masked_select", "masked_scatter", "masked_scatter_"}
)


def _as_mask(node: ast.AST) -> list[ast.expr | None]:
    match node:
        case ast.Call(func=ast.Attribute(attr="where"), args=[test, _, *_]):
            return [test, _inverted(test)]
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _MASKED:
            of_torch = isinstance(owner, NAME) and owner.id == "torch"
            told = args[1:2] if of_torch else args[:1]
            return [*told, *map(_inverted, told)]
        case ast.Subscript(slice=index):
            return [_inverted(index)]
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            pairs = ((left, right), (right, left))
            return [one for one, other in pairs if isinstance(other, ast.Compare)]
    return []


def _inverted(node: ast.expr) -> ast.expr | None:
    inverts = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    return node.operand if isinstance(node, ast.UnaryOp) and inverts else None
