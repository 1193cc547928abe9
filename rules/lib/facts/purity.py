"""Expressions that may be dropped, repeated or evaluated early without anybody noticing."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Object, Tensor
from tclint.torch_facts.elements import MEASURING
from tclint.torch_facts.memory import effects, only_computes

_MEASURING = MEASURING | {"dim"}
_MADE_UP = frozenset({"__getattr__", "__getattribute__"})


def is_pure(site: Site, node: ast.expr) -> bool:
    """True when evaluating ``node`` only computes: no call that could write, draw or print."""
    return not any(is_property(site, part) for part in nodes(node)) and all(
        not isinstance(part, (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
        or (isinstance(part, ast.Call) and _pure_call(site, part))
        for part in nodes(node)
    )


def is_property(site: Site, node: ast.AST) -> bool:
    """True where a method of the program runs when an attribute is read."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = site.value(node.value)
    if not isinstance(owner, Object) or owner.cls is None:
        return False
    parent = site.parent(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    names = {*_MADE_UP, *(() if is_called else (node.attr,))}
    return any(not names.isdisjoint(cls.methods) for cls in _family(owner.cls))


def _family(cls: ClassInfo) -> list[ClassInfo]:
    """A class and its bases of the same file."""
    found = [cls]
    for one in found:  # grows while it is walked
        names = (base.id for base in one.bases if isinstance(base, ast.Name))
        known = (one.module.classes.get(name) for name in names)
        found += [base for base in known if base is not None and base not in found]
    return found


def _pure_call(site: Site, call: ast.Call) -> bool:
    dotted = site.dotted(call.func)
    if dotted is not None and dotted.startswith("torch."):
        return computes(dotted, call)
    if not isinstance(call.func, ast.Attribute):
        return False
    name, is_tensor = call.func.attr, isinstance(site.value(call.func.value), Tensor)
    return is_tensor and (name in _MEASURING or computes(name, call))


def computes(key: str, call: ast.Call) -> bool:
    """True for a call of torch, by its name, that does nothing but compute.

    The second argument of what has an ``inplace`` may say that it writes, and a string says how
    others compute, which may raise.
    """
    if any(keyword.arg in (None, "out", "inplace") for keyword in call.keywords):
        return False
    told = effects(key) or frozenset()
    may_write = "inplace" in told and len(call.args) > 1
    may_check = "checks-mode" in told and _says_how(call)
    return key == "torch.tensor" or (only_computes(key) and not may_write and not may_check)


def _says_how(call: ast.Call) -> bool:
    """True where an argument is a string, or a variable that is given by name and may be one."""
    named = [keyword.value for keyword in call.keywords]
    texts = [one for one in (*call.args, *named) if isinstance(getattr(one, "value", None), str)]
    return bool(texts) or any(isinstance(one, (ast.Name, ast.Attribute)) for one in named)
