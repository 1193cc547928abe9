"""Repairs become the edits that a careful person would have made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.diagnostics import Decline, Position
from tclint.fix import rewriter
from tclint.fix.conflicts import apply_edits
from tclint.fix.edits import edits_for
from tclint.lint.repair import located, placed
from tclint.lint.rewrite import Import, Insert, Repair, Replace, Rewrite
from tclint.source.file import SourceFile


def _find(source: str, tree: ast.Module, text: str) -> ast.expr | ast.stmt:
    """The node that reads as ``text``: a statement where it ends in a semicolon."""
    kind = ast.stmt if text.endswith(";") else ast.expr
    for node in ast.walk(tree):
        if isinstance(node, kind) and ast.get_source_segment(source, node) == text.rstrip(";"):
            return node
    raise LookupError(text)


def _expression(node: ast.expr | ast.stmt) -> ast.expr:
    assert isinstance(node, ast.expr)
    return node


def _fix(source: str, *rewrites: tuple[str, str, dict[str, str]]) -> str | Decline:
    """Replace texts: each rewrite is the old text, the template and the texts of its parts."""
    tree = ast.parse(source)

    def make(old: str, template: str, parts: dict[str, str]) -> Rewrite:
        nodes = {name: _find(source, tree, text) for name, text in parts.items()}
        side, _, anchor = old.partition(" ")
        if side in ("before:", "after:"):
            node = _find(source, tree, anchor)
            assert isinstance(node, ast.stmt)
            return Insert(node, template, nodes, after=side == "after:")
        return Replace(_find(source, tree, old), template, nodes)

    return _carry_out(source, *(make(*rewrite) for rewrite in rewrites))


def _carry_out(source: str, *rewrites: Rewrite) -> str | Decline:
    file = SourceFile.from_text(Path("m.py"), source)
    edits = edits_for(file, ast.parse(source), placed(Repair("Do it", rewrites)))
    return edits if isinstance(edits, Decline) else apply_edits(file, edits)


@pytest.mark.parametrize(
    ("source", "old", "template", "part", "after"),
    [
        pytest.param(
            "g(on=(a == b))\n",
            "g(on=(a == b))",
            "f(0, on=$p)",
            "a == b",
            "f(0, on=(a == b))\n",
            id="parentheses of an argument are its author's",
        ),
        pytest.param(
            "return_ = (a + b)\n",
            "a + b",
            "f($p)",
            "a",
            "return_ = (f(a))\n",
            id="parentheses that were not needed are wanted",
        ),
        pytest.param(
            "y = (a + b).to(c)\n",
            "a + b",
            "f($p)",
            "a",
            "y = f(a).to(c)\n",
            id="parentheses that were needed go",
        ),
        pytest.param(
            "y = (a\n     + b)\n",
            "a\n     + b",
            "f($p)",
            "a",
            "y = f(a)\n",
            id="parentheses that held lines together go",
        ),
        pytest.param(
            "y = g('a', 'b', \"c\")\n",
            "g('a', 'b', \"c\")",
            'f($p, "d", "it\'s")',
            '"c"',
            'y = f("c", \'d\', "it\'s")\n',
            id="new strings have the quotes of the file",
        ),
        pytest.param("y = a + b\n", "a + b", "f($p)", "a + b", "y = f(a + b)\n", id="argument"),
        pytest.param(
            "y = f(a + b)\n",
            "f(a + b)",
            "$p.g()",
            "a + b",
            "y = (a + b).g()\n",
            id="method of a sum",
        ),
        pytest.param(
            "y = x[a + b]\n",
            "x[a + b]",
            "$p",
            "a + b",
            "y = a + b\n",
            id="right side of an assignment",
        ),
        pytest.param(
            "y = 2 * f(a + b)\n",
            "f(a + b)",
            "$p",
            "a + b",
            "y = 2 * (a + b)\n",
            id="operand of a stronger operator",
        ),
        pytest.param(
            "y = 2 - f(a - b)\n",
            "f(a - b)",
            "$p",
            "a - b",
            "y = 2 - (a - b)\n",
            id="right operand of the same operator",
        ),
        pytest.param(
            "y = f(a - b) - 2\n",
            "f(a - b)",
            "$p",
            "a - b",
            "y = a - b - 2\n",
            id="left operand of the same operator",
        ),
        pytest.param(
            "y = (a + b).item()\n",
            "(a + b).item()",
            "$p",
            "a + b",
            "y = a + b\n",
            id="parentheses no longer needed",
        ),
        pytest.param(
            "y = f((a, b))\n",
            "f((a, b))",
            "$p",
            "(a, b)",
            "y = (a, b)\n",
            id="tuple keeps its parentheses",
        ),
        pytest.param("y = a, b\n", "a, b", "f($p)", "a, b", "y = f((a, b))\n", id="bare tuple"),
        pytest.param(
            "y = f(a for a in b)\n",
            "f(a for a in b)",
            "[$p]",
            "(a for a in b)",
            "y = [(a for a in b)]\n",
            id="generator from a call",
        ),
        pytest.param(
            "y = (\n    a  # first\n    + b\n).g()\n",
            "(\n    a  # first\n    + b\n).g()",
            "$p",
            "a  # first\n    + b",
            "y = (\n    a  # first\n    + b\n)\n",
            id="lines that parentheses hold together",
        ),
        pytest.param(
            "y = g(\n    a  # first\n    + b\n)\n",
            "g(\n    a  # first\n    + b\n)",
            "-$p",
            "a  # first\n    + b",
            "y = -(a  # first\n    + b)\n",
            id="lines that need parentheses now",
        ),
        pytest.param(
            "y = f(1)\n", "f(1)", "$p.real", "1", "y = (1).real\n", id="integer attribute"
        ),
        pytest.param(
            "y = (f(a))\n",
            "f(a)",
            "$p + 1",
            "a",
            "y = (a + 1)\n",
            id="parentheses of the place stay",
        ),
        pytest.param(
            "if not(f(a)): pass\n",
            "f(a)",
            "$p",
            "a",
            "if not(a): pass\n",
            id="keyword close to a parenthesis",
        ),
        pytest.param(
            "é = f('ü', x.y)\n",
            "f('ü', x.y)",
            "g($p)",
            "x.y",
            "é = g(x.y)\n",
            id="characters of several bytes",
        ),
        pytest.param(
            "y = f'{x.item():>3}'\n",
            "f'{x.item():>3}'",
            "str($p)",
            "x",
            "y = str(x)\n",
            id="part of an f-string",
        ),
    ],
)
def test_expression_gets_the_parentheses_it_needs(
    source: str, old: str, template: str, part: str, after: str
) -> None:
    assert _fix(source, (old, template, {"p": part})) == after


GUARD = "if not torch.compiler.is_compiling():\n    $s"
SPLIT = "if c:\n    a()\nelse:\n    $s"


@pytest.mark.parametrize(
    ("source", "old", "template", "after"),
    [
        pytest.param(
            "def f():\n    # why\n    print(x)  # what\n    return 1\n",
            "print(x);",
            GUARD,
            "def f():\n    # why\n    if not torch.compiler.is_compiling():\n"
            "        print(x)  # what\n    return 1\n",
            id="comments above and behind",
        ),
        pytest.param(
            "def f():\n\tprint(x)\n",
            "print(x);",
            GUARD,
            "def f():\n\tif not torch.compiler.is_compiling():\n\t\tprint(x)\n",
            id="tabs",
        ),
        pytest.param(
            "def f():\r\n  print(x)\r\n",
            "print(x);",
            GUARD,
            "def f():\r\n  if not torch.compiler.is_compiling():\r\n    print(x)\r\n",
            id="carriage returns and two blanks",
        ),
        pytest.param(
            "class A:\n    def f(self):\n        print(\n            x,\n        )\n",
            "print(\n            x,\n        );",
            GUARD,
            "class A:\n    def f(self):\n        if not torch.compiler.is_compiling():\n"
            "            print(\n                x,\n            )\n",
            id="several lines",
        ),
        pytest.param(
            "def f():\n    print('''\na\n''')\n",
            "print('''\na\n''');",
            GUARD,
            "def f():\n    if not torch.compiler.is_compiling():\n        print('''\na\n''')\n",
            id="string over several lines",
        ),
        pytest.param(
            "def f():\n    a = 1; print(x); b = 2  # c\n",
            "print(x);",
            GUARD,
            "def f():\n    a = 1\n    if not torch.compiler.is_compiling():\n"
            "        print(x)\n    b = 2  # c\n",
            id="joined by semicolons",
        ),
        pytest.param(
            "def f():\n    if a: print(x)  # c\n",
            "print(x);",
            GUARD,
            "def f():\n    if a:\n        if not torch.compiler.is_compiling():\n"
            "            print(x)  # c\n",
            id="one-line suite",
        ),
        pytest.param(
            "def f():\n    print(x)",
            "print(x);",
            GUARD,
            "def f():\n    if not torch.compiler.is_compiling():\n        print(x)",
            id="no line end at the end of the file",
        ),
        pytest.param(
            "print(x)\n",
            "print(x);",
            GUARD,
            "if not torch.compiler.is_compiling():\n    print(x)\n",
            id="module level",
        ),
        pytest.param(
            "def f():\n    assert x  # c\n",
            "assert x;",
            "check(x)\nmore()",
            "def f():\n    check(x)  # c\n    more()\n",
            id="comment on the first new line",
        ),
        pytest.param(
            "def f():\n    if x:  # c\n        y()\n",
            "if x:  # c\n        y();",
            "while q:\n    z()",
            "def f():\n    while q:  # c\n        z()\n",
            id="comment of a block's header",
        ),
        pytest.param(
            "def f():\n    for i in a:\n        g()  # c\n\n        h()\n    k()\n",
            "for i in a:\n        g()  # c\n\n        h();",
            SPLIT,
            "def f():\n    if c:\n        a()\n    else:\n        for i in a:\n"
            "            g()  # c\n\n            h()\n    k()\n",
            id="whole block moved",
        ),
        pytest.param(
            "def f():\n    # a\n    print(x)  # b\n    # c\n    y = 1\n",
            "print(x);",
            "",
            "def f():\n    # a\n    # c\n    y = 1\n",
            id="removed, comments above stay",
        ),
        pytest.param(
            "def f():\n    # a\n    print(x)\n",
            "print(x);",
            "",
            "def f():\n    # a\n    pass\n",
            id="removed, block would be empty",
        ),
        pytest.param(
            "def f():\n    y = 1\n    # a\n    print(x)\n\nz = 1\n",
            "print(x);",
            "",
            "def f():\n    y = 1\n    # a\n\nz = 1\n",
            id="removed at the end of a block",
        ),
        pytest.param(
            "a = 1; print(x)\n", "print(x);", "", "a = 1\n", id="removed behind a semicolon"
        ),
        pytest.param(
            "print(x); a = 1\n", "print(x);", "", "a = 1\n", id="removed before a semicolon"
        ),
        pytest.param(
            "if a: print(x)\n", "print(x);", "", "if a: pass\n", id="removed from a one-line suite"
        ),
        pytest.param(
            "def f(): print(x); return 1\n",
            "print(x);",
            "",
            "def f(): return 1\n",
            id="removed from a one-line function",
        ),
    ],
)
def test_statement_is_replaced(source: str, old: str, template: str, after: str) -> None:
    parts = {"s": old} if "$s" in template else {}
    assert _fix(source, (old, template, parts)) == after


@pytest.mark.parametrize(
    ("source", "old", "after"),
    [
        pytest.param(
            "def f():\n    a = 1\n\n    # c\n    b = a  # d\n",
            "before: b = a;",
            "def f():\n    a = 1\n\n    new()\n    # c\n    b = a  # d\n",
            id="before a statement with its comment",
        ),
        pytest.param(
            "def f():\n    a = 1  # d\n    b = 2\n",
            "after: a = 1;",
            "def f():\n    a = 1  # d\n    new()\n    b = 2\n",
            id="after a statement",
        ),
        pytest.param("# c\nb = 1\n", "before: b = 1;", "new()\n# c\nb = 1\n", id="top of the file"),
        pytest.param("b = 1", "after: b = 1;", "b = 1\nnew()", id="end of a file without line end"),
        pytest.param(
            "def f():\n    a = 1; b = 2\n",
            "before: b = 2;",
            "def f():\n    a = 1\n    new()\n    b = 2\n",
            id="between semicolons",
        ),
        pytest.param(
            "class A:\n    x = 1\n\n    # c\n    @d\n    def f(self): pass\n",
            "before: def f(self): pass;",
            "class A:\n    x = 1\n\n    new()\n    # c\n    @d\n    def f(self): pass\n",
            id="before a decorated method",
        ),
    ],
)
def test_statement_is_inserted(source: str, old: str, after: str) -> None:
    assert _fix(source, (old, "new()", {})) == after


def test_rewrites_of_one_repair_reach_over_methods() -> None:
    source = """\
