"""Which device a tensor is on: that of the parameter, attribute or call that it comes from.

Nothing says on which device an argument is, nor whether it is of a subclass of Tensor. But what
torch computes from one tensor alone is where that tensor is, and of its class: so two values of one
origin are, whatever that is.

What several tensors give is on a GPU if one of them is, and of a subclass if one of them is: a
tensor with dimensions is then on the same one, and only a tensor without any may be on the CPU. So
a number of `x` may meet `x * w`: that is where `x` is if `x` has dimensions; and if `x` has none,
it may be elsewhere, but then `x` is on the CPU, and numbers from there meet tensors of any device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from tclint import torch_facts
from tclint.semantics.bounds import Bound
from tclint.semantics.flow import Binder
from tclint.semantics.lattice import options
from tclint.semantics.site import Site, once
from tclint.semantics.syntax import nodes
from tclint.semantics.values import DataScalar, Tensor
from tclint.torch_facts.dtypes import DTYPES
from tclint.torch_facts.memory import shares_as_attribute
from tclint.torch_facts.operations import takes_tensors
from tclint.torch_facts.pointwise import has_operands

from .known import certain_tensor
from .purity import is_pure
from .reaching import binder_of, block_of

Origin = tuple[Binder | str, str]
"""A node of the program, and what of it: a name, the path of an attribute; or a device by name."""
Origins = frozenset[Origin]
_NOWHERE: Final[Origins] = frozenset()
_PLACES: Final = frozenset({"cpu", "cuda"})
_MOVES: Final = _PLACES | {"to", "type", "type_as"}
_ELSEWHERE: Final = frozenset({"pin_memory", "to_mkldnn", "xpu"})
_CONVERSIONS: Final = frozenset({"abs", "bool", "complex", "float", "int", "round"})
_NO_PLACE: Final = frozenset({"copy", "dtype", "memory_format", "non_blocking"})
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
STEPS: Final = Bound(40, "expressions to see what device a value is on", hides=False)
"""Beyond, a value is its own origin."""


class Devices:
    """Where the values of a function come from; ``given`` are the origins of its arguments."""

    def __init__(self, site: Site, given: Mapping[str, Origins] | None = None) -> None:
        self._site = site
        self._given = given or {}
        self._is_known = not _moves_in_place(site)
        self._known: dict[tuple[ast.expr, bool], Origins] = {}

    def exact(self, node: ast.expr) -> Origins:
        """The origins whose device a tensor, or a number that was read from one, is on."""
        return self._of(node, False, STEPS.most) | {(node, "")}

    def met(self, node: ast.expr) -> Origins:
        """The origins a number of which the tensor can meet: it is there, or they are on the CPU.

        Only for operators, which take a tensor without dimensions from the CPU.
        """
        return self._of(node, True, STEPS.most) | {(node, "")}

    def lasting(self, origins: Origins, read: ast.AST, use: ast.AST) -> Origins:
        """The origins that are the same when a number is used as when it was read.

        In another round of a loop what the loop binds may be elsewhere.
        """
        if self._follows(read, use):
            return origins
        return frozenset(one for one in origins if not self._is_in_loop(one[0]))

    def _follows(self, read: ast.AST, use: ast.AST) -> bool:
        """True where the read stands before the use in the same round of all loops."""
        site = self._site
        around = [read, *site.ancestors(read)]
        statement = next((one for one in around if isinstance(one, ast.stmt)), None)
        if statement is None:
            return False
        block = block_of(site, statement)
        later = block[block.index(statement) :]
        return any(outer in later for outer in (use, *site.ancestors(use)))

    def _is_in_loop(self, node: ast.AST | str) -> bool:
        if isinstance(node, str):
            return False
        return any(isinstance(one, _LOOPS) for one in (node, *self._site.ancestors(node)))

    def _of(self, node: ast.expr, met: bool, steps: int) -> Origins:
        key = node, met
        if key not in self._known:
            self._known[key] = _NOWHERE  # if a value leads back to itself
            if not steps:
                STEPS.cut()
            followed = steps and self._is_known
            self._known[key] = self._found(node, met, steps - 1) if followed else _NOWHERE
        return self._known[key]

    def _at(self, node: ast.expr, met: bool, steps: int) -> Origins:
        return self._of(node, met, steps) | {(node, "")}

    def _found(self, node: ast.expr, met: bool, steps: int) -> Origins:
        match node:
            case ast.Name():
                return self._name(node, met, steps)
            case ast.Attribute(value=owner, attr=attr) if (
                attr == "grad" or shares_as_attribute(attr)
            ) and self._holds(owner, steps):
                return self._at(owner, met, steps)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=owner, slice=index) if self._holds(owner, steps):
                places = index.elts if isinstance(index, ast.Tuple) else [index]
                return self._joint([owner] if met else [owner, *places], met, steps)
            case ast.BinOp(left=left, right=right):
                return self._joint([left, right], met, steps)
            case ast.Compare(left=left, comparators=others):
                return self._joint([left, *others], met, steps)
            case ast.BoolOp(values=values):
                return self._joint(values, met, steps)
            case ast.UnaryOp(operand=inner) | ast.NamedExpr(value=inner):
                return self._at(inner, met, steps)
            case ast.IfExp(body=body, orelse=orelse):
                return self._at(body, met, steps) & self._at(orelse, met, steps)
            case ast.Call():
                return self._call(node, met, steps)
        return _NOWHERE

    def _holds(self, node: ast.expr, steps: int) -> bool:
        """True for a tensor, and for the tuple that one of its methods gives."""
        if certain_tensor(self._site, node) is not None:
            return True
        return isinstance(node, ast.Call) and bool(self._of(node, False, steps))

    def _name(self, read: ast.Name, met: bool, steps: int) -> Origins:
        binder = binder_of(self._site, read)
        match binder:
            case None:
                return _NOWHERE
            case ast.arg():
                return self._given.get(read.id, _NOWHERE) | {(binder, read.id)}
            case ast.Assign(targets=[ast.Name()], value=value):
                return self._at(value, met, steps)
            case ast.AugAssign(target=ast.Name() as target):
                return self._at(target, met, steps)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                return self._unpacked(read, names, value, met, steps) | {(binder, read.id)}
        return frozenset({(binder, read.id)})

    def _unpacked(
        self, read: ast.Name, names: list[ast.expr], value: ast.expr, met: bool, steps: int
    ) -> Origins:
        """``a, b = x, y``, and the two that ``x.max(1)`` gives."""
        if not isinstance(value, ast.Tuple):
            return self._of(value, met, steps) if self._holds(value, steps) else _NOWHERE
        own = [i for i, one in enumerate(names) if isinstance(one, ast.Name) and one.id == read.id]
        plain = not any(isinstance(one, ast.Starred) for one in (*names, *value.elts))
        if not plain or len(own) != 1 or len(names) != len(value.elts):
            return _NOWHERE
        return self._at(value.elts[own[0]], met, steps)

    def _attribute(self, node: ast.Attribute) -> Origins:
        """``self.weight``, as long as no code but that of ``__init__`` stores an attribute so."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            if root.attr in _stored(self._site.module.tree):
                return _NOWHERE
            root = root.value
        if not isinstance(root, ast.Name) or not is_pure(self._site, node):
            return _NOWHERE
        binder = binder_of(self._site, root)
        return frozenset({(binder, ast.unparse(node))}) if isinstance(binder, ast.arg) else _NOWHERE

    def _joint(self, operands: Iterable[ast.expr], met: bool, steps: int) -> Origins:
        """The origins that all operands have, or any where the result is only ``met``."""
        found = [self._at(one, met, steps) for one in _carriers(self._site, tuple(operands))]
        if met or not found:
            return _NOWHERE.union(*found)
        return frozenset.intersection(*found)

    def _call(self, call: ast.Call, met: bool, steps: int) -> Origins:
        dotted = self._site.dotted(call.func) or ""
        if dotted.startswith("torch."):
            return self._function(call, dotted, met, steps)
        match call.func:
            case ast.Name(id=name) if name in _CONVERSIONS and len(call.args) == 1:
                return self._at(call.args[0], met, steps)
            case ast.Attribute(value=owner, attr=name) if (
                certain_tensor(self._site, owner) is not None
            ):
                return self._method(call, owner, name, met, steps)
        return _NOWHERE

    def _method(self, call: ast.Call, owner: ast.expr, name: str, met: bool, steps: int) -> Origins:
        if name in _MOVES:
            return self._moved(call, owner, name, met, steps)
        same = name == "item" or _gives_tensors(torch_facts.method_returns(name))
        if not same or name in _ELSEWHERE or _names_device(call):
            return _NOWHERE
        alone = met and not has_operands(name)
        return self._joint([owner] if alone else [owner, *_given(call)], met, steps)

    def _moved(self, call: ast.Call, owner: ast.expr, name: str, met: bool, steps: int) -> Origins:
        """``x.to(...)``: where the tensor was, unless an argument names a place."""
        named = [one.value for one in call.keywords if one.arg not in _NO_PLACE]
        given = [*call.args[:1], *named]
        here = self._at(owner, met, steps)
        if name in _PLACES and not given:
            return frozenset((root, f"{what}.{name}") for root, what in here)
        if not given or (len(given) == 1 and self._is_dtype(given[0])):
            return here
        place = given[0].value if isinstance(given[0], ast.Constant) else None
        if len(given) > 1 or name not in ("to", "cuda") or not isinstance(place, str | int):
            return _NOWHERE
        return frozenset((root, f"{what}.{place}") for root, what in here)

    def _is_dtype(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return True
        if (self._site.dotted(node) or "").removeprefix("torch.") in DTYPES:
            return True
        kinds = [*options(self._site.value(node))]
        return bool(kinds) and all(getattr(kind, "type", None) == "dtype" for kind in kinds)

    def _function(self, call: ast.Call, dotted: str, met: bool, steps: int) -> Origins:
        factory = torch_facts.factory(dotted)
        if _names_device(call):
            return _NOWHERE
        if factory is not None and factory.source in ("size", "range"):
            blocks = [one for one in self._site.ancestors(call) if isinstance(one, ast.With)]
            return frozenset({("default", "")}) if not blocks else _NOWHERE
        if not call.args or (factory is not None and factory.source != "like"):
            return _NOWHERE
        if not _gives_tensors(torch_facts.function_returns(dotted)):
            return _NOWHERE
        elementwise = has_operands(dotted) or takes_tensors(dotted)
        given = _given(call)
        return self._joint(given[:1] if met and not elementwise else given, met, steps)


@once
def _carriers(site: Site, operands: tuple[ast.expr, ...]) -> Sequence[ast.expr]:
    """The tensors among operands; where there is none, the numbers that were read from one."""
    values = [(one, [*options(site.value(one))]) for one in operands]
    tensors = [one for one, kinds in values if any(isinstance(k, Tensor) for k in kinds)]
    return tensors or [
        one for one, kinds in values if any(isinstance(k, DataScalar) for k in kinds)
    ]


def _given(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, and the members of lists among them."""
    found: list[ast.expr] = []
    for one in (*call.args, *(keyword.value for keyword in call.keywords)):
        found += one.elts if isinstance(one, (ast.List, ast.Tuple)) else [one]
    return found


def _names_device(call: ast.Call) -> bool:
    return any(one.arg in ("device", None) for one in call.keywords)


@once
def _moves_in_place(site: Site) -> bool:
    """True where a statement moves a module (``self.cuda()``) or a tensor (``x.data = ...``)."""
    for node in nodes(site.body.scope):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to" | "cpu" | "cuda"))):
                return True
            case ast.Attribute(attr="data", ctx=ast.Store()):
                return True
    return False


def _gives_tensors(kinds: str | None) -> bool:
    return kinds is not None and all(kind.startswith("tensor") for kind in kinds.split("|"))


@lru_cache(maxsize=8)  # a file's rules ask one after the other
def _stored(tree: ast.Module) -> frozenset[str]:
    """The attributes that a file stores anywhere but in ``__init__``."""
    inside = {
        part
        for one in nodes(tree)
        if isinstance(one, ast.FunctionDef) and one.name == "__init__"
        for part in nodes(one)
    }
    stored = (one for one in nodes(tree) if isinstance(one, ast.Attribute))
    return frozenset(
        one.attr for one in stored if not isinstance(one.ctx, ast.Load) and one not in inside
    )
