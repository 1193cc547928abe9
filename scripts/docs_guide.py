"""The guide by symptom and by torch's graph-break id, made of the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tclint.diagnostics import Effect
from tclint.lint.links import graph_break_page
from tclint.lint.rule import Rule

HEAD = """\
# Why did my model break?

Start with what you see. `tclint check` names the lines; this page leads from what torch tells you
to the rules that explain it.

- Torch prints an id, such as `GB0124`: look it up [below](#by-id).
- Nothing is printed: run with `TORCH_LOGS=graph_breaks,recompiles`, or let `tclint verify` do it.
"""
BREAKS = """\
Torch logs `Graph break`, `fullgraph=True` raises, or a compiled model is no faster than before.
Each break ends one compiled graph and begins another, with Python in between.
"""
RECOMPILES = """\
Torch logs `Recompiling function`, or warns that `recompile_limit` is reached; after that the
function runs eagerly.
"""
SYNCS = """\
A profile shows gaps between kernels, and `cudaStreamSynchronize` in front of them.
"""
COPIES = """\
A profile shows `Memcpy HtoD` or `Memcpy DtoH` within the step.
"""
LAUNCHES = """\
A profile shows kernels that take less time than their launch.
"""
COLD = """\
The first call compiles. What makes graphs large makes it long.
"""
INVALID = """\
`torch.compile` rejects its arguments or ignores them, or compiled code raises where eager code does
not.
"""
SYMPTOMS = {
    Effect.GRAPH_BREAK: ("The graph breaks", BREAKS),
    Effect.RECOMPILE: ("It compiles again and again", RECOMPILES),
    Effect.HOST_SYNC: ("The GPU waits for the CPU", SYNCS),
    Effect.DEVICE_COPY: ("Data moves between host and device in every step", COPIES),
    Effect.LAUNCH_OVERHEAD: ("There are many small kernels", LAUNCHES),
    Effect.COLD_START: ("The first step takes minutes", COLD),
    Effect.INVALID: ("It raises, or does not do what it says", INVALID),
}


def guide_page(rules: Sequence[Rule[Any]]) -> str:
    """The whole page."""
    parts = [HEAD, "## By symptom\n"]
    for effect, (title, text) in SYMPTOMS.items():
        found = [rule for rule in rules if effect in rule.effects]
        if found:
            parts.append(f"### {title}\n\n{text}\n{_rules(found)}")
    parts.append(f"## By id\n\n{_ids(rules)}")
    return "\n".join(parts)


def _rules(rules: Iterable[Rule[Any]]) -> str:
    rows = [f"| {_link(rule)} | {_text(rule.summary)} |" for rule in rules]
    return "\n".join(["| rule | what it finds |", "| --- | --- |", *rows]) + "\n"


def _ids(rules: Iterable[Rule[Any]]) -> str:
    by_id: dict[str, list[Rule[Any]]] = defaultdict(list)
    for rule in rules:
        for gb_id in rule.gb_ids:
            by_id[gb_id].append(rule)
    rows = [
        f"| [{gb_id}]({graph_break_page(gb_id)}) | "
        + "; ".join(f"{_link(rule)} {_text(rule.summary)}" for rule in found)
        + " |"
        for gb_id, found in sorted(by_id.items())
    ]
    return "\n".join(["| torch's id | rules |", "| --- | --- |", *rows]) + "\n"


def _link(rule: Rule[Any]) -> str:
    return f"[{rule.code}](rules/{rule.code}.md)"


def _text(summary: str) -> str:
    return summary.replace("|", "\\|")
