"""What stands under `is_compiling()` is compiled code and judged; what its `else` holds is not."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs are compiled")

import torch

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files

from .dynamo import breaks, skip_before

HEAD = """\
import torch
import torch.compiler as tc
import torch._dynamo
from torch.compiler import is_compiling as compiling

ask = torch.compiler.is_compiling
AT_IMPORT = torch.compiler.is_compiling()


def asks():
    return torch.compiler.is_compiling()


def asks_not():
    return not torch.compiler.is_compiling()


def is_compiling():
    return False


"""
BREAK = "assert not (x > 9).all()"
READ = "x.sum().item()"
C = "torch.compiler.is_compiling()"
# Conditions under which compiled code comes to a statement, and others; `x` has one dimension.
COMES = (
    C, "compiling()", "tc.is_compiling()", "ask()", "asks()", "not asks_not()",
    "not is_compiling()",
    "torch._dynamo.is_compiling()", "torch.compiler.is_dynamo_compiling()", "not AT_IMPORT",
    "torch._utils.is_compiling()", f"bool({C})", f"{C} is True", f"{C} == True", f"{C} != False",
    f"{C} and x.ndim == 1", f"x.ndim == 1 and {C}", f"{C} or x.ndim == 7", f"not not {C}",
    f"not {C} or x.ndim == 1", f"torch.jit.is_scripting() or {C}", f"(c := {C})",
    "not torch.jit.is_scripting()", "not torch.jit.is_tracing()",
    "not torch.onnx.is_in_onnx_export()",
    "not torch.compiler.is_exporting()", f"({C} if x.ndim == 1 else False)",
)  # fmt: skip
STAYS_OUT = (
    f"not {C}", "not compiling()", "not tc.is_compiling()", "not ask()", "not asks()", "asks_not()",
    "is_compiling()", "not torch._dynamo.is_compiling()", "AT_IMPORT", f"not bool({C})",
    "not torch.compiler.is_dynamo_compiling()", "not torch._utils.is_compiling()",
    f"{C} is False", f"{C} == False", f"not {C} and x.ndim == 1", f"not ({C} or x.ndim == 7)",
    f"not {C} and not torch.jit.is_scripting()", f"not (c := {C})", "torch.jit.is_scripting()",
    "torch.jit.is_tracing()", "torch.onnx.is_in_onnx_export()", "torch.compiler.is_exporting()",
    "torch._C._get_tracing_state()",
)  # fmt: skip
# Ways for a condition, `!`, to decide about a statement.
WAYS = {
    "if": f"if !:\n    {BREAK}",
    "else": f"if not (!):\n    pass\nelse:\n    {BREAK}",
    "elif": f"if x.ndim == 7:\n    pass\nelif !:\n    {BREAK}",
    "early return": f"if not (!):\n    return x\n{BREAK}",
    "early raise": f"if not (!):\n    raise ValueError\n{BREAK}",
    "while": f"while !:\n    {BREAK}\n    break",
    "variable": f"decided = !\nif decided:\n    {BREAK}",
    "conditional expression": f"y = {READ} if ! else 1",
    "and": f"(!) and {READ}",
    "or": f"not (!) or {READ}",
    "comprehension": f"y = [{READ} for _ in range(2) if !]",
    "continue": f"for _ in range(2):\n    if not (!):\n        continue\n    {READ}",
    "break": f"for _ in range(2):\n    if not (!):\n        break\n    {READ}",
    "nested function": f"def g():\n    if !:\n        {BREAK}\n\ng()",
    "twice": f"if !:\n    if !:\n        {BREAK}",
    "assert before": f"if !:\n    assert x.ndim == 1\n    {BREAK}",
    "print": 'if !:\n    print("compiled")',
    "branch": "if !:\n    if x.sum() > 99:\n        x = x + 1",
    "mask": "if !:\n    y = x[x > 0]",
    "message": 'if !:\n    assert (x > 0).all(), f"bad {x}"',
    "operators": "if !:\n    assert (x > 0).all() and (x < 9).all()",
}


def program(way: str, condition: str, name: str = "f") -> str:
    """A function in which a condition decides whether the graph breaks."""
    body = WAYS[way].replace("!", condition).replace("\n", "\n    ")
    return f"def {name}(x):\n    {body}\n    return x * 2\n"


def reported(condition: str, folder: Path) -> set[str]:
    """The ways in which a condition lets `check` see a graph break."""
    path = folder / "program.py"
    names = {f"f{number}": way for number, way in enumerate(WAYS)}
    programs = [program(way, condition, name) for name, way in names.items()]
    path.write_text(HEAD + "\n\n".join(programs), encoding="utf-8")
    found = check_files([path], Config(root=folder, scope="all")).results
    breaking = [r.diagnostic for r in found if r.diagnostic.effect is Effect.GRAPH_BREAK]
    return {names[diagnostic.chain[0].function.partition(".")[0]] for diagnostic in breaking}


@pytest.mark.parametrize("condition", COMES)
def test_what_compiled_code_comes_to_is_reported(condition: str, tmp_path: Path) -> None:
    assert reported(condition, tmp_path) == {*WAYS}


@pytest.mark.parametrize("condition", STAYS_OUT)
def test_what_compiled_code_never_comes_to_is_not(condition: str, tmp_path: Path) -> None:
    assert reported(condition, tmp_path) == set()


@pytest.mark.slow
@pytest.mark.parametrize("condition", (*COMES, *STAYS_OUT))
def test_dynamo_answers_so_as_well(condition: str) -> None:
    if "is_exporting" in condition:
        skip_before((2, 12))
    text = HEAD + program("if", condition)
    assert breaks(text, torch.ones(3)) is (condition in COMES)


@pytest.mark.parametrize("way", WAYS)
def test_each_way_decides_for_dynamo_as_well(way: str) -> None:
    assert breaks(HEAD + program(way, C), torch.ones(3))
    if way != "early raise":
        assert not breaks(HEAD + program(way, f"not {C}"), torch.ones(3))
