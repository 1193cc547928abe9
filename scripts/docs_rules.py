"""The table of all rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from tclint.lint.rule import Rule
from tclint.report.page import fix_kinds

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

A *safe* fix is proved to keep what eager code does. An *unsafe* fix may change something, and says
what.
"""


def rules_table(rules: Sequence[Rule[Any]]) -> str:
    """One table a hundred, every code linked to its page."""
    hundreds = groupby(rules, key=lambda rule: rule.code.removeprefix(PREFIX)[:1])
    return "\n".join([HEAD, *(_section(hundred, group) for hundred, group in hundreds)])


def _section(hundred: str, rules: Iterable[Rule[Any]]) -> str:
    lines = [
        f"## {PREFIX}{hundred}xx: {SECTIONS[hundred]}",
        "",
        "| code | name | what it finds | effect | fix |",
        "| --- | --- | --- | --- | --- |",
        *map(_row, rules),
    ]
    return "\n".join(lines) + "\n"


def _row(rule: Rule[Any]) -> str:
    effects = ", ".join(effect.value for effect in rule.effects)
    summary = rule.summary.replace("|", "\\|")
    return (
        f"| [{rule.code}](rules/{rule.code}.md) | `{rule.name}` | {summary} | {effects} |"
        f" {fix_kinds(rule)} |"
    )
