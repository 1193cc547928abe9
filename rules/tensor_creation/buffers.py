"""Constant data of a module: from a tensor made in every step to a buffer made once."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.semantics.callees import callees
from tclint.semantics.events import TensorFactory
from tclint.semantics.lattice import all_are, options, tensor_in
from tclint.semantics.ownership import fate_of
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.syntax import names_in, nodes
from tclint.semantics.values import Object, Tensor
from tclint.torch_facts.memory import describes, is_view, shares_as_attribute

from ..lib.facts.uses import uses_of
from ..lib.judge.init_end import (
    first_argument,
    why_no_place,
    why_not_constant_there,
    why_not_set_there,
)
from .placement import FROM_DATA, is_device, keyword, number_type, template_arguments
from .python_data import is_empty

_LISTS = (ast.List, ast.Tuple)
CHANGES = (
    "`half()` and `to(dtype)` convert a floating-point buffer with the module; "
    "a module that is built on the meta device has to fill it in afterwards"
)
_COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.FormattedValue)
_SHARING = frozenset("numpy data_ptr storage untyped_storage set_data register_hook".split())
_WRITTEN = "the tensor is stored or changed"


def is_constant_data(event: TensorFactory) -> bool:
    """True for a tensor of a module's method whose data, more than one number, never changes."""
    cls, call = event.site.cls, event.call
    if cls is None or not event.constant or event.function not in FROM_DATA:
        return False
    if len(call.args) != 1 or number_type(event.site, call.args[0]) is not None:
        return False
    if is_empty(event):
        return False
    return _is_module(event.site, cls) and (
        event.function == "torch.tensor" or _is_list(call.args[0])
    )


def _is_module(site: Site, cls: ClassInfo) -> bool:
    return "forward" in cls.methods or any(
        site.dotted(base) == "torch.nn.Module" for base in cls.bases
    )


