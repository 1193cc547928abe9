"""Fixes keep what programs of the grammar do; `python -m benchmarks.preserve` runs thousands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="programs are run")

import torch

from benchmarks.preserve import silence
from benchmarks.preserve.bundle import Bundle
from benchmarks.preserve.compare import Case, Fixed, doubtful, verdict
from benchmarks.preserve.devices import Devices
from benchmarks.preserve.drive import Parameter
from benchmarks.preserve.engine import judged
from benchmarks.preserve.measure import warm
from benchmarks.preserve.programs import Program, program, programs
from benchmarks.preserve.shrink import shrunk
from tclint.lint.pages import page_of
from tclint.lint.registry import load_rules
from tclint.lint.rule import PRELUDE
from tests.dynamo import skip_before

KEEPS = "import torch\n\n\ndef f(x: torch.Tensor):\n    {}\n"


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    warm()


def _held(found: str, fixed: str) -> list[str]:
    subject = Program(0, found, (Parameter("V"),), module=False)
    case = Case(subject, Fixed(fixed), Fixed(fixed))
    return [one.what for one in verdict(case, Devices()).differences]


@pytest.mark.slow
def test_a_slice_of_the_programs_is_kept() -> None:
    made = [*programs(150, seed=7)]
    seen = judged([one.text for one in made])
    cases = [arms.case(one) for one, arms in zip(made, seen, strict=True)]
    assert [
        (one.program.number, told, one.safe.text)
        for one, doubt in zip(cases, doubtful(cases, Devices()), strict=True)
        if doubt
        for told in verdict(one, Devices()).differences
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


def test_what_safe_does_not_cover_is_no_difference() -> None:
    summed = KEEPS.format("n = x[0].item(); y = x * n; return y.sum()")
    assert _held(summed, KEEPS.format("y = x * x[0].detach().clone(); return y.sum()")) == []
    found = KEEPS.format("y = x[:1].expand(4) * 1; z = x[:1].expand(4); z += 1; return y")
    fixed = KEEPS.format("y = x[:1].expand(4) * 1; return y")
    assert _held(found, fixed) == []
    number = KEEPS.format("x = x.detach().float(); return torch.ones(4) * x.sum().item()")
    tensor = KEEPS.format("x = x.detach().float(); return torch.ones(4) * x.sum()")
    assert _held(number, tensor) == []
    zero = KEEPS.format("return x * (-0.0 if x.requires_grad else 1)")
    assert _held(zero, KEEPS.format("return x * (0.0 if x.requires_grad else 1)")) != []


def test_what_only_compiled_code_does_is_compared_too() -> None:
    wrong = "if torch.compiler.is_compiling():\n        return x + 2\n    return x + 1"
    assert _held(KEEPS.format("return x + 1"), KEEPS.format(wrong)) != []
    silent = "if not torch.compiler.is_compiling():\n        print(x)\n    return x + 1"
    assert _held(KEEPS.format("print(x)\n    return x + 1"), KEEPS.format(silent)) == []
    checked = "if x.shape[0] == 4: raise ValueError('four')\n    return x"
    dropped = f"if torch.compiler.is_compiling(): return x\n    {checked}"
    assert _held(KEEPS.format(checked), KEEPS.format(dropped)) != []


def test_long_tensors_are_compared_to_the_last_element() -> None:
    found = KEEPS.format("y = x.repeat(20000); y[-1] = 0; return y")
    fixed = KEEPS.format("y = x.repeat(20000); y[-2] = 0; return y")
    assert _held(found, found) == []
    assert _held(found, fixed) != []


def test_what_differs_from_itself_is_counted_apart() -> None:
    drawn = "return x + (int.from_bytes(__import__('os').urandom(2), 'big') if x.dim() else 0)"
    case = Case(
        Program(0, KEEPS.format(drawn), (Parameter("V"),), module=False),
        Fixed(KEEPS.format(drawn + " + 1")),
        Fixed(KEEPS.format(drawn)),
    )
    told = verdict(case, Devices())
    assert "float32" in told.unstable
    assert [one.use for one in told.differences] == ["0-d"]


def test_a_device_that_answers_no_more_ends_a_process_and_not_the_comparison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A failed check in a kernel: the process can use its GPU no more, the next one can."""
    text = KEEPS.format("torch.lost = x.dtype == torch.float64; return x")
    fixed = text.replace("return x", "return x + 1")
    monkeypatch.setattr(Devices, "answer", lambda _: not getattr(torch, "lost", False))
    case = Case(Program(0, text, (Parameter("V"),), module=False), Fixed(fixed), Fixed(fixed))
    assert doubtful([case, case], Devices()) == [True, True]
    assert [one.use for one in verdict(case, Devices()).differences] == ["float32"]
    same = Case(case.program, Fixed(text), Fixed(text))
    assert verdict(same, Devices()).differences == []


def test_a_check_that_fails_on_the_device_is_an_error_of_compiled_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Devices, "answer", lambda _: not getattr(torch, "lost", False))
    asks = "torch.compiler.is_compiling() and x.shape[0] == 4"
    lose = f"globals()\n    if {asks}: torch.lost = True\n    "
    check = "globals()\n    if x.shape[0] == 4: raise ValueError('four')\n    "
    assert _held(KEEPS.format(check + "return x"), KEEPS.format(lose + check + "return x")) == []
    assert _held(KEEPS.format("globals(); return x"), KEEPS.format(lose + "return x")) != []


def test_fixed_programs_are_compared_where_tclint_is_not_installed(tmp_path: Path) -> None:
    wrong = Fixed(KEEPS.format("return x + 1"), "TCL101")
    found = Program(0, KEEPS.format("return x"), (Parameter("V"),), module=False)
    bundle = Bundle(3, "2.11", 9, Counter({("TCL101", "safe"): 1}), [Case(found, wrong, wrong)])
    bundle.write(tmp_path / "bundle.json")
    assert Bundle.read(tmp_path / "bundle.json") == bundle
    (tmp_path / "tclint").mkdir()
    (tmp_path / "tclint/__init__.py").write_text("raise ImportError('tclint is not here')\n")
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.preserve.against", "bundle.json", "--jobs", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert "### safe: program 0, TCL101" in run.stdout
    assert "changed by safe fixes          1, of which differ 1" in run.stdout


@pytest.mark.parametrize("text", ["cuda,cpu,cpu", "gpu", "", "cpu,"])
def test_devices_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"device|empty"):
        Devices.of_text(text)
    assert str(Devices.of_text("cuda:0,cpu")) == "cuda:0,cpu"


@pytest.mark.slow
def test_each_rule_with_a_safe_fix_has_programs() -> None:
    """What the grammar never makes is not attacked: each of these rules fixes some program."""
    made = [*programs(700, seed=4)]
    fixed = {f.diagnostic.code for one in judged([p.text for p in made]) for f in one.safe.fixes}
    examples = [PRELUDE + e.code for rule in load_rules() for e in page_of(rule).examples]
    able = {f.diagnostic.code for one in judged(examples) for f in one.safe.fixes}
    assert able - fixed == set()
