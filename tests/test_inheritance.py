"""The order in which bases are asked is Python's own."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tclint.config import Config
from tclint.lint.engine import check_files, load_project
from tclint.semantics.inheritance import linearised
from tclint.semantics.project import BASES

Hierarchy = list[list[int]]


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """For each class the numbers of its bases, all of them smaller than its own."""
    count = draw(st.integers(1, 7))
    return [
        draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3)) if number else []
        for number in range(count)
    ]


@given(hierarchies())
def test_the_order_is_that_of_python(hierarchy: Hierarchy) -> None:
    classes: list[type] = []
    orders: list[list[str]] = []
    for number, bases in enumerate(hierarchy):
        try:
            made = type(f"C{number}", tuple(classes[base] for base in bases), {})
        except TypeError:  # Python refuses contradictory bases
            return
        classes.append(made)
        above = linearised([orders[base] for base in bases], [f"C{base}" for base in bases])
        orders.append([f"C{number}", *map(str, above)])
        assert orders[-1] == [cls.__name__ for cls in made.__mro__[:-1]]


def test_contradictory_bases_come_one_after_the_other() -> None:
    assert linearised([["a", "b"], ["b", "a"]], ["a", "b"]) == ["a", "b"]


def test_super_leads_to_the_sibling_in_a_diamond(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "import torch\n"
        "from torch import nn\n\n\n"
        "class Base(nn.Module):\n"
        "    def scale(self, x):\n"
        "        return 1\n\n\n"
        "class Left(Base):\n"
        "    pass\n\n\n"
        "class Right(Base):\n"
        "    def scale(self, x):\n"
        "        return x.sum()\n\n\n"
        "class Both(Left, Right):\n"
        "    def forward(self, x):\n"
        "        if super().scale(x) > 0:\n"
        "            return x\n"
        "        return -x\n",
        "utf-8",
    )
    found = check_files([file], Config(tmp_path)).results
    assert [(r.diagnostic.code, r.diagnostic.span.start.row) for r in found] == [("TCL160", 21)]


def test_every_class_of_a_long_chain_knows_its_own_bases(tmp_path: Path) -> None:
    chain = "".join(f"class C{n}(C{n - 1}):\n    pass\n\n\n" for n in range(1, 1500))
    file = tmp_path / "chain.py"
    file.write_text(
        f"from torch import nn\n\n\nclass C0(nn.Module):\n    pass\n\n\n{chain}", "utf-8"
    )
    module = (project := load_project([file], Config(tmp_path))).module_at(file)
    assert module is not None
    last, near = module.classes["C1499"], module.classes["C20"]
    assert len(project.ancestry(last)) == BASES.most + 1
    assert len(project.ancestry(module.classes[f"C{1498 - BASES.most}"])) == BASES.most + 1
    assert len(project.ancestry(near)) == 22
    assert project.is_module_class(near)
