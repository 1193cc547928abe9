"""Where does a new tensor go, and with which arguments was it made?"""

from __future__ import annotations

import ast

from tclint.lint.rewrite import AddArgument
from tclint.records import record
from tclint.semantics.events import TensorFactory
from tclint.semantics.lattice import options, tensor_in
from tclint.semantics.site import Site
from tclint.semantics.values import Static, Tensor

from ..lib.facts.annotations import is_device_type
from ..lib.judge.verdict import Refused

TYPED = frozenset(
    f"torch.{name}Tensor"
    for name in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split()
)
FROM_DATA = frozenset({"torch.tensor", "torch.Tensor"}) | TYPED


@record(frozen=True)
class Target:
    """Where a fresh tensor goes: a device (``.cuda()`` when None), and perhaps to a dtype.

    ``like`` is the tensor whose device and dtype it takes over; ``sure`` is false for a device
    that is one by its name alone.
    """

    device: ast.expr | None = None
    dtype: ast.expr | None = None
    like: ast.expr | None = None
    sure: bool = True

    @property
    def converts(self) -> bool:
        """True when the tensor's dtype may change on the way."""
        return self.dtype is not None or self.like is not None

    def arguments(self, factory: ast.Call) -> list[AddArgument]:
        """The factory's keyword arguments that come to the same."""
        if self.like is not None:
            parts = {"like": self.like}
            return [
                AddArgument(factory, f"$like.{name}", parts, name) for name in ("dtype", "device")
            ]
        added: list[AddArgument] = []
        if self.dtype is not None:
            added.append(AddArgument(factory, "$dtype", {"dtype": self.dtype}, "dtype"))
        if self.device is None:
            added.append(AddArgument(factory, '"cuda"', keyword="device"))
        elif isinstance(self.device, ast.Constant) and type(self.device.value) is int:
            added.append(AddArgument(factory, f'"cuda:{self.device.value}"', keyword="device"))
        else:
            added.append(AddArgument(factory, "$device", {"device": self.device}, "device"))
        # Either may raise: what was evaluated first, still is.
        both = self.device is not None and self.dtype is not None
        return sorted(added, key=_position) if both else added


def _position(added: AddArgument) -> tuple[int, int]:
    return max((part.lineno, part.col_offset) for part in added.parts.values())


def target(event: TensorFactory) -> Target | Refused | None:
    """Where ``.to(...)`` or ``.cuda()`` around the factory moves it; None for no device."""
    call, node = event.moved, event.destination
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr == "cpu":
        return None
    given = {k.arg: k.value for k in call.keywords}
    if "non_blocking" in given:
        return None
    if node is None:
        return Target() if call.func.attr == "cuda" and not given else None
    tensor = tensor_in(event.site.value(node))
    named = _is_called_device(node)
    if tensor is not None and not (tensor.assumed and named) and "device" not in given:
        return _like(event.site, call, node)
    if call.func.attr == "to" and "device" not in given and not is_device(event.site, node):
        return None
    dtypes = [*call.args[1 if "device" not in given else 0 :], *filter(None, [given.get("dtype")])]
    if given.keys() - {"device", "dtype"} or len(dtypes) > 1:
        return Refused(f"`.{call.func.attr}(...)` does more than choose device and dtype")
    sure = "device" in given or is_surely_device(event.site, node)
    return Target(node, dtypes[0] if dtypes else None, sure=sure)


def _like(site: Site, call: ast.Call, node: ast.expr) -> Target | Refused | None:
    """The target of ``.to(tensor)``."""
    tensor = tensor_in(site.value(node))
    text = site.text(node)
    if tensor is None or text.endswith("type"):
        return None
    if len(call.args) > 1 or call.keywords or not isinstance(node, (ast.Name, ast.Attribute)):
        return Refused(f"`.to({text})` also takes over the dtype")
    if tensor.assumed or len(list(options(site.value(node)))) > 1:
        return Refused(f"`{text}` is not known to be a tensor with a dtype and a device")
    return Target(like=node)


def is_device(site: Site, node: ast.expr) -> bool:
    """True when an expression surely is a device that may be another than the CPU."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, int)) and node.value != "cpu"
    if any(isinstance(o, Static) and o.type == "device" for o in options(site.value(node))):
        return True
    return _is_called_device(node)


def _is_called_device(node: ast.expr) -> bool:
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return last == "dev" or last.endswith("device")


def is_surely_device(site: Site, node: ast.expr) -> bool:
    """True for what can be no dtype and no tensor: those mean something else to ``.to(...)``.

    What is stored as ``self.device``, or passed without an annotation, may be anything.
    """
    match node:
        case ast.Constant():
            return True
        case ast.Attribute(value=owner, attr="device"):
            return all(isinstance(kind, Tensor) for kind in options(site.value(owner)))
        case ast.Call(func=function):
            return site.dotted(function) == "torch.device"
        case ast.Name():
            return _is_device_variable(site, node)
    return False


def _is_device_variable(site: Site, name: ast.Name) -> bool:
    value, found = site.flow.value(name), site.flow.definition(name)
    if value is not None:
        return is_surely_device(site, value)
    kind = found.node.annotation if found and isinstance(found.node, ast.arg) else None
    return kind is not None and is_device_type(kind)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def template_arguments(call: ast.Call, *without: str) -> tuple[list[str], dict[str, ast.expr]]:
    """A call's arguments for a template, and its parts, less some keywords."""
    texts: list[str] = []
    parts: dict[str, ast.expr] = {}
    for index, argument in enumerate(call.args):
        inner = argument.value if isinstance(argument, ast.Starred) else argument
        texts.append(f"*$a{index}" if inner is not argument else f"$a{index}")
        parts[f"a{index}"] = inner
    for index, item in enumerate(call.keywords):
        if item.arg in without:
            continue
        texts.append(f"{item.arg}=$k{index}" if item.arg else f"**$k{index}")
        parts[f"k{index}"] = item.value
    return texts, parts


def number_type(site: Site, node: ast.expr) -> str | None:
    """``int``, ``float`` or ``bool`` for a number that Python knows, else None."""
    kinds = {o.type if isinstance(o, Static) else None for o in options(site.value(node))}
    if isinstance(node, ast.Constant):
        kinds = {type(node.value).__name__}
    kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind in ("int", "float", "bool") else None
