"""The rules that are installed: the built-in pack and any third party's, by one entry point."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, overload

from tclint.errors import UserError
from tclint.lint.packs import Pack, installed_packs

if TYPE_CHECKING:
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


def pack_of(code: str) -> Pack | None:
    """The pack that a rule comes from; None for the engine's own, and for those of files."""
    pack, _ = _loaded().get(code, (None, None))
    return pack


@cache
def _loaded() -> dict[str, tuple[Pack | None, Rule[Any]]]:
    found: dict[str, tuple[Pack | None, Rule[Any]]] = {}
    for pack in rule_packs():
        for rule in _load(pack):
            found.setdefault(rule.code, (pack, rule))
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


def rule_packs() -> list[Pack]:
    """The installed rule packs, the built-in one first."""
    return sorted(installed_packs(GROUP), key=lambda pack: pack.name != BUILTIN)


def rule_by_code(code: str) -> Rule[Any]:
    """The rule with this code.

    Raises:
        UnknownRuleError: no installed rule has it.
    """
    for rule in known_rules():
        if rule.code == code.upper():
            return rule
    raise UnknownRuleError(code)


def _load(pack: Pack) -> list[Rule[Any]]:
    try:
        return [cls() for cls in pack.load()]
    except Exception as error:  # the pack's code runs here: it may raise anything
        if pack.name == BUILTIN:
            # Without them nearly everything would pass.
            raise UserError(f"tclint's own rules cannot be loaded: {_place(error)}") from error
        named = f"the rule pack {pack.name!r} ({pack.value})"
        message = f"tclint: {named} cannot be loaded: {_place(error)}; its rules do not run"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return []


def _place(error: Exception) -> str:
    """What went wrong, with the line where that is known."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}"
