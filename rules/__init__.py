"""tclint's built-in rules, registered like any third party's pack.

Each rule is a file of its own in the folder of its category; being there is its registration.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import GenericAlias, ModuleType
from typing import Any

from tclint.lint.rule import Rule


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for info in iter_modules(package.__path__, f"{package.__name__}."):
        module = import_module(info.name)
        yield module
        if info.ispkg:
            yield from _modules(module)


def _rules() -> Iterator[type[Rule[Any]]]:
    for module in _modules(import_module(__name__)):
        for value in vars(module).values():
            # To Python 3.10 an alias such as list[str] is a type, but no class.
            if isinstance(value, GenericAlias) or not isinstance(value, type):
                continue
            # Asked last: an abstract class takes its time to answer, and most classes are no rules.
            if "code" in vars(value) and issubclass(value, Rule):
                yield value


RULES: tuple[type[Rule[Any]], ...] = tuple(
    sorted(dict.fromkeys(_rules()), key=lambda rule: rule.code)
)
