"""TCL423: `torch._dynamo.optimize` where `torch.compile` is meant."""

from __future__ import annotations

import ast
from typing import ClassVar, Final

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import COMPILER_NAMES

from ..output.torch_name import torch_name
from .renaming import worth_saying

_ARGUMENTS: Final = {"backend": "backend", "nopython": "fullgraph", "dynamic": "dynamic"}


class DynamoOptimize(Rule[NameUsed]):
    """`torch._dynamo.optimize`, the name that `torch.compile` had before 2.0.

    What it does:
        Reports `torch._dynamo.optimize(backend)(f)` and the decorator.

    Why it hurts:
        It is private, and knows neither `mode` nor `options`. It still works with torch 2.13,
        without a warning; what it calls `nopython` is `fullgraph`.

    Fix safety:
        Unsafe: `torch.compile` checks the backend's name at once and, for inductor, hands it the
        settings of the default mode. Declined for arguments that `torch.compile` lacks.

    References:
        `torch.compile`.
    """

    code = "TCL423"
    name = "dynamo-optimize"
    summary = "`torch._dynamo.optimize` is the private predecessor of `torch.compile`"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=(
                "import torch._dynamo\n\n\ndef g(x):\n    return x * 2\n\n\n"
                'f = torch._dynamo.optimize("eager", nopython=True)(g)\n'
                "g = torch.compile(g)\n"
            ),
            unsafe=(
                "import torch._dynamo\n\n\ndef g(x):\n    return x * 2\n\n\n"
                'f = torch.compile(g, backend="eager", fullgraph=True)\n'
                "g = torch.compile(g)\n"
            ),
            title="a call",
        ),
        Bad(
            code=(
                'import torch._dynamo\n\n\n@torch._dynamo.optimize("eager")\n'
                "def f(x):\n    return x * 2\n"
            ),
            unsafe=(
                'import torch._dynamo\n\n\n@torch.compile(backend="eager")\n'
                "def f(x):\n    return x * 2\n"
            ),
            title="a decorator",
        ),
        Untouched(
            code=(
                "import torch._dynamo\n\n\ndef g(x):\n    return x * 2\n\n\n"
                'f = torch._dynamo.optimize("eager", guard_fail_fn=print)(g)\n'
                "g = torch.compile(g)\n"
            ),
            reason="`guard_fail_fn` has no counterpart",
            title="an argument of its own",
        ),
        Good(code="@torch.compile(dynamic=False)\ndef f(x):\n    return x * 2\n", title="compile"),
    )

    def check(self, event: NameUsed) -> Finding | None:
        """Every call of it."""
        moved = COMPILER_NAMES["torch._dynamo.optimize"]
        if event.name != "torch._dynamo.optimize" or event.call is None:
            return None
        if not worth_saying(event, moved):
            return None
        return Finding(
            "`torch._dynamo.optimize` is the private predecessor of `torch.compile`",
            fix=_repair(event, event.call),
            node=event.call,
            confidence=Confidence.MEDIUM,
        )


def _repair(event: NameUsed, made: ast.Call) -> Repair | Decline:
    starred = any(isinstance(argument, ast.Starred) for argument in made.args)
    if starred or any(keyword.arg is None for keyword in made.keywords):
        return Decline("its arguments are not all written out")
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
        return Decline("it gets more than a backend by position")
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
        Applicability.UNSAFE,
        changes="the backend's name is checked at once, and inductor gets its default mode",
    )
