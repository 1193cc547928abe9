"""What the figures of the core count."""

from __future__ import annotations

import ast
import textwrap

import pytest

from scripts.core_figures import Figures, lists, main, of_source


def found(text: str) -> Figures:
    return of_source(textwrap.dedent(text))


def test_a_look_at_the_syntax_tree_counts_once_for_each_question() -> None:
    text = """
        def kind(node):
            if isinstance(node, ast.Name | ast.Attribute) or isinstance(node, CALL):
                return 1
            match node:
                case ast.Call(func=ast.Name()) | ast.Await():
                    return 2
                case int():
                    return 3
            return isinstance(node, int)
    """
    assert found(text).looks == 3


def test_a_function_that_calls_itself_counts_where_it_looks() -> None:
    looks = """
        def depth(node):
            return depth(node.value) + 1 if isinstance(node, ast.Attribute) else 0
        def factorial(n):
            return n * factorial(n - 1) if n else 1
    """
    assert found(looks).recursive == 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('frozenset("tanh exp log2 here".split())', ["tanh", "exp", "log2"]),
        ('{"torch.exp": 1, "torch.log": 2, "torch.tanh": 3}', ["torch.exp", "torch.log"]),
        ('[["exp", "log"], ["tanh"]]', ["exp", "log", "tanh"]),
        ('("int", "float", "bool")', []),
        ('("exp", "log")', []),
        ('"exp log tanh of the words of a sentence are few"', []),
    ],
)
def test_names_of_torch_that_are_written_out_are_a_list(text: str, names: list[str]) -> None:
    rows = [found for _, found in lists(ast.parse(text))]
    assert [name for row in rows for name in row][: len(names)] == names
    assert bool(rows) == bool(names)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tclint/torch_facts"]) == 0
    (_, _, row) = capsys.readouterr().out.splitlines()
    assert row.startswith("| tclint/torch_facts |")
