"""Fixes keep what programs of the grammar do; `python -m benchmarks.preserve` runs thousands."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="programs are run")

from benchmarks.preserve import silence
from benchmarks.preserve.compare import differences, doubtful, warm
from benchmarks.preserve.drive import Parameter
from benchmarks.preserve.engine import Arm, Judged, judged
from benchmarks.preserve.programs import Program, program, programs
from benchmarks.preserve.shrink import shrunk
from tests.dynamo import skip_before

KEEPS = "import torch\n\n\ndef f(x: torch.Tensor):\n    {}\n"


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    warm()


def _held(found: str, fixed: str) -> list[str]:
    subject = Program(0, found, (Parameter("V"),), module=False)
    arms = Judged(Arm(found), Arm(fixed), Arm(fixed))
    return [one.what for one in differences(subject, arms)]


@pytest.mark.slow
def test_a_slice_of_the_programs_is_kept() -> None:
    made = [*programs(150, seed=7)]
    seen = judged([one.text for one in made])
    assert [
        (one.number, told, arms.safe.text)
        for one, arms, doubt in zip(made, seen, doubtful(made, seen), strict=True)
        if doubt
        for told in differences(one, arms)
    ] == []


def test_a_number_makes_the_same_program_each_time() -> None:
    assert [program(n).text for n in range(20)] == [program(n).text for n in range(20)]


@pytest.mark.parametrize(
    ("found", "fixed"),
    [
        ("return x * x[0].item()", "return x * x[0].double()"),
        ("return x.clone()", "return x"),
        ("return x * 2", "return x.detach() * 2"),
        ("print('a'); return x", "return x"),
        ("assert x.sum() > 0, 'a'; return x", "assert x.sum() > 0, 'b'; return x"),
        ("x.add_(1); return x * 2", "return (x + 1) * 2"),
        ("torch.rand(1); return x", "return x"),
        ("n = x[0].item(); x.add_(1); return x * n", "n = x[0]; x.add_(1); return x * n"),
        ("return x.sum().item()", "return x.sum()"),
    ],
)
def test_what_a_caller_can_tell_is_a_difference(found: str, fixed: str) -> None:
    assert _held(KEEPS.format(found), KEEPS.format(found)) == []
    assert _held(KEEPS.format(found), KEEPS.format(fixed)) != []


def test_what_is_kept_for_the_gradient_counts() -> None:
    skip_before((2, 13))
    found = KEEPS.format("n = x.detach()[0].item(); return x * n")
    fixed = KEEPS.format("n = x.detach()[0]; return x * n")
    assert _held(found, fixed) != []


def test_a_failing_program_shrinks_to_the_statements_that_fail() -> None:
    text = KEEPS.format("y = x + 1\n    if x is not None:\n        print('bad')\n    return y")
    assert shrunk(text, lambda one: "print('bad')" in one) == (
        "def f(x: torch.Tensor):\n    print('bad')"
    )


def _heard(text: str) -> silence.Heard:
    return silence.heard([silence.Subject("program", text, (Parameter("V"),))])


def test_a_break_that_no_finding_names_is_heard() -> None:
    skip_before((2, 13))
    heard = _heard(KEEPS.format("return torch.add(x, 1, out=torch.empty(0))"))  # GB0247
    assert (heard.asked, heard.quiet, len(heard.silent + heard.beyond)) == (1, 1, 1)
    whole = _heard(KEEPS.format("return x * 2"))
    assert (whole.asked, whole.quiet, whole.silent + whole.beyond) == (1, 1, ())
    told = _heard(KEEPS.format("print(x); return x"))
    assert told.asked - told.quiet == 1


def test_a_program_that_ends_its_process_tells_nothing_and_counts_as_such() -> None:
    heard = _heard("import os\n\nos._exit(3)\n\n\ndef f(x):\n    return x\n")
    assert len(heard.unanswered) == heard.quiet == 1
    assert not heard.is_credible
    assert "of these without an answer        1" in [*heard.lines(1)]
