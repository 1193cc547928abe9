"""What one call does: forward, backward or a training step; and what counts as equal after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

torch = pytest.importorskip("torch")

from tclint.verify.arms import Options, Side  # noqa: E402
from tclint.verify.compare import verify_sides  # noqa: E402
from tclint.verify.contract import Loaded, read_made  # noqa: E402
from tclint.verify.equality import compare  # noqa: E402
from tclint.verify.errors import TargetError  # noqa: E402
from tclint.verify.inputs import derive, from_specs  # noqa: E402
from tclint.verify.regional import repeated_blocks  # noqa: E402
from tclint.verify.results import Probe, TargetReport  # noqa: E402
from tclint.verify.share import own_rows  # noqa: E402
from tclint.verify.snapshot import take  # noqa: E402
from tclint.verify.steps import backward, leaves, make_optimizer, training_step  # noqa: E402

pytestmark = pytest.mark.usefixtures("copied_children")

NET = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            return self.inner(x).relu() * SCALE

    SCALE = 1.0

    def make():
        return {"model": Net(), "inputs": (torch.ones(2, 4),), "optimizer": torch.optim.AdamW}

    def given():
        def step(model, optimizer, x):
            optimizer.zero_grad()
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return {"model": Net(), "inputs": (torch.ones(2, 4),), "train_step": step}

    def trained():
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        def step(x):
            optimizer.zero_grad()
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return {"model": model, "inputs": (torch.ones(2, 4),), "train_step": step,
                "optimizer": optimizer}
"""


def verify(tmp_path: Path, phase: str, factory: str = "make", *texts: str) -> TargetReport:
    sides = []
    for number, text in enumerate(texts or (NET,)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "net.py").write_text(dedent(text))
        sides.append(Side("after" if number else "before", f"net.py:{factory}", folder))
    return verify_sides("net", sides, Options("eager", speed=False, phase=phase))


def probe(report: TargetReport) -> Probe:
    assert report.after.probe is not None, report.after.failure
    return report.after.probe


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "factory"),
    [("backward", "make"), ("step", "make"), ("step", "trained"), ("step", "given")],
)
def test_a_training_run_compares_whole(tmp_path: Path, phase: str, factory: str) -> None:
    report = verify(tmp_path, phase, factory)
    found = probe(report)
    assert report.equality.verdict == "identical"
    assert (found.phase, found.graphs, found.fullgraph) == (phase, 1, "possible")


@pytest.mark.slow
def test_gradients_are_compared_too(tmp_path: Path) -> None:
    hidden = NET.replace("self.inner(x).relu() * SCALE", "self.inner(x.detach()).relu().mul(1)")
    other = hidden.replace(".mul(1)", ".mul(1) + 0 * self.inner.bias.square().sum().sqrt()")
    frozen = NET.replace(".relu() * SCALE", ".relu().detach() + 0 * self.inner(x)")
    assert verify(tmp_path, "forward", "make", NET, frozen).equality.equal is True
    (tmp_path / "again").mkdir()
    report = verify(tmp_path / "again", "backward", "make", NET, frozen)
    assert report.equality.verdict == "different"
    assert "gradients" in report.equality.detail
    assert other != hidden


@pytest.mark.slow
def test_random_output_is_called_not_deterministic(tmp_path: Path) -> None:
    text = """
        import os, torch

        def f(x):
            return x + int.from_bytes(os.urandom(2), "big")

        def make():
            return f, (torch.ones(2),), {}
    """
    report = verify(tmp_path, "forward", "make", text)
    assert report.equality.verdict == "not-deterministic"
    assert report.equality.equal is None


def test_tensors_are_found_in_whatever_came_out() -> None:
    one, two = torch.ones(1), torch.ones(2)
    assert list(leaves({"a": [one, (two, 3)], "b": None})) == [one, two]


def test_a_backward_without_gradients_is_refused() -> None:
    with pytest.raises(TargetError, match="there is no backward"):
        backward(torch.relu, (torch.ones(2),), {})


def test_a_step_leaves_gradients_to_look_at() -> None:
    layer = torch.nn.Linear(2, 1)
    optimizer = make_optimizer(None, list(layer.parameters()))
    assert optimizer is not None
    before = layer.weight.detach().clone()
    training_step(layer, optimizer, (torch.ones(3, 2),), {})
    assert layer.weight.grad is not None
    assert not torch.equal(before, layer.weight)


def test_what_is_no_optimizer_is_refused() -> None:
    with pytest.raises(TargetError, match="made a int"):
        make_optimizer(lambda _: 3, [torch.ones(1)])


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (torch.nn.Linear(6, 2), (4, 6)),
        (torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()), (4, 3, 32, 32)),
        (torch.nn.Embedding(9, 2), (4, 16)),
    ],
)
def test_inputs_of_simple_modules_are_derived(layer: torch.nn.Module, shape: object) -> None:
    (made,) = derive(layer, "m")
    assert tuple(made.shape) == shape
    layer(made)


def test_inputs_that_cannot_be_told_are_asked_for() -> None:
    with pytest.raises(TargetError, match="return `inputs` beside it"):
        derive(torch.nn.ReLU(), "m")


