"""Which loops are training steps, and what counts as done in every one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

STEP = """\
import time

import torch


def train(model, optimizer, batches, epochs):
    for epoch in range(epochs):
        for i, (x, y) in enumerate(batches):
            loss = model(x, y)
            loss.backward()
            optimizer.step()
"""
WAIT = "torch.cuda.synchronize()\n"
INNER, OUTER = " " * 12, " " * 8


def codes(tmp_path: Path, source: str) -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(source, encoding="utf-8")
    config = Config(tmp_path, select=("TCL331", "TCL332"))
    return [result.diagnostic.code for result in check_files([path], config).results]


EVERY = {
    "plainly": INNER + WAIT,
    "below `with`": f"{INNER}with torch.no_grad():\n{INNER}    {WAIT}",
    "below `try`": f"{INNER}try:\n{INNER}    {WAIT}{INNER}finally:\n{INNER}    pass\n",
}
FOR_A_GPU = "torch.cuda.is_available()"
EVERY |= {
    "where there is a GPU": f"{INNER}if {FOR_A_GPU}:\n{INNER}    {WAIT}",
    "on a GPU": f"{INNER}if device.type == 'cuda':\n{INNER}    {WAIT}",
    "by another name": f"{INNER}wait = torch.cuda.synchronize\n{INNER}wait()\n",
}
NOT_EVERY = {
    "where there is no GPU": f"{INNER}if {FOR_A_GPU}:\n{INNER}    pass\n{INNER}else:\n"
    f"{INNER}    {WAIT}",
    "on a GPU, sometimes": f"{INNER}if {FOR_A_GPU} and i % 9 == 0:\n{INNER}    {WAIT}",
    "a name that is given": f"{INNER}wait = print\n{INNER}wait = batches.wait\n{INNER}wait()\n",
    "below `if`": f"{INNER}if i % 100 == 0:\n{INNER}    {WAIT}",
    "once an epoch": OUTER + WAIT,
    "in a function": f"{INNER}def wait():\n{INNER}    {WAIT}",
    "with a clock": f"{INNER}{WAIT}{INNER}print(time.perf_counter())\n",
    "in an exception's handler": f"{INNER}try:\n{INNER}    pass\n{INNER}except OSError:\n"
    f"{INNER}    {WAIT}",
}


@pytest.mark.parametrize("tail", EVERY.values(), ids=EVERY)
def test_in_every_step(tmp_path: Path, tail: str) -> None:
    assert codes(tmp_path, STEP + tail) == ["TCL331"]


@pytest.mark.parametrize("tail", NOT_EVERY.values(), ids=NOT_EVERY)
def test_not_in_every_step(tmp_path: Path, tail: str) -> None:
    assert codes(tmp_path, STEP + tail) == []


@pytest.mark.parametrize("missing", ["loss.backward()", "optimizer.step()"])
def test_a_loop_that_does_not_train_is_left_alone(tmp_path: Path, missing: str) -> None:
    assert codes(tmp_path, STEP.replace(missing, "pass") + INNER + WAIT) == []


def test_a_function_of_the_file_s_own_is_no_function_of_torch(tmp_path: Path) -> None:
    own = "class torch:\n    class cuda:\n        synchronize = print\n\n\n"
    source = (STEP + INNER + WAIT).replace("import torch\n\n\n", own)
    assert codes(tmp_path, source) == []


@pytest.mark.parametrize(("reads", "found"), [(2, []), (3, ["TCL332"]), (7, ["TCL332"])])
def test_several_reads_are_one_finding(tmp_path: Path, reads: int, found: list[str]) -> None:
    tail = "".join(f"{INNER}print(x[{k}].item())\n" for k in range(reads))
    assert codes(tmp_path, STEP + tail) == found


@pytest.mark.parametrize(("name", "found"), [("test_train", []), ("testing", ["TCL331"])])
def test_tests_may_wait(tmp_path: Path, name: str, found: list[str]) -> None:
    source = (STEP + INNER + WAIT).replace("def train(", f"def {name}(")
    assert codes(tmp_path, source) == found


KEPT = """\
import torch


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.run = {kept}
        self.run = spread(self.run)

    def both(self, x):
        loss = self.model(x).sum()
        loss.backward()
        torch.cuda.synchronize()

    def train(self, batches):
        for x in batches:
            self.run(x)
            self.optimizer.step()
"""


@pytest.mark.parametrize("kept", ["self.both", "torch.compile(self.both)", "partial(self.both)"])
def test_a_method_that_an_attribute_holds_is_a_part_of_the_step(kept: str, tmp_path: Path) -> None:
    assert codes(tmp_path, KEPT.format(kept=kept)) == ["TCL331"]
    assert codes(tmp_path, KEPT.format(kept="model")) == []


def test_what_is_told_to_optimize_steps(tmp_path: Path) -> None:
    source = STEP.replace("optimizer.step()", "scaling.optimize(optimizer)") + INNER + WAIT
    assert codes(tmp_path, source) == ["TCL331"]
    assert codes(tmp_path, source.replace("(optimizer)\n", "(model)\n")) == []


@pytest.mark.parametrize(("given", "found"), [("False", 1), ("set_to_none=False", 1), ("True", 0)])
def test_gradients_that_are_kept_are_told_however_it_is_said(
    given: str, found: int, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{STEP}{INNER}optimizer.zero_grad({given})\n", encoding="utf-8")
    changed = fix_files([path], Config(tmp_path, select=("TCL505",)), unsafe=True).changed
    assert [given.replace("False", "True") in one.after for one in changed] == [True] * found