def _is_list(node: ast.expr) -> bool:
    """True for ``[0.1, 0.2]`` and ``[0.1] * 10``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_list(node.left) or _is_list(node.right)
    return isinstance(node, _LISTS)


def device_of(event: TensorFactory) -> ast.expr | None:
    """The device that the data is copied to: from ``.to(...)`` or ``device=``."""
    if event.moved is not None and event.destination is not None:
        return event.destination if is_device(event.site, event.destination) else None
    given = keyword(event.call, "device")
    return given if given is not None and is_device(event.site, given) else None


def make_buffer(event: TensorFactory) -> Repair | Decline:
    """Register the tensor in ``__init__`` and read it in the step."""
    site, whole = event.site, event.moved or event.call
    cls, function = site.cls, site.function
    assert cls is not None and function is not None
    init = cls.methods.get("__init__")
    obstacle = why_no_place(site, cls, init, function) or _why_not_only_read(site, whole)
    obstacle = obstacle or _why_not_yet_known(event)
    if init is not None and not obstacle:
        obstacle = why_not_constant_there(event.call, init) or why_not_set_there(event.call, init)
    if obstacle:
        return Decline(obstacle)
    name = _name(site, whole, cls)
    read, device = f"{first_argument(function)}.{name}", device_of(event)
    if device is None or _is_own_device(site, device):
        replaced = Replace(whole, read)
    else:
        # Free where the buffer is there already, and right where the module was never moved.
        replaced = Replace(whole, f"{read}.to($device)", {"device": device})
    rewrites = (_registration(event, cls, init, name), replaced)
    return Repair("Make it a buffer in `__init__`", rewrites, Change.BEHAVIOUR, CHANGES)


def _why_not_only_read(site: Site, node: ast.expr) -> str:
    """Why the tensor could be changed or kept by somebody; empty when it is only read."""
    uses = uses_of(site, node)
    if uses.lost:
        return uses.lost
    return next(filter(None, (_why_not_read(site, use) for use in uses.nodes)), "")


def _why_not_read(site: Site, node: ast.expr) -> str:
    parent = site.parent(node)
    if isinstance(parent, _COMPUTED):
        return ""
    if isinstance(parent, ast.keyword):
        return _why_not_argument(site, node, site.parent(parent), parent.arg)
    if isinstance(parent, ast.Call) and parent.func is not node:
        return _why_not_argument(site, node, parent, "")
    if isinstance(parent, ast.Tuple) and isinstance(site.parent(parent), ast.Subscript):
        return ""
    if isinstance(parent, ast.Subscript):
        if parent.slice is node:
            return ""
        return _why_not_read(site, parent) if isinstance(parent.ctx, ast.Load) else _WRITTEN
    if isinstance(parent, ast.Attribute):
        return _why_not_method(site, parent)
    if isinstance(parent, ast.AugAssign) and parent.target is not node:
        return ""
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        return _why_not_only_read(site, node)
    if isinstance(parent, ast.Return):
        return "the tensor is returned"
    return _WRITTEN


def _why_not_argument(site: Site, node: ast.expr, call: ast.AST | None, keyword: str | None) -> str:
    """Functions of torch, methods of tensors and library layers only read their arguments."""
    if not isinstance(call, ast.Call) or keyword in ("out", None):
        return _WRITTEN
    if any(k.arg == "inplace" for k in call.keywords):
        return _WRITTEN
    dotted = site.dotted(call.func) or ""
    last = dotted.rpartition(".")[2]
    if dotted.startswith("torch.") and not last.endswith("_"):
        reads_on = is_view(dotted) and call.args[:1] == [node]
        return _why_not_read(site, call) if reads_on else ""
    if isinstance(call.func, ast.Attribute) and all_are(site.value(call.func.value), Tensor):
        return ""
    layers = list(options(site.value(call.func)))
    if all(isinstance(o, Object) and o.is_module and o.cls is None for o in layers):
        return ""
    fate = fate_of(callees(site, call), call, node)
    if fate is None:
        return f"`{site.text(call.func)}` may change the tensor"
    return _why_not_read(site, call) if fate else ""


def _why_not_method(site: Site, attribute: ast.Attribute) -> str:
    """Methods read their tensor, but for those in place; the views they make must be read too."""
    name, call = attribute.attr, site.parent(attribute)
    if name.endswith("_") or name in _SHARING or not isinstance(attribute.ctx, ast.Load):
        return _WRITTEN
    if isinstance(call, ast.Call) and call.func is attribute:
        return _why_not_read(site, call) if is_view(name) else ""
    if describes(name):
        return ""
    return _why_not_read(site, attribute) if shares_as_attribute(name) else _WRITTEN


def _why_not_yet_known(event: TensorFactory) -> str:
    """Which variable of the method the tensor is made with, the device aside; empty for none."""
    site, own = event.site, first_argument(event.site.function) if event.site.function else ""
    scope = site.body.scope
    local = {node.arg for node in nodes(scope) if isinstance(node, ast.arg)} - {own}
    given = [*event.call.args, *(k.value for k in event.call.keywords if k.arg != "device")]
    for node in (inner for part in given for inner in nodes(part)):
        if isinstance(node, ast.Name) and (node.id in local or site.stores(node.id)):
            return f"`{node.id}` is known only when the module is called"
    return ""


def _name(site: Site, whole: ast.expr, cls: ClassInfo) -> str:
    """A name for the buffer that the class does not use yet."""
    parent = site.parent(whole)
    name = "_constant"
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        name = "_" + parent.targets[0].id.lstrip("_")
    taken = {n.attr for n in nodes(cls.node) if isinstance(n, ast.Attribute)}
    taken |= {str(n.value) for n in nodes(cls.node) if isinstance(n, ast.Constant)}
    taken |= names_in(cls.node) | set(cls.methods)
    number = 1
    unique = name
    while unique in taken:
        number += 1
        unique = f"{name}_{number}"
    return unique


def _is_own_device(site: Site, device: ast.expr) -> bool:
    """True for ``self.weight.device``."""
    if not isinstance(device, ast.Attribute) or not isinstance(device.value, ast.Attribute):
        return False
    tensor = tensor_in(site.value(device.value))
    return isinstance(tensor, Tensor) and tensor.role in ("parameter", "buffer")


def _registration(
    event: TensorFactory, cls: ClassInfo, init: FunctionInfo | None, name: str
) -> Insert:
    """Register the buffer at the end of `__init__`, which is written where there is none."""
    texts, parts = template_arguments(event.call, "device")
    made = {"factory": event.call.func, **parts}
    register = f'register_buffer("{name}", $factory({", ".join(texts)}), persistent=False)'
    if init is not None and not isinstance(init.node, ast.Lambda):
        return Insert(init.node.body[-1], f"{first_argument(init)}.{register}", made, after=True)
    template = f"def __init__(self):\n    super().__init__()\n    self.{register}\n"
    return Insert(next(n for n in cls.node.body if _is_method(n)), template, made)


def _is_method(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
