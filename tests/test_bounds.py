"""Silence means whole: where a bound cuts something off, a finding stays or a line says so."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tclint.lint.registry import load_rules
from tclint.semantics.bounds import BOUNDS, Bound
from tclint.semantics.interpreter import contexts, run

from .cli_runs import tclint

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
HEAD = "import torch\nfrom torch import nn\n\n"
HOST = "print('here')"

BREAKS = (
    f"{HEAD}class C0(nn.Module):\n    def forward(self, x):\n        {HOST}\n        return x\n\n"
)
Files = dict[str, str]


def _called(call: str, before: str = "") -> str:
    return f"\n@torch.compile\ndef g(x, k):\n{before}    return {call}\n"


def _functions(number: int) -> str:
    """Functions of which the last one breaks the graph."""
    bodies = ["pass"] * (number - 1) + [HOST]
    return "".join(f"def f{n}(x):\n    {body}\n    return x\n\n" for n, body in enumerate(bodies))


def chain_of_calls(number: int) -> Files:
    calls = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n\n" for n in range(number - 2))
    last = f"def f{number - 2}(x):\n    {HOST}\n    return x\n"
    return {"m.py": HEAD + calls + last + _called("f0(x)")}


def chain_that_returns(number: int) -> Files:
    calls = "".join(f"def f{n}(x):\n    return f{n + 1}(x) + 1\n\n" for n in range(number - 2))
    last = f"def f{number - 2}(x):\n    return x.sum()\n"
    before = f"    if f0(x) > 0:\n        {HOST}\n"
    return {"m.py": HEAD + calls + last + _called("x", before)}


def chain_of_modules(number: int) -> Files:
    code = f"class M0(nn.Module):\n    def forward(self, x):\n        {HOST}\n        return x\n\n"
    for n in range(1, number):
        code += f"class M{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        code += f"        self.inner = M{n - 1}()\n\n"
        code += "    def forward(self, x):\n        return self.inner(x)\n\n"
    return {"m.py": f"{HEAD}{code}model = torch.compile(M{number - 1}())\n"}


def chain_of_objects(number: int) -> Files:
    classes = [f"class C0:\n    def run(self, x):\n        {HOST}\n        return x\n"]
    classes += [
        f"class C{n}:\n    def __init__(self):\n        self.inner = C{n - 1}()\n"
        "    def run(self, x):\n        return self.inner.run(x)\n"
        for n in range(1, number)
    ]
    return {"m.py": HEAD + "\n".join(classes) + _called(f"C{number - 1}().run(x)")}


def chain_of_factories(number: int) -> Files:
    calls = "".join(f"def f{n}():\n    return f{n + 1}()\n\n" for n in range(number - 1))
    last = f"def f{number - 1}():\n    return C0()\n\n"
    return {"m.py": BREAKS + calls + last + "model = torch.compile(f0())\n"}


def many_calls_too_deep(number: int) -> Files:
    calls = "".join(f"def d{n}(x):\n    return d{n + 1}(x)\n\n" for n in range(22))
    last = "def d22(x):\n" + "".join(f"    x = f{n}(x)\n" for n in range(number)) + "    return x\n"
    return {"m.py": HEAD + _functions(number) + calls + last + _called("d0(x)")}


def classes_of_an_object(number: int) -> Files:
    bodies = ["pass"] * (number - 1) + [HOST]
    classes = "".join(
        f"class C{n}:\n    def run(self, x):\n        {body}\n        return x\n\n"
        for n, body in enumerate(bodies)
    )
    pick = "".join(f"    if k == {n}:\n        return C{n}()\n" for n in range(number))
    return {"m.py": f"{HEAD}{classes}def pick(k):\n{pick}{_called('pick(k).run(x)')}"}


def modules_of_a_choice(number: int) -> Files:
    bodies = ["pass"] * (number - 1) + [HOST]
    classes = "".join(
        f"class C{n}(nn.Module):\n    def forward(self, x):\n        {body}\n        return x\n\n"
        for n, body in enumerate(bodies)
    )
    pick = "".join(f"    if k == {n}:\n        return C{n}()\n" for n in range(number))
    return {
        "m.py": f"{HEAD}{classes}def pick(k):\n{pick}\nmodel = torch.compile(pick(int(input())))\n"
    }


def table_of_functions(number: int) -> Files:
    table = ", ".join(f"'{n}': f{n}" for n in range(number))
    return {"m.py": f"{HEAD}{_functions(number)}TABLE = {{{table}}}\n{_called('TABLE[k](x)')}"}


def table_of_lists(number: int) -> Files:
    rows = "".join(f"    [{', '.join(f'f{n + m}' for m in range(4))}],\n" for n in range(number))
    table = f"TABLE = [\n{rows}]\n"
    return {"m.py": f"{HEAD}{_functions(number + 3)}{table}{_called('TABLE[k][k](x)')}"}


def star_imports(number: int) -> Files:
    stars = "".join(f"from a{n} import *\n" for n in range(number))
    files = {f"a{n}.py": f"x{n} = {n}\n" for n in range(number)}
    files["a0.py"] = f"def helper(x):\n    {HOST}\n    return x\n"
    return files | {"m.py": HEAD + stars + _called("helper(x)")}


def names_passed_on(number: int) -> Files:
    files = {f"a{n}.py": f"from a{n + 1} import helper\n" for n in range(number)}
    files[f"a{number}.py"] = f"def helper(x):\n    {HOST}\n    return x\n"
    return files | {"m.py": f"{HEAD}from a0 import helper\n{_called('helper(x)')}"}


def classes_above(number: int) -> Files:
    first = f"class C0:\n    def run(self, x):\n        {HOST}\n        return x\n\n"
    rest = "".join(f"class C{n}(C{n - 1}):\n    pass\n\n" for n in range(1, number + 1))
    return {"m.py": HEAD + first + rest + _called(f"C{number}().run(x)")}


def ways_to_call(number: int) -> Files:
    helper = f"def h(x, way):\n    if way == 'w{number - 1}':\n        {HOST}\n    return x\n"
    calls = "".join(f"    x = h(x, 'w{n}')\n" for n in range(number))
    return {"m.py": HEAD + helper + _called("x", calls)}


def levels_of_syntax(number: int) -> Files:
    deep = "    x = " + " + ".join(["x"] * number) + f"\n    {HOST}\n"
    return {"m.py": HEAD + _called("x", deep)}


def rounds_of_a_loop(number: int) -> Files:
    names = [f"v{n}" for n in range(number)]
    begin = "".join(f"    {name} = 0\n" for name in names)
    moves = "".join(f"        v{n} = v{n - 1}\n" for n in reversed(range(1, number)))
    loop = f"    for _ in range(k):\n{moves}        v0 = x.sum()\n"
    test = f"    if v{number - 1} > 0:\n        x = x + 1\n"
    return {"m.py": HEAD + _called("x", begin + loop + test)}


def steps_to_a_counter(number: int) -> Files:
    names = "".join(f"    c{n} = c{n - 1}\n" for n in range(1, number))
    code = f"    c0 = COUNTS\n{names}    c{number - 1}['n'] += 1\n"
    return {"m.py": f"{HEAD}COUNTS = {{'n': 0}}\n{_called('x * COUNTS[chr(110)]', code)}"}


def variables_of_a_list(number: int) -> Files:
    lists = "".join(f"    l{n} = l{n - 1}\n" for n in range(1, number))
    code = (
        f"model = nn.Linear(3, 3)\n\n\ndef zero():\n    l0 = list(model.parameters())\n{lists}"
        f"    for p in l{number - 1}:\n        if p.grad is not None:\n            p.grad.zero_()\n"
    )
    return {"m.py": HEAD + code}


CASES: dict[str, tuple[Callable[[int], Files], int, bool]] = {
    # What makes the code, the largest size that is followed whole, and whether more is, too.
    "24 calls": (chain_of_calls, 24, True),
    "24 calls, results": (chain_that_returns, 24, True),
    "24 modules": (chain_of_modules, 24, True),
    "24 objects": (chain_of_objects, 24, True),
    "24 calls of eager code": (chain_of_factories, 24, False),
    "24 calls, each of many": (many_calls_too_deep, 30, True),
    "8 classes for": (classes_of_an_object, 8, False),
    "63 modules or None": (modules_of_a_choice, 63, False),
    "64 alternatives": (table_of_functions, 64, False),
    "64 functions in lists": (table_of_lists, 61, False),
    "32 star imports": (star_imports, 32, False),
    "32 files": (names_passed_on, 32, True),
    "256 classes": (classes_above, 256, False),
    "30 ways": (ways_to_call, 30, False),
    "100 levels": (levels_of_syntax, 100, True),
    "6 rounds": (rounds_of_a_loop, 5, False),
}


def told(folder: Path, files: Files) -> set[str]:
    """The codes of what is found in some files, none of which is in a region of its own."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    paths = [folder / name for name in sorted(files)]
    found = check_files(paths, Config(folder, scope="compiled"))
    assert not found.errors
    return {result.diagnostic.code for result in found.results}


