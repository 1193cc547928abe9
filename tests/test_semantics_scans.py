"""What the analysis looks for in text and syntax before it walks anything."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclint.semantics.collect import collect_module
from tclint.semantics.interpreter.run import _capitalized_calls, _covers, _setup_rows
from tclint.semantics.lattice import join
from tclint.semantics.symbols import parameters_of
from tclint.semantics.syntax import nodes
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    DType,
    External,
    Static,
    SymInt,
    Tensor,
    Union,
    Value,
    constant,
)
from tclint.source.file import SourceFile

HERE = Path(__file__)


def test_nodes_are_those_of_ast_walk_in_its_order_without_marks() -> None:
    tree = ast.parse(HERE.read_text(encoding="utf-8"))
    assert nodes(tree) == [n for n in ast.walk(tree) if not isinstance(n, ast.expr_context)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_offset_is_on_the_row_that_the_parser_counts(end: str) -> None:
    file = SourceFile.from_text(Path("m.py"), end.join(["a", "", "bc\x0c", "d"]))
    assert [file.row(file.text.index(word)) for word in ("a", "bc", "d")] == [1, 3, 4]
    assert file.lines == ["a" + end, end, "bc\x0c" + end, "d"]


WORDS = st.sampled_from(
    ["A(", "_Bc(", "fooBar(", "x(", "class A(B):", "É(", "AÉ9(", " ", "\n", "("]
)


@given(st.lists(WORDS, max_size=20).map("".join))
def test_names_that_are_called_are_found_backwards_as_they_are_forwards(text: str) -> None:
    file = SourceFile.from_text(Path("m.py"), text)
    module = collect_module("m", file, ast.parse("class A:\n    pass\n"))
    calls = re.finditer(r"([A-Z]\w*)\(", text)
    expected = [(text.count("\n", 0, call.start()) + 1, call[1]) for call in calls]
    assert _capitalized_calls(module) == sorted(call for call in expected if call != (1, "A"))


@pytest.mark.parametrize(
    ("line", "sets_up"),
    [
        ("model = torch.compile(model)", True),
        ("self.maybe_compile(model)", True),
        ("optimizer.step()", True),
        ("torch._dynamo.config.verbose = True", True),
        ("pattern = re.compile(text)", False),
        ("if cache.is_compileable:", False),
        ("spm = Precompiled(charsmap)", False),
        ("precompiled_charsmap = spm", False),
        ("an_optimized_or_optimal_one = best", False),
        ("    # compiled by torch.compile", False),
        ("run(model)  # torch.compile comes later", True),
    ],
)
def test_rows_that_may_set_something_up(line: str, sets_up: bool) -> None:
    file = SourceFile.from_text(Path("m.py"), f"x = 1\n{line}\n")
    assert _setup_rows(file) == ([2] if sets_up else [])


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ('def f():\n    """Compile."""\n    return 1\n', []),
        ('def f():\n    """Compile.\n\n    compile\n    """\n    compile()\n', ["f"]),
        ('def compile_it():\n    """Do."""\n    return 1\n', ["compile_it"]),
        ("def f():\n    return 1\n\n\ndef g():\n    compile()\n", ["g"]),
        ("f = lambda: compile()\n", []),
    ],
)
def test_functions_with_code_on_a_row(text: str, covered: list[str]) -> None:
    rows = [n for n, line in enumerate(text.splitlines(), 1) if "ompile" in line]
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in functions if _covers(node, rows)] == covered


def test_parameters_come_with_their_defaults() -> None:
    text = "def f(a, b, /, c=1, d=2, *rest, e, g=3, **more): pass"
    [function] = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    named = [
        (argument.arg, default.value if isinstance(default, ast.Constant) else None)
        for argument, default in parameters_of(function)
    ]
    assert named == [("a", None), ("b", None), ("c", 1), ("d", 2), ("e", None), ("g", 3)]


TENSORS = [
    Tensor(2, DType("float32", "float")),
    Tensor(2, DType("int64", "int")),
    Tensor(None, None, "cpu"),
]
STATICS = [constant(1), constant(2), constant("a"), Static("int"), STATIC]
OTHERS: list[Value] = [NONE, UNKNOWN, SymInt(), External("a.b")]


def options_of(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Union) else (value,)


@given(st.lists(st.sampled_from([*TENSORS, *STATICS, *OTHERS]), min_size=1, max_size=6))
def test_joining_keeps_one_tensor_and_one_constant(values: list[Value]) -> None:
    joined = options_of(join(values))
    assert len({*joined}) == len(joined)
    for kind, given_ones in ((Tensor, TENSORS), (Static, STATICS)):
        kept = [v for v in joined if type(v) is kind and v is not NONE]
        assert len(kept) == (not {*values}.isdisjoint(given_ones))
    assert {v for v in joined if v in OTHERS} == {v for v in values if v in OTHERS}
    assert join([join(values[:1]), join(values)]) == join(values)
