"""Options of single rules: what the configuration may say, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from tclint.config_keys import ConfigError, nearest, nearest_code
from tclint.records import record

if TYPE_CHECKING:
    from tclint.config import Config

Value = bool | int | float | str | tuple[str, ...]


@record(frozen=True)
class Option:
    """An option that a rule declares; a value is of the default's type."""

    name: str
    default: Value
    doc: str

    @property
    def type(self) -> str:
        """The type in words for people."""
        return "list of strings" if isinstance(self.default, tuple) else type(self.default).__name__


class HasOptions(Protocol):
    """A rule, as far as its options go."""

    @property
    def code(self) -> str:
        """What the configuration calls it."""

    @property
    def options(self) -> Sequence[Option]:
        """What it declares."""


def check_options(config: Config, rules: Iterable[HasOptions]) -> None:
    """Check that every option set belongs to a rule that has it, and is of its type.

    Raises:
        ConfigError: one does not, or is not.
    """
    by_code = {rule.code: rule for rule in rules}
    for code, name, value in config.settings.options:
        where = f"{config.source or 'command line'}: rules.{code}"
        rule = by_code.get(code)
        if rule is None:
            raise ConfigError(
                f"{where}: no rule has the code {code!r}{nearest_code(code, by_code)}"
            )
        declared = {option.name: option for option in rule.options}
        if name not in declared:
            hint = nearest(name, declared) or f" (it has {', '.join(declared) or 'none'})"
            raise ConfigError(f"{where}: {code} has no option {name!r}{hint}")
        option = declared[name]
        if type(value) is not type(option.default):
            raise ConfigError(f"{where}.{name}: expected {option.type}, got {value!r}")