def test_inputs_are_made_as_configured() -> None:
    images, labels = from_specs(["bfloat16[2, 3]", "int64[8]<10"], "m")
    assert (images.dtype, tuple(images.shape)) == (torch.bfloat16, (2, 3))
    assert (labels.dtype, int(labels.max()) < 10) == (torch.int64, True)
    with pytest.raises(TargetError, match="is not an input"):
        from_specs(["floaty[2]"], "m")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"model": 3}, "must be callable"),
        ({"model": len, "inputs": 3}, "`inputs` must be"),
        ({"model": len, "inputs": (1,), "trainstep": 1}, "'trainstep' is not one of"),
        ({"model": len, "inputs": (1,), "tolerance": "x"}, "`tolerance` must be a number"),
    ],
)
def test_an_object_that_breaks_the_contract_is_told_so(made: object, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        read_made(made, "m:f")


def test_only_repeated_blocks_with_parts_are_regions() -> None:
    def block() -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

    blocks = [block() for _ in range(3)]
    model = torch.nn.Sequential(torch.nn.ModuleList(blocks), torch.nn.Linear(2, 2))
    assert repeated_blocks(model) == tuple(blocks)
    assert repeated_blocks(torch.nn.Linear(2, 2)) == ()


def test_errors_are_measured_against_float64() -> None:
    truth = torch.rand(1000, dtype=torch.float64)
    eager, good, bad = truth.float() * (1 + 1e-6), truth.float() * (1 - 2e-6), truth.float() + 1e-4

    def judged(actual: torch.Tensor) -> str:
        runs = [{"call 1": take(value)} for value in (eager, actual, truth)]
        return compare(*runs).verdict

    assert (judged(good), judged(bad)) == ("close", "different")


def test_float64_of_changed_code_excuses_no_change() -> None:
    old = torch.rand(1000, dtype=torch.float64)
    rounding = 1 + 1e-6 * torch.rand(1000)

    def judged(truth: torch.Tensor, error: torch.Tensor = rounding) -> str:
        runs = [take(old.float() * rounding), take((truth * error).float()), take(truth)]
        expected, actual, true = ({"call 1": value} for value in runs)
        return compare(expected, actual, true, changed=True).verdict

    assert judged(old, 1 - 2e-6 * torch.rand(1000)) == "close"
    assert judged(old * 1.03) == judged(old + 1e-3) == "different"


def test_rounding_errors_around_zero_are_no_difference() -> None:
    truth = torch.zeros(1000, dtype=torch.float64)
    eager, compiled, wrong = (torch.rand(1000) * size for size in (1e-9, 9e-9, 1e-3))

    def judged(actual: torch.Tensor) -> str:
        runs = ({"gradients": take([v, torch.ones(3)])} for v in (eager, actual))
        return compare(*runs, {"gradients": take([truth, torch.ones(3).double()])}).verdict

    assert (judged(compiled), judged(wrong)) == ("close", "different")


def test_weights_whose_gradient_is_rounding_may_go_either_way() -> None:
    def trained(flipped: int, start: int = 0) -> torch.Tensor:
        bias = torch.full((1000,), 1e-3, dtype=torch.float64)
        bias[start : start + flipped] *= -1
        return bias

    truth, eager = trained(0), trained(30).float()

    def judged(actual: torch.Tensor, *, same_draws: bool = True) -> str:
        runs = ({"state": take([v, torch.ones(3)])} for v in (eager, actual.float()))
        true = {"state": take([truth, torch.ones(3).double()])}
        return compare(*runs, true, same_draws=same_draws).verdict

    assert judged(trained(60, start=500)) == "close"
    assert judged(trained(60, start=500), same_draws=False) == "different"
    assert judged(trained(900)) == "different"


def test_a_tensor_is_wrong_where_no_tensor_of_its_snapshot_goes_astray() -> None:
    truth = torch.rand(1000, dtype=torch.float64)
    eager, wrong = truth.float() * (1 + 1e-6), truth.float() + 1e-4
    runs = ({"state": take(v)} for v in (eager, wrong, truth))
    assert compare(*runs, same_draws=True).verdict == "different"


def test_mixed_precision_is_measured_by_its_own_errors() -> None:
    truth = torch.rand(1000, dtype=torch.float64)
    eager, good, bad = (
        (truth * (1 + error * torch.rand(1000))).float() for error in (4e-3, -5e-3, 9e-2)
    )

    def judged(actual: torch.Tensor) -> str:
        return compare(*({"call 1": take(v)} for v in (eager, actual, truth))).verdict

    assert (judged(good), judged(bad)) == ("close", "different")


def test_each_rank_draws_rows_of_its_own_that_stay_together() -> None:
    loaded = Loaded(len, (torch.arange(8), torch.arange(8) * 10), {"scale": torch.tensor(2.0)})
    assert own_rows(loaded, 0) is loaded
    mine, other = own_rows(loaded, 1), own_rows(loaded, 2)
    assert torch.equal(mine.args[0] * 10, mine.args[1])
    assert not torch.equal(mine.args[0], other.args[0])
    assert mine.kwargs == loaded.kwargs


@pytest.mark.parametrize(
    ("step", "given"),
    [
        (lambda x: x, ()),
        (lambda model, x: x, ("model",)),
        (lambda optimizer, x: x, ("optimizer",)),
        (lambda model, optimizer, *inputs: inputs, ("model", "optimizer")),
        (lambda x, model: x, ()),
    ],
)
def test_a_step_is_given_what_its_first_parameters_name(
    step: Callable[..., object], given: tuple[str, ...]
) -> None:
    assert Loaded(len, (), {}, train_step=step).given == given


def test_a_stated_tolerance_comes_first() -> None:
    runs = [{"call 1": take(torch.ones(2) + error)} for error in (0.0, 0.05)]
    assert compare(*runs).verdict == "different"
    assert compare(*runs, None, 0.1).verdict == "close"
