"""The table of all rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from tclint.lint.rule import Rule
from tclint.report.page import fix_kinds, only_for, usual_worth

SECTIONS = {
    "0": "tclint's own",
    "1": "Graph breaks",
    "2": "Recompiles",
    "3": "Host syncs and copies",
    "4": "Calls of `torch.compile`",
    "5": "Optimizers and training steps",
    "6": "Idioms",
    "7": "CUDA graphs",
}
PREFIX = "TCL"
HEAD = """\
# Rules

A *safe* fix leaves the same bits, an *unsafe* one names [how far the program may
differ](fixing.md#safe-and-unsafe) and in what.

What removing the effect is *worth* is measured, and the rule's page has the figure: a *hint* saves
under 1% of a step in most programs and is [weak](configuration.md#weak), *low* is under 5% or comes
once, *medium* under 20%, *high* more, or the code does not do what it says.
With a question mark nobody has measured it; the worth is taken to be that of the effect.

<div id="rule-filter"></div>
"""


def rules_table(rules: Sequence[Rule[Any]]) -> str:
    """One table a hundred, every code linked to its page."""
    hundreds = groupby(rules, key=lambda rule: rule.code.removeprefix(PREFIX)[:1])
    return "\n".join([HEAD, *(_section(hundred, group) for hundred, group in hundreds)])


def _section(hundred: str, rules: Iterable[Rule[Any]]) -> str:
    lines = [
        f"## {PREFIX}{hundred}xx: {SECTIONS[hundred]}",
        "",
        "| code | name | what it finds | effect | worth | fix | torch |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *map(_row, rules),
    ]
    return "\n".join(lines) + "\n"


def _row(rule: Rule[Any]) -> str:
    effects = ", ".join(effect.value for effect in rule.effects)
    summary = rule.summary.replace("|", "\\|")
    return (
        f"| [{rule.code}](rules/{rule.code}.md) | `{rule.name}` | {summary} | {effects} |"
        f" {usual_worth(rule).value}{'' if rule.measured else '?'} | {fix_kinds(rule)} |"
        f" {only_for(rule) or 'any'} |"
    )
