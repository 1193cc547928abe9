"""Where does a new tensor go, and with which arguments was it made?"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tclint.semantics.events import TensorFactory
from tclint.semantics.site import Site
from tclint.semantics.values import Static, Tensor, options

from ..proofs.verdict import Refused

TYPED = frozenset(
    f"torch.{name}Tensor"
    for name in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split()
)
FROM_DATA = frozenset({"torch.tensor", "torch.Tensor"}) | TYPED


@dataclass(frozen=True, slots=True)
class Target:
    """The device that a fresh tensor is moved to: its expression, or None for ``.cuda()``."""

    node: ast.expr | None = None

    def written(self, name: str) -> str:
        """The device as source or as the template's ``$name``."""
        if self.node is None:
            return '"cuda"'
        if isinstance(self.node, ast.Constant) and type(self.node.value) is int:
            return f'"cuda:{self.node.value}"'
        return f"${name}"


def target(event: TensorFactory) -> Target | Refused | None:
    """Where ``.to(...)`` or ``.cuda()`` around the factory moves it; None for no device."""
    call = event.moved
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr == "cpu":
        return None
    keywords = {keyword.arg for keyword in call.keywords}
    node = event.destination
    if "non_blocking" in keywords:
        return None
    if node is None:
        return Target() if call.func.attr == "cuda" and not keywords else None
    if any(isinstance(option, Tensor) for option in options(event.site.value(node))):
        return Refused(f"`.to({event.site.text(node)})` takes over the dtype as well")
    if call.func.attr == "to" and "device" not in keywords and not is_device(event.site, node):
        return None
    if keywords - {"device"} or len(call.args) > 1 or any(_starred(a) for a in call.args):
        return Refused(f"`.{call.func.attr}(...)` does more than to choose the device")
    return Target(node)


def is_device(site: Site, node: ast.expr) -> bool:
    """True when an expression surely is a device that may be another than the CPU."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, int)) and node.value != "cpu"
    if any(isinstance(o, Static) and o.type == "device" for o in options(site.value(node))):
        return True
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return last == "dev" or last.endswith("device")


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def arguments(call: ast.Call, *, without: str = "") -> tuple[list[str], dict[str, ast.expr]]:
    """A call's arguments for a template, and its parts, less one keyword."""
    texts: list[str] = []
    parts: dict[str, ast.expr] = {}
    for index, argument in enumerate(call.args):
        inner = argument.value if isinstance(argument, ast.Starred) else argument
        texts.append(f"*$a{index}" if inner is not argument else f"$a{index}")
        parts[f"a{index}"] = inner
    for index, item in enumerate(call.keywords):
        if item.arg == without:
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


def _starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)
