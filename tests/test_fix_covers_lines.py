"""A fix covers its line, in the public words of torch, and says nothing twice that it need not."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

import pytest

from tclint.config import Config, Settings
from tclint.fix.apply import fix_files
from tclint.lint.claims import newest_of
from tclint.lint.engine import check_files
from tclint.lint.rule import PRELUDE, Bad, Rule

from .proof.cases import cases, compiles_itself

if TYPE_CHECKING:
    from pathlib import Path

    from tclint.lint.engine import Result


def _is_fixed(_rule: Rule, example: Bad) -> bool:
    return (example.unsafe or example.fixed) is not None


_DOCUMENTED = ("_check", "_foreach_")
"""How names begin that torch documents though they begin with an underscore."""
_OF_MODULES = frozenset({"_buffers", "_modules", "_non_persistent_buffers_set", "_parameters"})


def _private(code: str) -> set[str]:
    """The private names of torch, and of its modules, that a program mentions."""
    return {
        ast.unparse(node)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith(_DOCUMENTED)
        and (node.attr in _OF_MODULES or ast.unparse(node).startswith("torch."))
    }


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_is_fixed))
def test_no_fix_writes_a_private_name(rule: Rule, example: Bad) -> None:
    for code in filter(None, (example.fixed, example.unsafe)):
        assert _private(code) <= _private(example.code), rule.code


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_is_fixed))
def test_no_fix_writes_an_assert_for_eager_and_another_for_compiled_code(
    rule: Rule, example: Bad
) -> None:
    for code in filter(None, (example.fixed, example.unsafe)):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.If) and "is_compiling" in ast.unparse(node.test):
                asserts = [
                    any(
                        isinstance(inner, ast.Assert) for line in branch for inner in ast.walk(line)
                    )
                    for branch in (node.body, node.orelse)
                ]
                assert not all(asserts), rule.code


class _Twice(ast.NodeTransformer):
    """Says what the given lines say twice in one statement."""

    def __init__(self, rows: set[int]) -> None:
        self.rows = rows
        self.done = False

    def _is_meant(self, node: ast.stmt) -> bool:
        meant = not self.rows.isdisjoint(range(node.lineno, (node.end_lineno or 0) + 1))
        self.done = self.done or meant
        return meant

    def visit_Return(self, node: ast.Return) -> ast.Return:
        if node.value is not None and self._is_meant(node):
            node.value = ast.Tuple([node.value, copy.deepcopy(node.value)], ast.Load())
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        if self._is_meant(node):
            node.test = ast.BoolOp(ast.And(), [node.test, copy.deepcopy(node.test)])
        return node


def _results(path: Path, text: str, config: Config) -> tuple[Result, ...]:
    path.write_text(text, encoding="utf-8")
    return check_files([path], config).results


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_is_fixed))
def test_what_is_said_twice_in_a_statement_is_fixed_twice(
    rule: Rule, example: Bad, tmp_path: Path
) -> None:
    path = tmp_path / "example.py"
    config = Config(
        root=tmp_path,
        select=(rule.code,),
        compiled=() if compiles_itself(example.code) else ("*:f",),
        settings=Settings(target_torch=newest_of(example.torch)),
    )
    found = _results(path, PRELUDE + example.code, config)
    twice = _Twice({result.diagnostic.span.start.row for result in found})
    text = ast.unparse(twice.visit(ast.parse(PRELUDE + example.code)))
    if not twice.done or len(_results(path, text, config)) <= len(found):
        return  # the rule is about more than an expression
    path.write_text(text, encoding="utf-8")
    for fixed in fix_files([path], config, unsafe=example.unsafe is not None).changed:
        assert [one.diagnostic.message for one in _results(path, fixed.after, config)] == []