@pytest.mark.parametrize("name", CASES)
def test_beyond_a_bound_a_finding_stays_or_a_line_says_that_it_may_be_missing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts.WALKS, "most", 30)
    make, most, goes_on = CASES[name]
    inside = told(tmp_path, make(most))
    assert inside
    assert "TCL004" not in inside
    beyond = told(tmp_path, make(most + 1))
    assert beyond == inside if goes_on else "TCL004" in beyond
    assert told(tmp_path, make(3 * most)) >= ({"TCL004"} if not goes_on else inside)


def _each(code: str, last: str, call: str) -> str:
    calls = "".join(code.format(n=n, next=n + 1, on=min(n + 7, 40)) for n in range(40))
    return HEAD + calls + last + _called(call)


DEEP = {
    "a cycle": _each(
        "def f{n}(x, k):\n    if k > 0:\n        return f{next}(x, k - 1)\n    return x\n\n",
        f"def f40(x, k):\n    {HOST}\n    return f0(x, k - 1)\n",
        "f0(x, k)",
    ),
    "each calls the next twice": _each(
        "def f{n}(x):\n    return f{next}(x) + f{next}(x * 2)\n\n",
        f"def f40(x):\n    {HOST}\n    return x\n",
        "f0(x)",
    ),
    "each calls two others": _each(
        "def f{n}(x, k):\n    y = f{next}(x, {n})\n    return f{on}(y, k)\n\n",
        f"def f40(x, k):\n    {HOST}\n    return x\n",
        "f0(x, 1)",
    ),
    "lambdas around lambdas": _each(
        "def f{n}(h):\n    return f{next}(lambda x: h(x) + {n})\n\n",
        "def f40(h):\n    return h(torch.ones(3))\n",
        f"f0(lambda y: {HOST} or y)",
    ),
    "properties": "".join(
        [
            f"{HEAD}class A:\n",
            *(
                f"    @property\n    def p{n}(self):\n        return self.p{n + 1}\n\n"
                for n in range(40)
            ),
            f"    @property\n    def p40(self):\n        {HOST}\n        return 1\n",
            _called("x * A().p0"),
        ]
    ),
    "decorators": (
        f"{HEAD}def wrap(f):\n    def inner(x):\n        return f(x)\n    return inner\n\n"
        "@torch.compile\n" + "@wrap\n" * 30 + f"def g(x):\n    {HOST}\n    return x\n"
    ),
    "containers of containers": (
        f"{BREAKS}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.all = {'nn.Sequential(' * 30}C0(){')' * 30}\n\n"
        "    def forward(self, x):\n        return self.all(x)\n\n"
        "m = torch.compile(M())\n"
    ),
    "bases of bases": BREAKS
    + "".join(
        f"class C{n}(C{n - 1}):\n    def forward(self, x):\n"
        "        return super().forward(x) + 1\n\n"
        for n in range(1, 40)
    )
    + "m = torch.compile(C39())\n",
}


