"""Which variables functions declare ``global`` or ``nonlocal``, by the text of their file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.semantics.symbols import ModuleInfo
from tclint.source.file import SourceFile

TEXTS = {
    "at a line's start": "def f():\n    global a, b\n    a = b = 1\n",
    "in one line": "def f(): global a; a = 1\n",
    "behind a semicolon": "def f():\n    x = 1; global a ; a = x\n",
    "over several lines": "def f():\n    global\\\n  a, \\\n b\n    a = b = 1\n",
    "with tabs": "def f():\n\tglobal\ta\t,b\n\ta = b = 1\n",
    "with old ends of lines": "def f():\r    global a\r    a = 1\r",
    "of a function around": "def f():\n  a = 1\n  def g():\n    nonlocal a\n    a = 2\n",
    "spelt otherwise": "def f():\n    global ﬁrst\n    first = 1\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_no_declared_name_is_missed(text: str) -> None:
    tree = ast.parse(text)
    statements = [n for n in ast.walk(tree) if isinstance(n, (ast.Global, ast.Nonlocal))]
    written = {name for statement in statements for name in statement.names}
    module = ModuleInfo("m", SourceFile.from_text(Path("m.py"), text), tree)
    assert written and written <= module.declared
