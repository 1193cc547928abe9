"""The rules that are installed: the built-in pack and any third party's, by one entry point."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, overload

from tclint.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from tclint.lint.rule import Rule

GROUP: Final = "tclint.rules"
BUILTIN: Final = "builtin"


_local: Final[list[Rule[Any]]] = []
"""Rules that came from files, and from no pack."""


class UnknownRuleError(LookupError):
    """Raised for a code that no installed rule has."""


@cache
def load_rules() -> tuple[Rule[Any], ...]:
    """One instance of every installed rule, by code.

    A pack that cannot be loaded is left out with one warning; a code that two packs claim stays
    with the first.

    Raises:
        UserError: tclint's own rules cannot be loaded.
    """
    return tuple(rule for _, rule in _loaded().values())


def add_rules(rules: Iterable[Rule[Any]]) -> None:
    """Have these rules as well, from now on.

    Raises:
        UserError: a code is taken.
    """
    for rule in rules:
        if any(rule.code == known.code for known in known_rules()):
            raise UserError(
                f"{rule.code} exists already: give `{type(rule).__name__}` another code"
            )
        _local.append(rule)
        load_rules.cache_clear()
        _loaded.cache_clear()


def codes_by_name() -> dict[str, str]:
    """The code of each rule by its name, and by the names that it had before."""
    return {name: rule.code for rule in known_rules() for name in (*rule.former_names, rule.name)}


def pack_of(code: str) -> EntryPoint | None:
    """The pack that a rule comes from; None for the engine's own, and for those of files."""
    entry, _ = _loaded().get(code, (None, None))
    return entry


@cache
def _loaded() -> dict[str, tuple[EntryPoint | None, Rule[Any]]]:
    found: dict[str, tuple[EntryPoint | None, Rule[Any]]] = {}
    for entry in rule_packs():
        for rule in _load(entry):
            found.setdefault(rule.code, (entry, rule))
    found |= {rule.code: (None, rule) for rule in _local}
    return dict(sorted(found.items()))


def known_rules() -> tuple[Rule[Any], ...]:
    """All rules that can be selected and explained: the engine's own before the installed ones."""
    from tclint.lint.file_rules import OWN

    return (*OWN, *load_rules())


class KnownRules(Sequence["Rule[Any]"]):
    """The known rules, loaded when somebody looks: many reports name none."""

    @overload
    def __getitem__(self, index: int) -> Rule[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Rule[Any]]: ...
    def __getitem__(self, index: int | slice) -> Rule[Any] | Sequence[Rule[Any]]:
        return known_rules()[index]

    def __len__(self) -> int:
        return len(known_rules())


def rule_packs() -> list[EntryPoint]:
    """The installed rule packs, the built-in one first."""
    # With the parsers that it needs, this takes as long to import as all else for a warm run.
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda entry: entry.name != BUILTIN)


def rule_by_code(code: str) -> Rule[Any]:
    """The rule with this code.

    Raises:
        UnknownRuleError: no installed rule has it.
    """
    for rule in known_rules():
        if rule.code == code.upper():
            return rule
    raise UnknownRuleError(code)


def _load(entry: EntryPoint) -> list[Rule[Any]]:
    try:
        return [cls() for cls in entry.load()]
    except Exception as error:  # the pack's code runs here: it may raise anything
        if entry.name == BUILTIN:
            # Without them nearly everything would pass.
            raise UserError(f"tclint's own rules cannot be loaded: {_place(error)}") from error
        pack = f"the rule pack {entry.name!r} ({entry.value})"
        message = f"tclint: {pack} cannot be loaded: {_place(error)}; its rules do not run"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return []


def _place(error: Exception) -> str:
    """What went wrong, with the line where that is known."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}"
