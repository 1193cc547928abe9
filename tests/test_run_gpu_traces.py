"""What is said of steps that were recorded on an H100, beside what was measured of them by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.run.ceiling import ceiling_of, demand_of
from tclint.run.gpu import activity
from tclint.run.kernels import kernel_classes
from tclint.run.outlook import Ceiling, KernelClass, KernelClasses
from tclint.run.rates import read_rates
from tclint.run.spans import read_spans

TRACES = Path(__file__).parents[1] / "fixtures" / "gpu_traces"
RATES = read_rates(TRACES)


def told(name: str, step_ms: float) -> tuple[KernelClasses, dict[str, KernelClass]]:
    found = kernel_classes(read_spans(TRACES, f"{name}.json.gz"), 1, step_ms, RATES)
    assert found is not None
    return found, {one.name: one for one in found.classes}


def ceiling(name: str, step_ms: float) -> Ceiling:
    assert RATES is not None
    demand = demand_of(read_spans(TRACES, f"{name}.json.gz"), 1, step_ms, RATES)
    assert demand is not None
    return ceiling_of(demand, RATES)


def test_a_plain_gpt_is_bound_by_products_without_tf32() -> None:
    found, classes = told("gpt", 57.9)
    assert [*classes] == [
        "matmul float32 (no TF32)",
        "pointwise and reductions",
        "attention by hand",
        "optimizer",
        "copies",
    ]
    assert sum(one.ms for one in found.classes) + found.idle == pytest.approx(57.9, rel=0.02)
    # By hand: TF32 saved 22.0 ms, attention in one call 9.7.
    assert classes["matmul float32 (no TF32)"].saves == pytest.approx(22.0, rel=0.15)
    assert classes["attention by hand"].saves == pytest.approx(9.7, rel=0.15)


def test_with_tf32_no_product_is_called_plain() -> None:
    _, classes = told("gpt_tf32", 35.9)
    assert "matmul float32 (no TF32)" not in classes
    assert classes["matmul TF32"].remedy == "bf16 by `torch.autocast`"


def test_a_compiled_step_waits_for_launches() -> None:
    found, classes = told("gpt_hand", 16.8)
    assert "fused pointwise and reductions" in classes
    assert classes["optimizer"].saves == 0
    # By hand: CUDA graphs and what they make possible took the step to 8.0 ms.
    assert found.idle_saves == pytest.approx(16.8 - 8.0, rel=0.15)


def test_a_small_network_waits_for_launches_whatever_its_kernels_are() -> None:
    found, classes = told("loss", 4.0)
    assert "convolution channels-first, float32" in classes
    assert found.idle_saves > 5 * max(one.saves for one in found.classes)
    assert found.launches == 114


def test_a_plain_gpt_launches_more_than_the_queue_takes_before_it_waits() -> None:
    ahead = {name: activity(read_spans(TRACES, f"{name}.json.gz"), 1) for name in ("gpt", "loss")}
    assert {name: seen and seen.may_fill_queue for name, seen in ahead.items()} == {
        "gpt": True,
        "loss": False,
    }


@pytest.mark.parametrize(
    ("name", "step_ms", "best"),
    [("gpt", 57.9, 42.3), ("gpt_tf32", 35.9, 16.8), ("gpt_hand", 16.8, 8.0), ("loss", 4.0, 1.87)],
)
def test_no_step_by_hand_is_below_the_ceiling(name: str, step_ms: float, best: float) -> None:
    assert ceiling(name, step_ms).ms < best


def test_the_ceiling_of_a_plain_gpt_is_its_arithmetic() -> None:
    least = ceiling("gpt", 57.9)
    assert least.bound_by == "arithmetic"
    assert least.words == "products in float32 (no TF32) at 49.4 TFLOP/s"
