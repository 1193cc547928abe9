"""TCL123: a progress bar in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Applicability, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import SideEffectCall

from ..output.evaluation import arguments, binds_or_waits, skipped_effects
from ..output.repair import IS_COMPILING, describe, gb_ids
from ..output.torch_name import torch_name


class ProgressBarInCompiledRegion(Rule[SideEffectCall]):
    """A loop shows its progress where Dynamo traces.

    ## What it does
    Reports `tqdm` and `trange` in compiled code, also with `disable=True`.

    ## Why it hurts
    The bar takes locks, reads the clock and writes to the terminal; none of that can be traced.
    The graph ends before the loop, what the loop computes is not compiled together with what is
    around it, and often nothing of the function is compiled at all.

    ## Fix safety
    While compiling, the loop runs over the bare iterable:
    `(items if torch.compiler.is_compiling() else tqdm(items))`. Eager code keeps its bar. The fix
    is unsafe when the bar's other arguments do more than compute. With `side-effects = "remove"`
    the bar goes for good, which is unsafe. A bar with a name, for instance for `set_postfix`, is
    left alone.

    ## References
    - [Graph break GB0007](https://meta-pytorch.org/compile-graph-break-site/gb/gb0007.html)
    """

    code = "TCL123"
    name = "progress-bar-in-compiled-region"
    summary = "A progress bar in compiled code breaks the graph"
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007", "GB0008")
    examples = (
        Bad(
            """
from tqdm import tqdm

def f(x):
    y = x * 1
    for i in tqdm(range(3), bar_format="{n} of 3"):
        y = y + i
    return y
""",
            fixed="""
from tqdm import tqdm

def f(x):
    y = x * 1
    for i in range(3) if torch.compiler.is_compiling() else tqdm(range(3), bar_format="{n} of 3"):
        y = y + i
    return y
""",
            proves=("GB0007",),
            title="a bar around a loop",
        ),
        Bad(
            """
from tqdm import trange

def f(x):
    xs = [i * x for i in trange(3, disable=True)]
    return sum(xs)
""",
            fixed="""
from tqdm import trange

def f(x):
    xs = [i * x for i in (range(3) if torch.compiler.is_compiling() else trange(3, disable=True))]
    return sum(xs)
""",
            proves=("GB0007",),
            title="in a comprehension, switched off",
        ),
        Untouched(
            """
from tqdm import tqdm

def f(x):
    bar = tqdm(total=1)
    y = x * 2
    bar.update()
    return y
""",
            reason="the bar is used for more than one iteration over it",
            proves=("GB0007",),
        ),
        Good(
            """
def f(x):
    for step in range(3):
        x = x + step
    return x
"""
        ),
    )

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report progress bars."""
        if event.sink != "tqdm":
            return None
        return Finding(describe(event), _without_bar(event), gb_ids=gb_ids(event, "GB0007"))


def _without_bar(event: SideEffectCall) -> Repair | Decline:
    """Iterate without the bar: while compiling, or for good where ``side-effects`` says so."""
    site, call = event.site, event.call
    plain = _plain(event)
    obstacle = binds_or_waits(call)
    if isinstance(plain, Decline) or obstacle is not None:
        return plain if isinstance(plain, Decline) else Decline(str(obstacle))
    template, parts = plain
    options = [a for a in arguments(call) if a not in parts.values()]
    effects = filter(None, (skipped_effects(site, o, lambda _: False) for o in options))
    skipped = ", ".join(effects)
    if site.settings.side_effects == "remove":
        changes = "the progress bar is gone, in eager too"
        changes += f", and {skipped} is no longer evaluated" if skipped else ""
        return Repair(
            "Iterate without the bar",
            (Replace(call, template, parts),),
            Applicability.UNSAFE,
            changes,
        )
    spelled = torch_name(site, IS_COMPILING)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    return Repair(
        "Iterate without the bar while compiling",
        (*imports, Replace(call, f"({template} if {name}() else $bar)", {**parts, "bar": call})),
        Applicability.UNSAFE if skipped else Applicability.SAFE,
        f"compiled code no longer evaluates {skipped}" if skipped else "",
    )


def _plain(event: SideEffectCall) -> tuple[str, dict[str, ast.expr]] | Decline:
    """What the bar iterates over, as a template with its parts."""
    call = event.call
    outer = event.site.parent(call)
    if not isinstance(outer, (ast.For, ast.comprehension)) or outer.iter is not call:
        return Decline("the bar is used for more than one iteration over it")
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        return Decline("the call unpacks its arguments")
    if event.method == "trange":
        parts: dict[str, ast.expr] = {f"bound{i}": a for i, a in enumerate(call.args)}
        return f"range({', '.join('$' + name for name in parts)})", parts
    named = [k.value for k in call.keywords if k.arg == "iterable"]
    iterable = next(iter((*call.args, *named)), None)
    if iterable is None:
        return Decline("the bar is not put around something to iterate over")
    return "$iterable", {"iterable": iterable}
