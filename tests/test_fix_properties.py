"""Whatever the program: fixing changes what it says it changes, and nothing else."""

from __future__ import annotations

import ast
import copy
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")

from hypothesis import given, settings
from hypothesis import strategies as st

from tclint.diagnostics import Decline
from tclint.fix.conflicts import apply_edits
from tclint.fix.edits import edits_for
from tclint.lint.repair import placed
from tclint.lint.rewrite import Repair, Replace
from tclint.source.file import SourceFile

ATOMS = st.sampled_from(["a", "b.c", "1", "2.5", "'é'", "f(x)", "x[0]", "None", "()", "[]"])


def _combine(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(
            "({} {} {})".format, inner, st.sampled_from("+ - * / ** // % @ | &".split()), inner
        ),
        st.builds("{} {} {}".format, inner, st.sampled_from(["and", "or"]), inner).map(
            "({})".format
        ),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("{}({}, k={})".format, st.just("g"), inner, inner),
        st.builds("(-{})".format, inner),
        st.builds("(not {})".format, inner),
        st.builds("({}, {})".format, inner, inner),
        st.builds("[\n  {},  # one\n  {}\n]".format, inner, inner),
        st.builds("({} < {})".format, inner, inner),
        st.builds("{{'k': {}}}".format, inner),
        st.builds("(lambda q: {})".format, inner),
    )


EXPRESSIONS = st.recursive(ATOMS, _combine, max_leaves=6)
LINES = st.one_of(
    st.builds("y = {}".format, EXPRESSIONS),
    st.builds("return {}".format, EXPRESSIONS),
    st.builds("if {}: pass".format, EXPRESSIONS),
    st.builds("z = {}; w = {}  # end".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("x[{}] += {}".format, EXPRESSIONS, EXPRESSIONS),
    st.just("# comment"),
)
TEMPLATES = st.sampled_from(
    ["f($e)", "$e + 1", "2 * $e", "-$e", "$e ** 2", "$e.t()", "[$e, $e]", "not $e", "$e or q", "u"]
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    indent = draw(st.sampled_from(["    ", "\t", " "]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [*draw(st.lists(LINES, min_size=1, max_size=4)), "pass"]
    text = "class A:\n" + indent + "def m(self):\n"
    text += "".join(indent * 2 + line + "\n" for line in lines)
    return ("# head é\n" + text + "tail = 1").replace("\n", end)


def _places(tree: ast.Module) -> list[ast.expr]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    ]


class _Expected(ast.NodeTransformer):
    """Makes the same rewriting on CPython's tree."""

    def __init__(self, node: ast.expr, template: str) -> None:
        self._node = node
        self._template = ast.parse(template.replace("$e", "_E_"), mode="eval").body

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._node:
            return _Filled(node).visit(self._template)
        return super().generic_visit(node)


class _Filled(ast.NodeTransformer):
    def __init__(self, part: ast.AST) -> None:
        self._part = part

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self._part) if node.id == "_E_" else node


class _Flat(ast.NodeTransformer):
    """Writes ``(a or b) or c`` as ``a or b or c``, which is the same."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first = node.values[0]
        if isinstance(first, ast.BoolOp) and type(first.op) is type(node.op):
            node.values[:1] = first.values
        return node


def _meaning(tree: ast.AST) -> str:
    return ast.unparse(_Flat().visit(tree))


@settings(max_examples=80, deadline=None)
@given(programs(), TEMPLATES, st.data())
def test_rewriting_means_what_it_says(source: str, template: str, data: st.DataObject) -> None:
    tree = ast.parse(source)
    places = _places(tree)
    node = places[data.draw(st.integers(0, len(places) - 1))]
    file = SourceFile.from_text(Path("m.py"), source)
    parts = {"e": node} if "$e" in template else {}
    edits = edits_for(file, tree, placed(Repair("m", (Replace(node, template, parts),))))
    if isinstance(edits, Decline):
        assert edits.reason
        return
    after = apply_edits(file, edits)
    start, end = file.span(node).start, file.span(node).end
    assert after.startswith(source[: file.offset(start)].rstrip("( \t"))
    assert after.endswith(source[file.offset(end) :].lstrip(") \t"))
    expected = ast.fix_missing_locations(_Expected(node, template).visit(tree))
    assert _meaning(ast.parse(after)) == _meaning(expected)


@settings(max_examples=40, deadline=None)
@given(programs(), st.data())
def test_statement_wrapped_and_taken_out_again(source: str, data: st.DataObject) -> None:
    tree = ast.parse(source)
    body = tree.body[0].body[0].body
    index = data.draw(st.integers(0, len(body) - 1))
    file = SourceFile.from_text(Path("m.py"), source)
    guard = Repair("m", (Replace(body[index], "if c:\n    $s", {"s": body[index]}),))
    edits = edits_for(file, tree, placed(guard))
    assert not isinstance(edits, Decline)
    wrapped = SourceFile.from_text(file.path, apply_edits(file, edits))
    again = ast.parse(wrapped.text)
    block = again.body[0].body[0].body[index]
    assert ast.unparse(block.body[0]) == ast.unparse(body[index])
    undo = Repair("m", (Replace(block, "$s", {"s": block.body[0]}),))
    back = edits_for(wrapped, again, placed(undo))
    assert not isinstance(back, Decline)
    assert ast.unparse(ast.parse(apply_edits(wrapped, back))) == ast.unparse(tree)
    assert wrapped.text.count("# comment") == source.count("# comment")
