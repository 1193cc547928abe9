"""Flags that are named for debugging are off, unless the program says that they are on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Confidence
from tclint.lint.engine import check_files

from .dynamo import breaks
from .proof.fixing import fixed

CODE = """\
import torch
from torch import nn

DEBUG = {top}


class f(nn.Module):
    debug = {of_class}
    debug_shapes: bool = {of_class}

    def __init__(self, debug: bool, debug_in={default}, debug_typed: bool = {default}):
        super().__init__()
        self.debug_given = debug
        self.debug_in = debug_in
        self.debug_typed = debug_typed
        self.debug_set = {of_class}

    def forward(self, x: torch.Tensor, debug_p={default}, debug_q: bool = {default}):
        if {test}:
            print(x.shape)
        return x


compiled = torch.compile(f({default}))
"""
FLAGS = [
    "self.debug",
    "self.debug_shapes",
    "self.debug_in",
    "self.debug_typed",
    "debug_p",
    "debug_q",
    "self.debug_set",
    "DEBUG",
]


def found(code: str, folder: Path) -> list[tuple[str, Confidence]]:
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    run = check_files([path], Config(folder, weak=True))
    return [(one.diagnostic.code, one.diagnostic.confidence) for one in run.results]


def program(test: str, flag: str) -> str:
    return CODE.format(test=test, top=flag, of_class=flag, default=flag)


@pytest.mark.parametrize("form", ["{}", "{} and x.ndim > 1", "x.ndim > 1 and {}"])
@pytest.mark.parametrize("flag", FLAGS)
def test_what_is_below_a_flag_that_is_on_is_reported(flag: str, form: str, tmp_path: Path) -> None:
    code = program(form.format(flag), "True")
    assert found(code, tmp_path) == [("TCL120", Confidence.HIGH)]
    assert "is_compiling()" in fixed(code, tmp_path)


@pytest.mark.parametrize("flag", FLAGS)
def test_what_is_below_a_flag_that_is_off_is_not(flag: str, tmp_path: Path) -> None:
    code = program(flag, "False")
    assert {one[1] for one in found(code, tmp_path)} <= {Confidence.LOW}
    assert fixed(code, tmp_path) == code


@pytest.mark.parametrize("flag", ["self.debug_given", "torch.debug"])
def test_a_flag_that_is_not_known_is_off(flag: str, tmp_path: Path) -> None:
    assert found(program(flag, "True"), tmp_path) == [("TCL120", Confidence.LOW)]


def test_a_flag_that_is_on_is_on_in_its_negation_too(tmp_path: Path) -> None:
    code = program("not self.debug", "False")
    assert found(code, tmp_path) == [("TCL120", Confidence.HIGH)]


RUN_ITSELF = """\
import torch


def f(x: torch.Tensor):
    x = x + 1
    if __name__ == "__main__":
        print(1)
    return x * 2


compiled = torch.compile(f)
"""


def test_what_a_file_does_that_is_run_itself_is_not_done_by_others(tmp_path: Path) -> None:
    assert found(RUN_ITSELF, tmp_path) == [("TCL120", Confidence.LOW)]
    assert not breaks(RUN_ITSELF, pytest.importorskip("torch").ones(3))


CONTEXT = """\
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if getattr(ctx, "DEBUG", False):
            print(1)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def f(x):
    return Double.apply(x)
"""


def test_an_attribute_for_debugging_that_may_be_missing_is_off(tmp_path: Path) -> None:
    assert found(CONTEXT, tmp_path) == [("TCL120", Confidence.LOW)]
    assert not breaks(CONTEXT, pytest.importorskip("torch").ones(3, requires_grad=True))
    assert found(CONTEXT.replace("DEBUG", "loud"), tmp_path) == [("TCL120", Confidence.HIGH)]
