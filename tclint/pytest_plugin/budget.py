"""The ratchet: what tests are known to do beyond their limits, which may only become less."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from tclint.files import read_text
from tclint.json_text import parse_json
from tclint.pytest_plugin.limits import NAMES, Counts
from tclint.records import record
from tclint.source.write import write_text

FILE = ".tclint-budget.json"
_VERSION = 1


class BudgetError(Exception):
    """The file holds no budget; the message says where, and what to do."""


@record(frozen=True)
class Budget:
    """The tests by their ids."""

    tests: Mapping[str, Counts] = field(default_factory=dict)


def read_budget(path: Path) -> Budget:
    """Read the file; without one there are no exceptions.

    Raises:
        BudgetError: it cannot be read.
    """
    if not path.exists():
        return Budget()
    try:
        tests = parse_json(read_text(path))["tests"]
        return Budget({name: Counts.from_dict(counts) for name, counts in tests.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BudgetError(
            f"{path}: not a budget that tclint wrote ({error}); delete it, and write it again with "
            "--tclint-update"
        ) from error


def write_budget(path: Path, old: Budget, seen: Mapping[str, Counts]) -> None:
    """Write what the tests did, nowhere more than it said; tests that did not run stay.

    A test that is new may have any number, so that a ratchet can be put on what there is.
    """
    tests = dict(old.tests)
    for name, counts in seen.items():
        known = old.tests.get(name)
        tests[name] = counts if known is None else _less(known, counts)
    data = {name: counts.as_dict() for name, counts in sorted(tests.items())}
    text = json.dumps({"version": _VERSION, "tests": data}, indent=2) + "\n"
    if path.exists():
        write_text(path, text, "utf-8")
    else:
        path.write_text(text, encoding="utf-8")


def _less(known: Counts, now: Counts) -> Counts:
    lower: dict[str, int] = {}
    for name in NAMES:
        both = getattr(known, name), getattr(now, name)
        if values := [value for value in both if value is not None]:
            lower[name] = min(values)
    return Counts.from_dict(lower)