@pytest.mark.parametrize("code", DEEP.values(), ids=DEEP.keys())
def test_what_is_deep_is_followed_whatever_leads_there(tmp_path: Path, code: str) -> None:
    assert told(tmp_path, {"m.py": code}) == {"TCL120"}


def test_what_is_called_far_too_deep_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(tmp_path, chain_of_calls(200)) == {"TCL120"}
    monkeypatch.setattr(run.DEEPER, "most", 5)
    assert told(tmp_path, chain_of_calls(200)) == {"TCL004"}


def test_syntax_that_python_gives_up_on_is_told(tmp_path: Path) -> None:
    assert told(tmp_path, levels_of_syntax(900)) == {"TCL004"}


HIDING = {
    "names, loops and calls to what holds a number",
    "alternatives for a value",
    "classes for an object",
    "parts in a value",
    "bytes in a file of an installed package",
    "bytes of installed packages",
    "files of installed packages",
    "star imports may bring in a name",
    "classes that a class inherits from",
    "ways to call a function",
    "calls deep",
    "levels of syntax deep",
    "walks to follow deep calls",
    "walks to find what is kept in attributes",
    "rounds of a loop to see what its variables become",
    "calls that make one number",
    "variables to see that a loop runs over tensors",
}


def test_every_bound_behind_which_findings_may_be_missing_is_known() -> None:
    load_rules()
    assert {bound.what for bound in BOUNDS if bound.hides} == HIDING
    assert all(isinstance(bound, Bound) and bound.most > 1 for bound in BOUNDS)
    assert len({str(bound) for bound in BOUNDS}) == len(BOUNDS)


