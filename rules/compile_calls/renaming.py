"""Put a public name of torch in the place of one that is deprecated or private."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.regexes import regex
from tclint.semantics.events import NameUsed
from tclint.semantics.site import Site
from tclint.torch_facts.moved import COMPILER_NAMES, Moved

from ..lib.facts.fallbacks import is_fallback
from ..lib.rewrite.torch_name import torch_name

# What a condition mentions that asks which torch is there.
_VERSIONS: Final = regex(r"version|hasattr|availab|greater|higher|pt\d|\d[_.]\d", re.IGNORECASE)
_CHANGES: Final = "it is an instance of a different class, and its dtype can be set"
_SCRIPTS: Final = "TorchScript takes only the old name"


def worth_saying(event: NameUsed, moved: Moved) -> bool:
    """False where the code is there for a torch without the new name, or is torch itself."""
    site = event.site
    if site.module.name.partition(".")[0] == "torch":
        return False
    if site.settings.oldest_torch < moved.since or site.facts.tries:
        return False
    if is_fallback(site, event.expression, moved.new):
        return False
    outer = (o for o in site.ancestors(event.expression) if isinstance(o, (ast.If, ast.IfExp)))
    return not any(_VERSIONS.search(ast.unparse(o.test)) for o in outer)


def use_public_name(event: NameUsed, moved: Moved) -> Repair | Decline:
    """Replace the name, and give the call the device that the old name implied."""
    written = torch_name(event.site, moved.new)
    if isinstance(written, Decline):
        return written
    spelled, imports = written
    repeated = _asked_twice(event, moved)
    if repeated is not None:
        return Repair(f"Ask `{moved.new}` once", (repeated,))
    call, named = event.call, moved.new.rpartition(".")[2].startswith("custom_")
    lacking = [k.arg for k in call.keywords if k.arg in moved.lacks] if call else []
    if lacking:
        return Decline(f"`{moved.new}` has no argument `{lacking[0]}`")
    if call is None or not moved.device:
        template = f'{spelled}(device_type="{moved.device}")' if named else spelled
        return _repair(event, moved, (Replace(event.expression, template), *imports))
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if starred or any(keyword.arg is None for keyword in call.keywords):
        return Decline("the call uses `*args`/`**kwargs`")
    if len(call.args) > len(moved.positional):
        return Decline("the call passes a function to wrap")
    template, parts = _call(call, moved, named=named)
    return _repair(event, moved, (Replace(call, f"{spelled}({template})", parts), *imports))


def _asked_twice(event: NameUsed, moved: Moved) -> Replace | None:
    """Leave out a question that is asked just before it in the same ``or``, by another name."""
    site, call = event.site, event.call
    outer = site.parent(call) if call is not None else None
    if not isinstance(outer, ast.BoolOp) or not moved.new.rpartition(".")[2].startswith("is_"):
        return None
    place = next(place for place, one in enumerate(outer.values) if one is call)
    if place == 0 or any(_public(site, one) != moved.new for one in outer.values[place - 1 :][:2]):
        return None
    rest = {f"part_{i}": one for i, one in enumerate(outer.values) if one is not call}
    word = " or " if isinstance(outer.op, ast.Or) else " and "
    return Replace(outer, word.join(f"${name}" for name in rest), rest)


def _public(site: Site, node: ast.expr) -> str | None:
    """The public name of a function that is called without arguments."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return None
    name = site.dotted(node.func) or ""
    moved = COMPILER_NAMES.get(name)
    return moved.new if moved is not None and moved.same else name


def _repair(event: NameUsed, moved: Moved, rewrites: tuple[Rewrite, ...]) -> Repair:
    message = f"Use `{moved.new}`"
    if moved.scripts:
        return Repair(message, rewrites, Change.BEHAVIOUR, changes=_SCRIPTS)
    if moved.same:  # other files may import the old name from here, so that its import stays
        return Repair(message, rewrites)
    left = _leftover_import(event.site, event.expression)
    return Repair(
        message,
        rewrites if left is None else (*rewrites, left),
        Change.BEHAVIOUR,
        changes=_CHANGES if left is None else f"{_CHANGES}; other files cannot import it from here",
    )


def _leftover_import(site: Site, use: ast.expr) -> Replace | None:
    """Take the name out of its ``from ... import``, if nothing but ``use`` needs it there.

    Imports that may be there for others stay: those of an ``__init__.py``, names that a string
    holds (``__all__``), and lines with a comment (``# noqa``).
    """
    module = site.module
    if not isinstance(use, ast.Name) or module.file.path.name == "__init__.py":
        return None
    for node in ast.walk(module.tree):
        again = isinstance(node, ast.Name) and node.id == use.id and node is not use
        if again or (isinstance(node, ast.Constant) and node.value == use.id):
            return None
    found = [s for s in module.tree.body if isinstance(s, ast.ImportFrom) and _brings(s, use.id)]
    if len(found) != 1 or _has_comment(site, found[0]):
        return None
    return Replace(found[0], _without(found[0], use.id))


def _brings(statement: ast.ImportFrom, name: str) -> bool:
    return any((alias.asname or alias.name) == name for alias in statement.names)


def _has_comment(site: Site, statement: ast.ImportFrom) -> bool:
    lines = site.module.file.text.splitlines()[statement.lineno - 1 : statement.end_lineno]
    return any("#" in line for line in lines)


def _without(statement: ast.ImportFrom, name: str) -> str:
    kept = [alias for alias in statement.names if (alias.asname or alias.name) != name]
    if not kept:
        return ""
    return ast.unparse(ast.ImportFrom(statement.module, kept, statement.level))


def _call(call: ast.Call, moved: Moved, *, named: bool) -> tuple[str, dict[str, ast.expr]]:
    """The arguments of the new call, with the device as the first one or by name."""
    parts = dict(zip(moved.positional, call.args, strict=False))
    # Behind the device, the new function takes the others in the same order, but for autocast.
    by_place = moved.same or moved.new.endswith("GradScaler")
    given = [f"${name}" if by_place else f"{name}=${name}" for name in parts]
    for keyword in call.keywords:
        parts[str(keyword.arg)] = keyword.value
        given.append(f"{keyword.arg}=${keyword.arg}")
    device = f'"{moved.device}"'
    given = [*given, f"device_type={device}"] if named else [device, *given]
    return ", ".join(given), parts
