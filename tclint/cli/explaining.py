"""What ``tclint rule`` prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from string import ascii_letters
from typing import Any

from tclint.cli.terminal import fail
from tclint.gone import CODES, gone
from tclint.lint.pages import page_of
from tclint.lint.rule import Example, Good, Rule, Untouched
from tclint.printable import json_text
from tclint.report.page import fix_kinds, page, usual_worth
from tclint.torch_facts.dynamo_settings import with_needed


def pick(rules: Sequence[Rule[Any]], given: str) -> Rule[Any]:
    """The rule of a code or name, however it is capitalised."""
    wanted = given.lower()
    named = {
        key.lower(): rule for rule in rules for key in (*rule.former_names, rule.name, rule.code)
    }
    if wanted not in named:
        codes = list(dict.fromkeys(named[key].code for key in _near(wanted, named)))[:3]
        hint = f"did you mean {' or '.join(codes)}?" if codes else "`tclint rule` lists all"
        fail(f"unknown rule `{given}`{gone(given.upper(), CODES) or f'; {hint}'}")
    return named[wanted]


def _near(wanted: str, named: Iterable[str]) -> list[str]:
    """What may be meant; codes with other numbers look alike and mean something else."""
    begun = [key for key in named if key.startswith(wanted)]
    number = wanted.lstrip(ascii_letters)
    if begun or not number.isdecimal():
        return begun or get_close_matches(wanted, named, n=3, cutoff=0.5)
    return [key for key in named if key.lstrip(ascii_letters) == number]


def list_rules(rules: Sequence[Rule[Any]]) -> str:
    """One line a rule: code, name, summary."""
    wide = max((len(rule.name) for rule in rules), default=0)
    return "".join(f"{rule.code}  {rule.name:<{wide}}  {rule.summary}\n" for rule in rules)


def explain_rules(rules: Sequence[Rule[Any]], *, as_json: bool, single: bool) -> str:
    """The rules' pages, or their JSON: one object for a single rule, else a list."""
    if not as_json:
        return "\n".join(page(rule) for rule in rules)
    objects = [_object(rule) for rule in rules]
    return json_text(objects[0] if single else objects) + "\n"


def _object(rule: Rule[Any]) -> dict[str, object]:
    told = page_of(rule)
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "effects": [effect.value for effect in rule.effects],
        "worth": usual_worth(rule).value,
        "measured": rule.measured or None,
        "gb_ids": list(rule.gb_ids),
        "fix": fix_kinds(rule),
        "settings": [one.dotted for one in with_needed(rule.settings)],
        "explanation": told.text,
        "examples": [_example(example) for example in told.examples],
    }


def _example(example: Example) -> dict[str, str | None]:
    if isinstance(example, Good):
        return {"kind": "good", "title": example.title, "code": example.code}
    shown: dict[str, str | None] = {"title": example.title, "code": example.code}
    if isinstance(example, Untouched):
        return {"kind": "untouched", **shown, "reason": example.reason}
    return {"kind": "bad", **shown, "fixed": example.fixed, "unsafe": example.unsafe}