# Numbers that bound no search: what torch or Python holds, what is shown, how a fix is laid out.
PLAIN = {
    "MANY", "MOST", "LONGEST", "WORTHWHILE", "_FITS", "_LABEL", "_LARGEST", "_LIMIT", "_LONGEST",
    "_FLOAT16", "_LONGEST_NAME",
    "_SMALL", "_SMALLEST", "_TINY", "_TWO", "_WIDTH", "_EXACT", "_AGREED",
}  # fmt: skip


def _numbers(file: Path) -> set[str]:
    """Names of a file's top level that stand for an integer, and parameters with one by default."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int() as value)):
                found |= {name} if value > 1 and node in tree.body else set()
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=int() as value)):
                found |= {name} if value > 1 and node in tree.body else set()
            case ast.arguments(args=[*_, ast.arg(arg="depth")], defaults=[*_, ast.Constant()]):
                found.add("depth")
    return found


def test_every_number_that_bounds_a_search_says_what_it_cuts_off() -> None:
    files = [*(ROOT / "tclint/semantics").rglob("*.py"), *(ROOT / "rules").rglob("*.py")]
    allowed = {"depth": {"uses.py"}}
    undeclared = {
        (file.name, name)
        for file in files
        for name in _numbers(file) - PLAIN
        if file.name not in allowed.get(name, ())
    }
    assert not undeclared, "make it a Bound, or say in PLAIN that it bounds no search"


def test_the_line_can_be_silenced_counted_and_explained(tmp_path: Path) -> None:
    text = table_of_functions(65)["m.py"]
    file = tmp_path / "m.py"
    file.write_text(text, encoding="utf-8")
    done = tclint("check", "--isolated", "--output-format=concise", "m.py", cwd=tmp_path)
    assert done.returncode == 1
    row = text[: text.index("    return TABLE")].count("\n") + 1
    said = f"m.py:{row}:5: TCL004 Not followed: more than 64 alternatives for a value, so findings"
    assert said in done.stdout
    assert "Found 1 finding." in done.stdout
    last = text[: text.index("def f64")].count("\n") + 2
    why = tclint("check", "--isolated", f"--explain-types=m.py:{last}", "m.py", cwd=tmp_path)
    assert f"not everything is followed: m.py:{row} has more than 64 alternatives" in why.stdout
    silenced = text.replace("TABLE[k](x)", "TABLE[k](x)  # tclint: ignore[TCL004]  -- all alike")
    file.write_text(silenced, encoding="utf-8")
    assert tclint("check", "--isolated", "m.py", cwd=tmp_path).returncode == 0
