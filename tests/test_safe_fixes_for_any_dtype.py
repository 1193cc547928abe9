"""A safe fix changes nothing in eager code, whatever the dtype and shape of its input."""

from __future__ import annotations

import inspect

import pytest

from tclint.lint.rule import Bad, Rule

from .proof.cases import cases, compiles_itself

pytest.importorskip("torch", reason="the proofs run PyTorch")

from .proof.equal import difference
from .proof.run import run_eager
from .samples import one_in

READS = ("TCL101", "TCL102", "TCL103", "TCL104", "TCL105", "TCL110", "TCL111", "TCL112", "TCL113")
SHAPES = ("()", "(1,)", "(5,)", "(4, 3)", "(0,)")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")
INPUTS = ", ".join(
    f"((torch.rand({shape}) * {scale}).to(torch.{dtype}),)"
    for shape in SHAPES
    for dtype in DTYPES
    for scale in (1, 7, -3)
)


def _reads_its_one_tensor(rule: Rule, example: Bad) -> bool:
    one = "x" in example.code and example.inputs.count("torch.") == 1
    return rule.code in READS and example.fixed is not None and one


@pytest.mark.parametrize(("rule", "example"), one_in(6, cases(Bad, where=_reads_its_one_tensor)))
def test_eager_code_does_the_same(rule: Rule, example: Bad) -> None:
    assert example.fixed is not None
    assert not compiles_itself(inspect.cleandoc(example.code))
    before = run_eager(example.code, f"[{INPUTS}]")
    after = run_eager(example.fixed, f"[{INPUTS}]")
    assert difference(before.results, after.results) is None
    assert difference(before.state, after.state, "state") is None
