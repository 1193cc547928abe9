"""Rules from files of a folder, without a package: only where the caller names the folder.

They are code, and they run. So no configuration names them, since whoever sends a repository writes
that; and neither a review nor the editor's server loads any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import Any

from tclint.errors import UserError
from tclint.lint.registry import add_rules
from tclint.lint.rule import Rule

_PREFIX = "tclint_local_rules"


def load_rules_of(folders: list[Path]) -> None:
    """Load the rules of all files in these folders, in the order of their names.

    Raises:
        UserError: a folder is not there, has no rule, or a file of it cannot be loaded.
    """
    for number, folder in enumerate(folders):
        if not folder.is_dir():
            raise UserError(f"--rules {folder}: no such folder")
        found = [
            rule
            for path in sorted(folder.glob("*.py"))
            for rule in _rules_of(_module(path, f"{_PREFIX}_{number}_{path.stem}"))
        ]
        if not found:
            raise UserError(f"--rules {folder}: none of its files has a rule")
        add_rules(found)


def _module(path: Path, name: str) -> ModuleType:
    spec = spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # a rule finds its page beside the file of its module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the file's code runs here: it may raise anything
        del sys.modules[name]
        raise UserError(f"{path}: {type(error).__name__}: {error}") from error
    return module


def _rules_of(module: ModuleType) -> Iterator[Rule[Any]]:
    for value in vars(module).values():
        own = isinstance(value, type) and value.__module__ == module.__name__
        if own and issubclass(value, Rule) and not isabstract(value):
            yield value()