class A:
    def __init__(self):
        super().__init__()
        # end

    def forward(self, x):
        w = torch.tensor([1.0])  # weights
        return x * w
"""
    after = _fix(
        source,
        ("after: super().__init__();", "self.register(w=$v)", {"v": "torch.tensor([1.0])"}),
        ("torch.tensor([1.0])", "self.w", {}),
    )
    assert (
        after
        == """\
class A:
    def __init__(self):
        super().__init__()
        self.register(w=torch.tensor([1.0]))
        # end

    def forward(self, x):
        w = self.w  # weights
        return x * w
"""
    )


def test_rewrites_inside_a_moved_part_are_made_too() -> None:
    after = _fix(
        "def f():\n    print(x.item())\n",
        ("print(x.item());", "if c:\n    $s", {"s": "print(x.item());"}),
        ("x.item()", "$x", {"x": "x"}),
    )
    assert after == "def f():\n    if c:\n        print(x)\n"


def test_edit_covers_nothing_but_the_change() -> None:
    source = "def f(x):\n    return g(torch.zeros(3).to(x.device), 2)\n"
    tree = ast.parse(source)
    moved = _find(source, tree, "torch.zeros(3).to(x.device)")
    device = _find(source, tree, "x.device")
    repair = Repair("m", (Replace(moved, "torch.zeros(3, device=$d)", {"d": device}),))
    edits = edits_for(SourceFile.from_text(Path("m.py"), source), tree, placed(repair))
    assert not isinstance(edits, Decline)
    (edit,) = edits
    assert (edit.span.start, edit.span.end) == (Position(2, 27), Position(2, 32))
    assert edit.content == ", device="


@pytest.mark.parametrize(
    ("source", "rewrites", "reason"),
    [
        pytest.param(
            "if a: pass\nelif b: pass\n",
            [("elif b: pass;", "c()", {})],
            "block of its own",
            id="elif",
        ),
        pytest.param(
            "y = f(\n    a,  # why\n)\n",
            [("f(\n    a,  # why\n)", "$p", {"p": "a"})],
            "`# why` would be lost",
            id="comment inside",
        ),
        pytest.param("y = a\n", [("a", "a", {})], "already reads", id="nothing changes"),
        pytest.param("y = a\n", [("a", "b +", {})], "not an expression", id="broken template"),
        pytest.param("y = a\n", [("a", "$b", {})], "no part for $b", id="missing part"),
        pytest.param("y = a\n", [("a", "'$b'", {"b": "a"})], "no part can stand", id="in a string"),
        pytest.param("y = a\n", [("a", "b", {}), ("a", "c", {})], "twice", id="replaced twice"),
        pytest.param(
            "x: Dict[str, int]\n",
            [("str, int", "$p.a", {"p": "str, int"})],
            "cannot be moved",
            id="index of several items",
        ),
        pytest.param("y = a if'b'else c\n", [("'b'", "d", {})], "no blank", id="no blank"),
        pytest.param("del a[0]\n", [("a[0]", "f()", {})], "would not parse", id="bad target"),
    ],
)
def test_obstacle_is_named(
    source: str, rewrites: list[tuple[str, str, dict[str, str]]], reason: str
) -> None:
    result = _fix(source, *rewrites)
    assert isinstance(result, Decline)
    assert reason in result.reason


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "x = (\x0c\n1)\nclass A:\n\x0c    def f(self):\n        print(x)\n", id="form feed"
        ),
        pytest.param("def f():\n    x = 1 \\\n      + 2; \\\n    print(x)\n", id="continuations"),
        pytest.param("def f():\r    print(x)\r", id="lone carriage returns"),
        pytest.param("@d(\n    1\n)\ndef f():\n    print(x)\n", id="decorator over lines"),
        pytest.param("async def f():\n    async with a as b, c: print(x)\n", id="async"),
        pytest.param("def f():\n    match a:\n        case 1:\n            print(x)\n", id="match"),
        pytest.param("def f():\n  if a:\n     print(x)\n  else:\n   pass\n", id="odd indentation"),
        pytest.param(
            "def f():\n    try:\n        pass\n    except E:\n        print(x)\n", id="except"
        ),
        pytest.param("def f():\n# low\n    print(x)\n        # high\n", id="comments out of line"),
    ],
)
def test_odd_layout_survives(source: str) -> None:
    result = _fix(source, ("print(x);", GUARD, {"s": "print(x);"}))
    if isinstance(result, Decline):
        assert result.reason
        return
    kinds = [type(node) for node in ast.walk(ast.parse(result))]
    assert ast.If in kinds
    assert result.count("print(x)") == 1


HEAD = '"""Doc."""\nfrom __future__ import annotations\n\nimport torch\n'


@pytest.mark.parametrize(
    ("source", "after"),
    [
        pytest.param(
            "def f():\n    if a:\n        print(x)\n    return 1\n",
            "def f():\n    if a:\n        pass\n    return 1\n",
            id="whole block",
        ),
        pytest.param(
            "def f():\n    if a:\n        print(x)\n        b\n",
            "def f():\n    if a:\n        b\n",
            id="part of a block",
        ),
        pytest.param(
            "if a:\n    b\nelif c:\n    print(x)\nelse:\n    d\n",
            "if a:\n    b\nelif c:\n    pass\nelse:\n    d\n",
            id="elif",
        ),
        pytest.param(
            "def f():\n    a; \\\n    print(x)\n    b\n",
            "def f():\n    a\n    b\n",
            id="rest of a logical line",
        ),
        pytest.param(
            "def f():\n    if a: print(x)\n    b\n",
            "def f():\n    if a: pass\n    b\n",
            id="on the line of its header",
        ),
    ],
)
def test_statement_is_taken_out_of_its_block(source: str, after: str) -> None:
    assert _fix(source, ("print(x);", "", {})) == after


@pytest.mark.parametrize(
    ("above", "below"),
    [
        pytest.param(
            "if a:\n    if b:\n        c\n        # deep\n",
            "    # low\n    print(x)\n",
            id="comment of the block above",
        ),
        pytest.param(
            "def f(a='''\n# no comment'''):\n",
            "    # comment\n    print(x)\n    b\n",
            id="string in the header",
        ),
        pytest.param(
            "try:\n    a\nexcept (\n    B, C  # comment\n):\n",
            "    # comment\n    print(x)\n    b\n",
            id="handler",
        ),
        pytest.param(
            "match a:\n    case 1:\n        b\n    case [\n        1,\n    ]:\n",
            "        # comment\n        print(x)\n",
            id="case",
        ),
    ],
)
def test_statement_is_put_above_the_comments_of_another(above: str, below: str) -> None:
    indentation = " " * (len(below) - len(below.lstrip()))
    fixed = _fix(above + below, ("before: print(x);", "new", {}))
    assert fixed == f"{above}{indentation}new\n{below}"


@pytest.mark.parametrize(
    ("source", "wanted", "after"),
    [
        pytest.param(
            HEAD + "\nx = 1\n",
            Import("math"),
            HEAD.replace("import torch", "import math\n\nimport torch") + "\nx = 1\n",
            id="above another section",
        ),
        pytest.param(
            '"""Doc."""\nx = 1\n',
            Import("math"),
            '"""Doc."""\n\nimport math\n\nx = 1\n',
            id="below the docstring",
        ),
        pytest.param(
            "#!shebang\n# c\nx = 1\n",
            Import("a.b", "c"),
            "#!shebang\n# c\nfrom a.b import c\n\nx = 1\n",
            id="below the head's comments",
        ),
        pytest.param(
            "import a\r\nx = 1\r\n",
            Import("math"),
            "import math\r\n\r\nimport a\r\nx = 1\r\n",
            id="carriage returns",
        ),
        pytest.param("import a", Import("b"), "import a\nimport b", id="no line end"),
        pytest.param(
            "import a; x = (\n1)\n",
            Import("b"),
            "import a; x = (\n1)\nimport b\n",
            id="shared line",
        ),
        pytest.param(
            "import a\nif TYPE_CHECKING:\n    import b\n",
            Import("b"),
            "import a\nimport b\nif TYPE_CHECKING:\n    import b\n",
            id="not for type checkers only",
        ),
        pytest.param(
            "import torch\n",
            Import("torch.nn"),
            "import torch\nimport torch.nn\n",
            id="another module of the package",
        ),
        pytest.param(
            "def f():\n    import math\nimport late\n",
            Import("math"),
            "import math\n\n\ndef f():\n    import math\nimport late\n",
            id="before the code",
        ),
    ],
)
def test_import_is_added(source: str, wanted: Import, after: str) -> None:
    assert _carry_out(source, wanted) == after
    again = _carry_out(after, wanted)
    assert isinstance(again, Decline)


def test_import_declines_where_the_name_is_taken() -> None:
    result = _carry_out("math = 3\n", Import("math"))
    assert isinstance(result, Decline)
    assert "`math` already means" in result.reason


def test_import_and_rewrite_are_one_group() -> None:
    source = "import numpy as np\n\n\ndef f(s):\n    return np.prod(s)\n"
    node = _find(source, ast.parse(source), "np.prod")
    result = _carry_out(source, Replace(_expression(node), "math.prod"), Import("math"))
    assert result == "import math\n\nimport numpy as np\n\n\ndef f(s):\n    return math.prod(s)\n"


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("def f():\n    a\n\n    b\n\n    c\n", "def f():\n    a\n\n    c\n"),
        ("def f():\n    a\n    b\n\n    c\n", "def f():\n    a\n\n    c\n"),
        ("def f():\n    a\n\n    b\n    c\n", "def f():\n    a\n\n    c\n"),
        ("def f():\n    a\n\n    b\n\n\nc\n", "def f():\n    a\n\n\nc\n"),
        (
            "def f():\n    a\n\n    # why\n    b\n\n    c\n",
            "def f():\n    a\n\n    # why\n\n    c\n",
        ),
        ("a\n\nb\n\nc\n", "a\n\nc\n"),
    ],
)
def test_a_statement_that_goes_leaves_no_gap(source: str, after: str) -> None:
    assert _fix(source, ("b;", "", {})) == after


@pytest.mark.parametrize(
    ("source", "after"),
    [
        pytest.param(
            "def f():\n    a\n    # why\n    b  # end\n    c\n    # of d\n    d\n    e\n",
            "def f():\n    a\n    c\n    # of d\n    d\n    # why\n    b  # end\n    e\n",
            id="with the comments right above it",
        ),
        pytest.param(
            "def f():\n    a\n\n    # part two\n\n    # why\n    b\n    c\n    d\n",
            "def f():\n    a\n\n    # part two\n\n    c\n    d\n    # why\n    b\n",
            id="and not those further up",
        ),
        pytest.param(
            "def f():\n    # what follows\n\n    b\n    c\n    d\n",
            "def f():\n    # what follows\n\n    c\n    d\n    b\n",
            id="none right above it",
        ),
        pytest.param(
            "def f():\n    # why\n    b\n    # of c\n    c\n    d\n\n\nx\n",
            "def f():\n    # of c\n    c\n    d\n    # why\n    b\n\n\nx\n",
            id="from the top to the end of the block",
        ),
        pytest.param(
            "def f():\n    # fmt: off\n    # why\n    b\n    c\n    # fmt: on\n    d\n",
            "def f():\n    # fmt: off\n    c\n    # fmt: on\n    d\n    # why\n    b\n",
            id="marks that tools read stay",
        ),
        pytest.param(
            "def f():\n    # of all\n    b; c\n    d\n",
            "def f():\n    # of all\n    c\n    d\n    b\n",
            id="one of two on a line leaves the comments of both",
        ),
    ],
)
def test_a_statement_goes_elsewhere_with_its_comments(source: str, after: str) -> None:
    last = "after: d;"
    assert _fix(source, ("b;", "", {}), (last, "$b", {"b": "b;"})) == after


@pytest.mark.parametrize(
    "head",
    [
        "def f(a,\n              b):\n  return a\n",
        "x = [\n            1,\n]\nif x:\n  y\n",
        '"""Doc.\n            more\n"""\nclass C: pass\nclass D:\n  @p\n  def f(): pass\n',
    ],
)
def test_a_new_block_is_indented_as_blocks_of_the_file_are(head: str) -> None:
    fixed = _fix(f"{head}print(x)\n", ("print(x);", "if y:\n    $x", {"x": "print(x);"}))
    assert fixed == f"{head}if y:\n  print(x)\n"


def test_a_block_goes_elsewhere_with_its_comments() -> None:
    source = "def f():\n    a\n    # why\n    if b:\n        # deep\n        c\n    d\n"
    block = "if b:\n        # deep\n        c;"
    fixed = _fix(source, (block, "", {}), ("after: d;", "$b", {"b": block}))
    assert fixed == "def f():\n    a\n    d\n    # why\n    if b:\n        # deep\n        c\n"


def test_comments_stay_where_only_a_part_of_the_statement_goes_on() -> None:
    source = "def f():\n    # why\n    b(x)\n    d\n"
    fixed = _fix(source, ("b(x);", "", {}), ("after: d;", "g($x)", {"x": "x"}))
    assert fixed == "def f():\n    # why\n    d\n    g(x)\n"


def test_every_node_is_found_again_in_another_parse_of_the_text() -> None:
    source = Path(rewriter.__file__).read_text(encoding="utf-8")
    tree, again = ast.parse(source), ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt)):
            [found] = located(placed(Repair("m", (Replace(node, ""),))), again)
            assert isinstance(found, Replace)
            assert found.node is not node
            assert ast.dump(found.node) == ast.dump(node)


def test_a_file_that_has_changed_since_it_was_checked_is_left_alone() -> None:
    tree = ast.parse("def f(x):\n    return x.item()\n")
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call))
    repair = placed(Repair("m", (Replace(call, "x"),)))
    file = SourceFile.from_text(Path("m.py"), "def g(x):\n    pass\n    return x.item()\n")
    assert edits_for(file, ast.parse(file.text), repair) == Decline(
        "the file has changed since it was checked"
    )
