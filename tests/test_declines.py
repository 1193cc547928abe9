"""Every reason to decline a fix is met by some example or by a file of fixtures/declines."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tclint_rules
from tclint.config import NEWEST_TORCH, Config, Settings
from tclint.fix.apply import fix_files
from tclint.lint import examine
from tclint.lint.claims import newest_of
from tclint.lint.engine import check_files
from tclint.lint.registry import load_rules
from tclint.lint.rule import PRELUDE
from tclint.testing import examples_of

from .proof.cases import compiles_itself

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

RULES = Path(tclint_rules.__file__).parent
FIXTURES = sorted((Path(__file__).parents[1] / "fixtures" / "declines").glob("*.py"))
FOLDERS = sorted(path.parent.name for path in RULES.glob("*/__init__.py"))
REASONS = ("Decline", "Refused")
# Functions that answer with the obstacle itself, or with nothing.
OBSTACLES = re.compile(r"obstacle|prepare|why|lost|refusal|blocks")
EXPECTED = re.compile(r"# (TCL\d+): (.+)$")
TORCH = re.compile(r"^# target-torch: (\d+)\.(\d+)", re.MULTILINE)
OLDEST = re.compile(r"^# min-torch: (\d+)\.(\d+)", re.MULTILINE)

Lines = dict[str, set[int]]


def _config(path: Path) -> Config:
    text = path.read_text(encoding="utf-8")
    torch, oldest = TORCH.search(text), OLDEST.search(text)
    settings = Settings(
        target_torch=(int(torch[1]), int(torch[2])) if torch else NEWEST_TORCH,
        min_torch=(int(oldest[1]), int(oldest[2])) if oldest else None,
    )
    return Config(root=path.parent, compiled=("*:*",), weak=True, settings=settings)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_fixture_is_declined_for_the_reasons_that_it_names(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    expected = {
        (number, found[1], found[2])
        for number, line in enumerate(copy.read_text(encoding="utf-8").splitlines(), 1)
        if (found := EXPECTED.search(line))
    }
    said = {
        (result.diagnostic.span.start.row, result.diagnostic.code, result.diagnostic.declined)
        for result in check_files([copy], _config(copy)).results
    }
    unheard = [
        (row, code, reason, heard)
        for row, code, reason in sorted(expected)
        for heard in [[d.reason for r, c, d in said if (r, c) == (row, code) and d is not None]]
        if not any(reason in text for text in heard)
    ]
    assert unheard == []
    fixed = {
        (fix.diagnostic.span.start.row, fix.diagnostic.code)
        for file in fix_files([copy], _config(copy), unsafe=True).changed
        for fix in file.fixes
    }
    assert fixed.isdisjoint({(row, code) for row, code, _ in expected})


def test_every_reason_to_decline_is_met(tmp_path: Path) -> None:
    seen = _lines_run(tmp_path)
    missed = [
        f"rules/{name}:{first}: {text}"
        for folder in FOLDERS
        for path in sorted((RULES / folder).rglob("*.py"))
        for name in [path.relative_to(RULES).as_posix()]
        for first, last, text in _reasons(ast.parse(path.read_text(encoding="utf-8")))
        if seen[name].isdisjoint(range(first, last + 1))
    ]
    assert not missed, "never met by an example or a fixture:\n" + "\n".join(missed)


def _lines_run(folder: Path) -> Lines:
    """The lines of the rules that run while all examples and fixtures are checked."""
    seen: Lines = defaultdict(set)
    with pytest.MonkeyPatch.context() as patch:
        # Rules are traced, and what they call; to trace the analysis would take longest of all.
        patch.setattr(examine, "_asked", _traced(examine._asked, seen))
        for rule in load_rules():
            for example in examples_of(rule):
                path = folder / "example.py"
                path.write_text(PRELUDE + example.code, encoding="utf-8")
                compiled = () if compiles_itself(example.code) else ("*:f",)
                settings = Settings(target_torch=newest_of(example.torch))
                config = Config(folder, select=(rule.code,), compiled=compiled, settings=settings)
                check_files([path], config)
        for path in FIXTURES:
            check_files([path], _config(path))
    return seen


def _traced(ask: Callable[..., Any], seen: Lines) -> Callable[..., Any]:
    """A way to ask a rule that writes down which of its lines run."""

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        del event, argument
        file = frame.f_code.co_filename
        if not file.startswith(f"{RULES}/"):
            return None
        lines = seen[file[len(f"{RULES}/") :]]

        def step(inner: FrameType, event: str, argument: object) -> Any:
            del event, argument
            lines.add(inner.f_lineno)
            return step

        return step

    def asked(*arguments: Any) -> Any:
        before = sys.gettrace()
        sys.settrace(enter)
        try:
            return ask(*arguments)
        finally:
            sys.settrace(before)

    return asked


def _reasons(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """The first and last line of everything that makes a reason, or hands one on, and its text."""
    constants = {
        target.id
        for statement in tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
        if _makes_reason(statement.value)
        for target in (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        )
        if isinstance(target, ast.Name)
    }
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        for node in ast.walk(statement):
            handed_on = isinstance(node, ast.Name) and node.id in constants
            if _makes_reason(node) or handed_on:
                assert isinstance(node, ast.expr)
                yield node.lineno, node.end_lineno or node.lineno, ast.unparse(node)
            if isinstance(node, ast.FunctionDef) and OBSTACLES.search(node.name):
                yield from _texts_returned(node)


def _makes_reason(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Name) and node.func.id in REASONS
    )


def _texts_returned(function: ast.FunctionDef) -> Iterator[tuple[int, int, str]]:
    for node in ast.walk(function):
        match node:
            case ast.Return(value=ast.JoinedStr() | ast.Constant(value=str()) as text):
                if ast.unparse(text) != "''":
                    yield text.lineno, text.end_lineno or text.lineno, ast.unparse(text)
