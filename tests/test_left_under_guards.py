"""What a fix leaves under its guard still breaks where the guard lets it: it stays a finding."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from tclint.config import Config, Settings
from tclint.diagnostics import Applicability, Confidence
from tclint.lint.engine import check_files

from .proof import fixing

HEAD = "import random\n\nimport numpy as np\nimport torch\nfrom torch import nn\n\n\n"
NET = """\
class f(nn.Module):
    def __init__(self, given=0.0):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.rate = RATE
        self.debug = given is None

    def forward(self, x: torch.Tensor, extra=False):
BODY


compiled = torch.compile(f())
"""
DRAWN = """\
        for _ in range(2):
            p = torch.rand([])
            if TEST:
                continue
            x = self.layer(x)
        return x"""
NUMBER = """\
        p = DRAW
        if TEST:
            return x
        return self.layer(x)"""
USED = ["0.5", "1e-1", "1"]
"""Rates that are not zero as far as the program says."""
OPEN = ["0.0", "0", "given", "float(given)"]
"""Rates that are zero, or may be."""
TESTS = ["p < self.rate", "self.training and p < self.rate", "self.rate > p"]
DRAWS = ["np.random.uniform(0, 1)", "np.random.rand()", "random.random()"]
SETTINGS = Settings(target_torch=(2, 13))
"""Torch 2.13 draws the numbers of `random.random` in eager code."""
FLAGGED = "self.training and p < self.rate"


def net(body: str, rate: str, **words: str) -> str:
    for name, word in words.items():
        body = body.replace(name, word)
    return HEAD + NET.replace("RATE", rate).replace("BODY", body)


def fixed(code: str, folder: Path) -> str:
    return fixing.fixed(code, folder, settings=SETTINGS)


def found(code: str, folder: Path, *, weak: bool = False) -> list[tuple[str, Confidence, object]]:
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    config = Config(folder, select=("TCL1",), weak=weak, settings=SETTINGS)
    run = check_files([path], config)
    told = [result.diagnostic for result in run.results]
    return [(one.code, one.confidence, one.fixable) for one in told]


@pytest.mark.parametrize("rate", USED)
@pytest.mark.parametrize("test", TESTS)
def test_a_rate_that_is_used_is_not_asked_for_zero(rate: str, test: str, tmp_path: Path) -> None:
    code = net(DRAWN, rate, TEST=test)
    [(name, confidence, fixable)] = found(code, tmp_path)
    assert (name, confidence) == ("TCL161", Confidence.HIGH)
    assert fixable is not Applicability.SAFE
    assert fixed(code, tmp_path) == code


@pytest.mark.parametrize("rate", USED)
@pytest.mark.parametrize(
    "test",
    [
        "self.rate != 0.0 and p < self.rate",
        "self.rate > 0 and p < self.rate",
        "self.training and self.rate != 0.0 and self.rate > p",
    ],
)
def test_a_guard_that_is_always_true_hides_nothing(rate: str, test: str, tmp_path: Path) -> None:
    [(name, confidence, _)] = found(net(DRAWN, rate, TEST=test), tmp_path)
    assert (name, confidence) == ("TCL161", Confidence.HIGH)


@pytest.mark.parametrize("rate", ["0.0", "0", "0.5"])
@pytest.mark.parametrize("test", ["p < {}", "self.training and p < {}", "{} > p"])
def test_a_rate_that_is_written_out_is_not_asked(rate: str, test: str, tmp_path: Path) -> None:
    code = net(DRAWN, "0.0", TEST=test.format(rate))
    [(name, _, fixable)] = found(code, tmp_path)
    assert name == "TCL161"
    assert fixable is not Applicability.SAFE
    assert fixed(code, tmp_path) == code


@pytest.mark.parametrize("rate", OPEN)
@pytest.mark.parametrize("test", TESTS)
def test_a_rate_that_may_be_zero_is_asked_first(rate: str, test: str, tmp_path: Path) -> None:
    code = net(DRAWN, rate, TEST=test)
    assert [one[0] for one in found(code, tmp_path)] == ["TCL161"]
    assert fixed(code, tmp_path) == code
    after = code.replace(test, f"self.rate != 0.0 and {test}")
    assert found(after, tmp_path) == []
    left = found(after, tmp_path, weak=True)
    is_zero = rate in {"0.0", "0"}
    assert [one[:2] for one in left] in ([("TCL161", Confidence.LOW)], [] if is_zero else None)


@pytest.mark.parametrize("rate", USED)
@pytest.mark.parametrize("draw", DRAWS)
def test_a_draw_that_training_needs_stays_a_finding(rate: str, draw: str, tmp_path: Path) -> None:
    code = net(NUMBER, rate, DRAW=draw, TEST=FLAGGED)
    after = fixed(code, tmp_path)
    assert "torch.compiler.is_compiling() or (self.training and" in after
    [(name, confidence, fixable)] = found(after, tmp_path)
    assert name in {"TCL180", "TCL181"}
    assert confidence is Confidence.MEDIUM
    assert fixable is None
    assert fixed(after, tmp_path) == after


@pytest.mark.parametrize("draw", DRAWS)
def test_a_written_rate_that_training_needs_stays_a_finding(draw: str, tmp_path: Path) -> None:
    after = fixed(net(NUMBER, "0.0", DRAW=draw, TEST="self.training and p < 0.5"), tmp_path)
    assert "torch.compiler.is_compiling() or self.training:" in after
    assert [one[1] for one in found(after, tmp_path)] == [Confidence.MEDIUM]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    ("rate", "test"),
    [("given", FLAGGED), ("float(given)", FLAGGED), ("0.5", "extra and p < self.rate")],
)
def test_a_draw_that_is_seldom_needed_stays_of_low_confidence(
    draw: str, rate: str, test: str, tmp_path: Path
) -> None:
    after = fixed(net(NUMBER, rate, DRAW=draw, TEST=test), tmp_path)
    assert "is_compiling()" in after
    assert found(after, tmp_path) == []
    assert [one[1] for one in found(after, tmp_path, weak=True)] == [Confidence.LOW]


@pytest.mark.parametrize("rate", USED)
@pytest.mark.parametrize("draw", DRAWS)
def test_a_draw_that_is_always_needed_is_left(rate: str, draw: str, tmp_path: Path) -> None:
    code = net(NUMBER, rate, DRAW=draw, TEST="p < self.rate")
    assert fixed(code, tmp_path) == code
    assert [one[1] for one in found(code, tmp_path)] == [Confidence.HIGH]


@pytest.mark.parametrize(
    "test",
    ["self.training and p < self.rate", "not (not self.training or p > self.rate)"],
)
def test_the_graph_is_whole_in_eval_and_breaks_in_training(test: str, tmp_path: Path) -> None:
    from torch._dynamo.exc import TorchDynamoException

    after = fixed(net(NUMBER, "0.5", DRAW="np.random.uniform(0, 1)", TEST=test), tmp_path)
    assert [one[1] for one in found(after, tmp_path)] == [Confidence.MEDIUM]
    names: dict[str, Any] = {}
    exec(after, names)
    for training in (False, True):
        torch._dynamo.reset()
        compiled = torch.compile(names["f"]().train(training), backend="eager", fullgraph=True)
        with pytest.raises(TorchDynamoException) if training else nullcontext():
            compiled(torch.ones(2, 3))
