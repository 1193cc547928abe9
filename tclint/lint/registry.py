"""The rules that are installed: the built-in pack and any third party's, by one entry point."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from tclint.lint.rule import Rule

GROUP: Final = "tclint.rules"


class UnknownRuleError(LookupError):
    """Raised for a code that no installed rule has."""


@cache
def load_rules() -> tuple[Rule[Any], ...]:
    """One instance of every installed rule, by code.

    A pack that cannot be loaded is left out with one warning; a code that two packs claim stays
    with the first.
    """
    found: dict[str, Rule[Any]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name != "builtin"):
        for rule in _load(entry):
            found.setdefault(rule.code, rule)
    return tuple(found[code] for code in sorted(found))


def rule_by_code(code: str) -> Rule[Any]:
    """The rule with this code.

    Raises:
        UnknownRuleError: no installed rule has it.
    """
    for rule in load_rules():
        if rule.code == code.upper():
            return rule
    raise UnknownRuleError(code)


def _load(entry: EntryPoint) -> list[Rule[Any]]:
    try:
        classes = entry.load()
        return [cls() for cls in classes]
    except (ImportError, AttributeError, TypeError, SyntaxError) as error:
        message = f"tclint: the rule pack {entry.name!r} ({entry.value}) cannot be loaded: {error}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return []
