"""TCL423: `torch._dynamo.optimize` where `torch.compile` is meant."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Change, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import COMPILER_NAMES

from ..lib.rewrite.torch_name import torch_name
from .renaming import worth_saying

_ARGUMENTS: Final = {"backend": "backend", "nopython": "fullgraph", "dynamic": "dynamic"}


class DynamoOptimize(Rule[NameUsed]):
    """`torch._dynamo.optimize`, the name of `torch.compile` before torch 2.0."""

    code = "TCL423"
    name = "dynamo-optimize"
    summary = "`torch._dynamo.optimize` is the private predecessor of `torch.compile`"
    instead = "Use `torch.compile`"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Every call of it."""
        moved = COMPILER_NAMES["torch._dynamo.optimize"]
        if event.name != "torch._dynamo.optimize" or event.call is None:
            return None
        if not worth_saying(event, moved):
            return None
        return Finding(
            "`torch._dynamo.optimize` is private, and may go: `torch.compile` replaced it",
            fix=_repair(event, event.call),
            node=event.call,
            confidence=Confidence.MEDIUM,
        )


def _repair(event: NameUsed, made: ast.Call) -> Repair | Decline:
    starred = any(isinstance(argument, ast.Starred) for argument in made.args)
    if starred or any(keyword.arg is None for keyword in made.keywords):
        return Decline("the call uses `*args`/`**kwargs`")
    parts: dict[str, ast.expr] = {}
    given = []
    positional = zip(("backend",), made.args, strict=False)
    named = ((str(k.arg), k.value) for k in made.keywords)
    for name, value in (*positional, *named):
        if name not in _ARGUMENTS:
            return Decline(f"`{name}` has no counterpart in `torch.compile`")
        parts[name] = value
        given.append(f"{_ARGUMENTS[name]}=${name}")
    if len(made.args) > 1:
        return Decline("the call passes more than a backend by position")
    written = torch_name(event.site, "torch.compile")
    if isinstance(written, Decline):
        return written
    spelled, imports = written
    whole: ast.Call = made
    match event.site.parent(made):
        case ast.Call(func=func, args=[target], keywords=[]) as applied if func is made:
            whole, parts["target"] = applied, target
            given.insert(0, "$target")
    template = f"{spelled}({', '.join(given)})"
    return Repair(
        "Use `torch.compile`",
        (Replace(whole, template, parts), *imports),
        Change.BEHAVIOUR,
        changes="the backend's name is checked at once, and Inductor gets its default mode",
    )
