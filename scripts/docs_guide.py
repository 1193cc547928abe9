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

Start from what you see. `tclint check` names the lines. This page takes you from what torch prints
to the rule that explains it.

- If torch prints an id such as `GB0124`, look it up [below](#by-id).
- If torch prints nothing, run with `TORCH_LOGS=graph_breaks,recompiles`, or run `tclint verify`.
"""
BREAKS = """\
Torch logs `Graph break`, `fullgraph=True` raises, or the compiled model is no faster than before.
Each break ends one compiled graph and starts another, and Python runs in between.
"""
RECOMPILES = """\
Torch logs `Recompiling function`, or warns that it hit `recompile_limit`. After that the function
runs eagerly.
"""
SYNCS = """\
The profile shows gaps between kernels, with `cudaStreamSynchronize` before them.
"""
COPIES = """\
The profile shows `Memcpy HtoD` or `Memcpy DtoH` inside the step.
"""
LAUNCHES = """\
The profile shows kernels that run for less time than their launch takes.
"""
COLD = """\
The first call compiles, and larger graphs take longer to compile.
"""
INVALID = """\
`torch.compile` rejects or ignores its arguments, or compiled code raises where eager code does not.
"""
SYMPTOMS = {
    Effect.GRAPH_BREAK: ("The graph breaks", BREAKS),
    Effect.RECOMPILE: ("It keeps recompiling", RECOMPILES),
    Effect.HOST_SYNC: ("The GPU waits for the CPU", SYNCS),
    Effect.DEVICE_COPY: ("Data moves between host and device in every step", COPIES),
    Effect.LAUNCH_OVERHEAD: ("There are many small kernels", LAUNCHES),
    Effect.COLD_START: ("The first step takes minutes", COLD),
    Effect.INVALID: ("It raises, or has no effect", INVALID),
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
