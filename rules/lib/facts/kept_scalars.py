"""Tensors of one integer that a module's ``__init__`` makes of Python numbers and keeps.

``self.stride = nn.Buffer(torch.tensor(self.conv.stride[0]), persistent=False)`` is a number in
disguise: here is of what numbers such attributes are made.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import field
from typing import Final

from tclint.records import record
from tclint.semantics.collect import dotted_name
from tclint.semantics.symbols import ClassInfo, ModuleInfo
from tclint.semantics.syntax import nodes

MAKES: Final = frozenset({"torch.tensor", "torch.as_tensor"})
_INTEGERS: Final = frozenset({"torch.int64", "torch.long", "torch.int32", "torch.int"})
_BUFFERS: Final = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})
_COUNTING: Final = frozenset({"len", "int", "math.ceil", "math.floor", "math.gcd"})
_CHOOSING: Final = frozenset({"max", "min", "abs"})
_OF_LAYERS: Final = frozenset("kernel_size stride dilation padding output_padding".split())
_SIZES: Final = frozenset(
    "in_channels out_channels groups in_features out_features num_features embedding_dim "
    "num_embeddings".split()
)
_EXACT: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


@record(frozen=True)
class Made:
    """A variable or an attribute that ``__init__`` gives such a tensor.

    ``number`` is the number in Python, with the numbers of other such tensors by their names, and
    ``given`` what `torch.tensor` gets here. ``formula`` is the number by what ``self`` and the
    parameters hold; ``unsure`` are parts of it that may be no integers.
    """

    name: str
    statement: ast.stmt
    number: ast.expr
    given: ast.expr | None
    formula: ast.expr
    unsure: tuple[ast.expr, ...] = ()
    persistent: bool = False


@record()
class Kept:
    """What ``__init__`` makes: attributes, the variables behind them, and how numbers are named."""

    own: str
    suffix: str
    attributes: dict[str, Made] = field(default_factory=dict)
    variables: list[Made] = field(default_factory=list)

    @property
    def all(self) -> list[Made]:
        """The attributes, then the variables."""
        return [*self.attributes.values(), *self.variables]


@record()
class _Walk:
    """The variables of ``__init__`` so far: numbers with their formulas, tensors of one integer."""

    module: ModuleInfo
    kept: Kept
    numbers: dict[str, ast.expr]
    unsure: dict[str, bool]
    tensors: dict[str, ast.expr] = field(default_factory=dict)


@record(frozen=True)
class _Number:
    shown: ast.expr
    formula: ast.expr
    is_tensor: bool = False
    given: ast.expr | None = None
    unsure: tuple[ast.expr, ...] = ()


def kept_scalars(cls: ClassInfo) -> Kept | None:
    """What the ``__init__`` of a class keeps of this kind; None where it has none of its own."""
    init = cls.methods.get("__init__")
    if init is None or isinstance(init.node, ast.Lambda) or not init.node.args.args:
        return None
    arguments = [*init.node.args.args[1:], *init.node.args.kwonlyargs, *init.node.args.posonlyargs]
    annotated = {one.arg: one.annotation for one in arguments}
    numbers = {
        name: ast.Name(name)
        for name, annotation in annotated.items()
        if annotation is None or (isinstance(annotation, ast.Name) and annotation.id == "int")
    }
    unsure = {name: annotated[name] is None for name in numbers}
    kept = Kept(init.node.args.args[0].arg, _suffix(cls, init.node))
    walk = _Walk(cls.module, kept, dict(numbers), unsure)
    for statement in init.node.body:
        _see(walk, statement)
    return kept if kept.attributes else None


def _suffix(cls: ClassInfo, init: ast.AST) -> str:
    """What makes the name of a number of that of a tensor, so that the file has no such names."""
    inside = nodes(init)
    names = {node.id for node in inside if isinstance(node, ast.Name)}
    names |= {node.attr for node in inside if isinstance(node, ast.Attribute)}
    suffix = "_int"
    while any(f"{name}{suffix}" in cls.module.file.text for name in names):
        suffix += "_"
    return suffix


def _see(walk: _Walk, statement: ast.stmt) -> None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            _bind(walk, statement, name, value)
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=own), attr=name)], value=value
        ) if own == walk.kept.own:
            _keep(walk, statement, name, *_buffer(walk, value))
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=own), attr="register_buffer"),
                args=[ast.Constant(value=str() as name), value, *more],
                keywords=keywords,
            )
        ) if own == walk.kept.own:
            given = more or [one.value for one in keywords if one.arg == "persistent"]
            _keep(walk, statement, name, value, not given or not _is_false(given[0]))
        case _:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    walk.tensors.pop(node.id, None)
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    walk.numbers.pop(node.id, None)


def _bind(walk: _Walk, statement: ast.stmt, name: str, value: ast.expr) -> None:
    """A variable gets a value."""
    found = _number(walk, value)
    walk.tensors.pop(name, None)
    walk.numbers.pop(name, None)
    if found is None:
        return
    if not found.is_tensor:
        walk.numbers[name], walk.unsure[name] = found.formula, bool(found.unsure)
        return
    walk.tensors[name] = found.formula
    walk.kept.variables.append(
        Made(name, statement, found.shown, found.given, found.formula, found.unsure)
    )


def _keep(walk: _Walk, statement: ast.stmt, name: str, value: ast.expr, persistent: bool) -> None:
    found = _number(walk, value)
    if found is not None and found.is_tensor:
        walk.kept.attributes[name] = Made(
            name, statement, found.shown, found.given, found.formula, found.unsure, persistent
        )


def _buffer(walk: _Walk, value: ast.expr) -> tuple[ast.expr, bool]:
    """The tensor of ``nn.Buffer(tensor)``, and whether it is in the state dict."""
    match value:
        case ast.Call(func=function, args=[tensor, *more], keywords=keywords) if (
            dotted_name(walk.module, function) in _BUFFERS
        ):
            given = more or [one.value for one in keywords if one.arg == "persistent"]
            return tensor, not given or not _is_false(given[0])
    return value, False


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _number(walk: _Walk, node: ast.expr) -> _Number | None:
    """The number behind an expression that is one, or a tensor of one; None for any other."""
    match node:
        case ast.Name(id=name) if name in walk.tensors:
            return _Number(ast.Name(name + walk.kept.suffix), walk.tensors[name], is_tensor=True)
        case ast.Attribute(value=ast.Name(id=own), attr=name) if (
            own == walk.kept.own and name in walk.kept.attributes
        ):
            shown = ast.Attribute(ast.Name(own), name + walk.kept.suffix)
            return _Number(shown, walk.kept.attributes[name].formula, is_tensor=True)
        case ast.Call(func=function, args=[given]) if dotted_name(walk.module, function) in MAKES:
            return _made(walk, node, given)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _EXACT):
            sides = [_number(walk, side) for side in (left, right)]
            one, other = sides
            if one is None or other is None:
                return None
            return _Number(
                ast.BinOp(one.shown, op, other.shown),
                ast.BinOp(one.formula, op, other.formula),
                is_tensor=one.is_tensor or other.is_tensor,
                unsure=(*one.unsure, *other.unsure),
            )
    return _plain(walk, node)


def _made(walk: _Walk, call: ast.Call, given: ast.expr) -> _Number | None:
    """The number that `torch.tensor` makes a tensor of."""
    keywords = {one.arg: one.value for one in call.keywords}
    found = _number(walk, given)
    if found is None or found.is_tensor or not keywords.keys() <= {"dtype", "device"}:
        return None
    dtype = keywords.get("dtype")
    if dtype is not None and dotted_name(walk.module, dtype) not in _INTEGERS:
        return None
    if dtype is None and found.unsure:
        return None
    return _Number(found.shown, found.formula, True, given, found.unsure)


def _plain(walk: _Walk, node: ast.expr) -> _Number | None:
    """A number of Python, as far as the syntax tells."""
    formula = _expanded(walk, node)
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int()):
            return _Number(node, formula)
        case ast.Name(id=name) if name in walk.numbers:
            return _Number(node, formula, unsure=(node,) if walk.unsure.get(name) else ())
        case ast.Subscript(value=ast.Attribute(attr=attr), slice=ast.Constant(value=int())):
            sure = attr in _OF_LAYERS or attr == "shape"
            return _Number(node, formula, unsure=() if sure else (node,))
        case ast.Attribute(attr=attr) if attr in _SIZES:
            return _Number(node, formula)
        case ast.Attribute(value=ast.Name() | ast.Attribute(), attr=attr) if (
            attr not in _OF_LAYERS and attr != "shape"
        ):
            return _Number(node, formula, unsure=(node,))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(walk, operand)
            plain = inner is not None and not inner.is_tensor
            return _Number(node, formula, unsure=inner.unsure) if plain and inner else None
        case ast.Call(func=function, args=args, keywords=[]) if args:
            return _called(walk, node, dotted_name(walk.module, function) or "", formula)
    return None


def _called(walk: _Walk, call: ast.Call, name: str, formula: ast.expr) -> _Number | None:
    inside = [part for argument in call.args for part in nodes(argument)]
    simple = not any(isinstance(part, (ast.Call, ast.Lambda)) for part in inside)
    if name in _COUNTING and simple:
        return _Number(call, formula)
    parts = [_number(walk, arg) for arg in call.args]
    known = [part for part in parts if part is not None and not part.is_tensor]
    if name in _CHOOSING and len(known) == len(parts):
        return _Number(call, formula, unsure=tuple(one for part in known for one in part.unsure))
    return None


def _expanded(walk: _Walk, node: ast.expr) -> ast.expr:
    return substituted(node, walk.numbers)


class _Substitution(ast.NodeTransformer):
    def __init__(self, known: dict[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Put a copy of what is known in the place of a variable."""
        return copy.deepcopy(self._known.get(node.id, ast.Name(node.id)))


def substituted(node: ast.expr, known: dict[str, ast.expr]) -> ast.expr:
    """The expression with what is known in the place of variables."""
    result = _Substitution(known).visit(copy.deepcopy(node))
    assert isinstance(result, ast.expr)
    return result
