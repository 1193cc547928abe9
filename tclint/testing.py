"""For the tests of rule packs: whether a rule's examples do what they say, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tclint.config import Config, Settings
from tclint.fix.apply import fix_files
from tclint.lint.claims import newest_of
from tclint.lint.engine import check_files
from tclint.lint.pages import read_page
from tclint.lint.rule import PRELUDE, Bad, Example, Good, Rule, Untouched

if TYPE_CHECKING:
    from tclint.diagnostics import Diagnostic


def examples_of(rule: Rule[Any]) -> tuple[Example, ...]:
    """All examples of a rule: those of its page, the ones that are not printed as well.

    Raises:
        PageError: the file of the page cannot be understood.
    """
    page = read_page(type(rule))
    return (*page.examples, *page.more)


def check_example(rule: Rule[Any], example: Example, folder: Path) -> None:
    """Check one example in an empty folder; the rule's pack must be installed.

    Raises:
        AssertionError: the rule reports, or its fixes make, something else than the example says.
    """
    if isinstance(example, Good):
        found = findings(rule, example.code, folder, example.torch)
        assert not found, f"{rule.code} reports what it should not: {found[0].message}"
        return
    found = findings(rule, example.code, folder, example.torch)
    assert found, f"{rule.code} does not report:\n{example.code}"
    if isinstance(example, Bad):
        _check_fix(rule, example, example.fixed, folder, unsafe=False)
        if example.unsafe is not None:
            _check_fix(rule, example, example.unsafe, folder, unsafe=True)
    if isinstance(example, Untouched):
        _check_fix(rule, example, None, folder, unsafe=True)
        reasons = [one.declined.reason for one in found if one.declined is not None]
        told = any(example.reason in reason for reason in reasons)
        assert told or not example.reason, f"{rule.code} declines for another reason: {reasons}"


def findings(rule: Rule[Any], code: str, folder: Path, torch: str = "") -> list[Diagnostic]:
    """What a rule reports of a module whose function or class ``f`` is compiled.

    For the newest torch, or the newest of those that ``torch`` names as an example does.
    """
    run = check_files([_write(code, folder)], _config(rule, code, folder, torch))
    assert not run.errors, run.errors[0]
    return [result.diagnostic for result in run.results]


def _check_fix(
    rule: Rule[Any], example: Example, wanted: str | None, folder: Path, *, unsafe: bool
) -> None:
    config = _config(rule, example.code, folder, example.torch)
    run = fix_files([_write(example.code, folder)], config, unsafe=unsafe)
    after = run.changed[0].after.removeprefix(PRELUDE) if run.changed else None
    assert after == wanted, f"{rule.code}: the fix makes:\n{after}\ninstead of:\n{wanted}"


def _write(code: str, folder: Path) -> Path:
    path = folder / "example.py"
    path.write_text(PRELUDE + code, encoding="utf-8")
    return path


def _config(rule: Rule[Any], code: str, folder: Path, torch: str) -> Config:
    compiled = () if "compile(" in code else ("*:f",)
    settings = Settings(target_torch=newest_of(torch))
    return Config(folder, select=(rule.code,), compiled=compiled, settings=settings)
