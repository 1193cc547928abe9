"""The kernels of a step by class, what a remedy brings of each, and the ceiling of a step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tclint.run.ceiling import ceiling_of, demand_of
from tclint.run.device_work import gpu_work
from tclint.run.kernels import kernel_classes, within_waits, without_loading
from tclint.run.operations import arithmetic, least_bytes
from tclint.run.outlook import Ceiling, KernelClass
from tclint.run.rates import FILE
from tests.gpu_traces import RATES, SGEMM, TF32, Trace
from tests.run_recordings import Recording

TRACES = Path(__file__).parents[1] / "fixtures" / "gpu_traces"
MATRICES = [[4096, 4096], [4096, 4096]]
FLOPS = 2 * 4096**3


def classes(trace: Trace, step_ms: float) -> dict[str, KernelClass]:
    found = kernel_classes(trace.events, 1, step_ms, RATES)
    assert found is not None
    return {one.name: one for one in found.classes}


def ceiling(trace: Trace, step_ms: float) -> Ceiling:
    demand = demand_of(trace.events, 1, step_ms, RATES)
    assert demand is not None
    return ceiling_of(demand, RATES)


def test_products_are_told_apart_by_precision_and_what_another_one_brings() -> None:
    trace = Trace()
    trace.call("aten::mm", MATRICES, SGEMM, 2800)
    trace.call("aten::mm", MATRICES, TF32, 400)
    trace.call("aten::mm", MATRICES, "nvjet_tst_128x256", 180, dtype="c10::BFloat16")
    found = classes(trace, 3.38)
    assert [*found] == ["matmul float32 (no TF32)", "matmul TF32", "matmul bfloat16"]
    plain = found["matmul float32 (no TF32)"]
    assert plain.ms == pytest.approx(2.8)
    assert plain.saves == pytest.approx(2.8 - FLOPS / 400e12 * 1e3, rel=0.01)
    assert plain.change == "precision"
    assert found["matmul bfloat16"].saves == 0


def test_kernels_of_one_class_sum_to_the_time_in_which_any_ran() -> None:
    trace = Trace()
    for _ in range(3):
        trace.call("aten::mm", MATRICES, SGEMM, 1000)
        trace.call("aten::add", [[4096, 4096]], "vectorized_elementwise_kernel<4>", 100)
    found = kernel_classes(trace.events, 1, 5.0, RATES)
    assert found is not None
    assert sum(one.ms for one in found.classes) == pytest.approx(3.3)
    assert found.idle == pytest.approx(1.7)


def test_a_workspace_that_is_cleared_for_a_product_is_part_of_it() -> None:
    trace = Trace()
    trace.call("aten::mm", MATRICES, "Memset (Device)", 2, cat="gpu_memset")
    trace.events.append({**trace.events[2], "name": SGEMM, "dur": 2800.0, "cat": "kernel"})
    assert [*classes(trace, 3.0)] == ["matmul float32 (no TF32)"]


def test_a_kernel_without_an_operation_is_known_by_its_name() -> None:
    trace = Trace()
    trace.call("aten::mm", MATRICES, SGEMM, 100)
    for name in ("flash_fwd_kernel", "nvjet_tst_64x8", "triton_poi_fused_add_3", "ncclDevKernel_x"):
        trace.call("aten::mm", [], name, 10)
    operations = [event for event in trace.events if event["cat"] == "cpu_op"]
    trace.events = [event for event in trace.events if event not in operations[1:]]
    assert [one.name for one in gpu_work(trace.events)] == [
        "matmul float32 (no TF32)",
        "attention unknown precision",
        "matmul bfloat16",
        "fused pointwise and reductions",
        "collectives",
    ]


def test_attention_that_is_written_out_is_a_class_of_its_own() -> None:
    trace = Trace()
    query, keys, scores = [128, 512, 64], [128, 64, 512], [16, 8, 512, 512]
    trace.call("aten::bmm", [query, keys], SGEMM, 300)
    trace.call("aten::masked_fill", [scores, [1, 1, 512, 512]], "elementwise_kernel", 150)
    trace.call("aten::_softmax", [scores], "softmax_warp_forward", 150)
    trace.call("aten::bmm", [[128, 512, 512], [128, 512, 64]], SGEMM, 300)
    trace.call("aten::add", [[16, 512, 512]], "vectorized_elementwise_kernel", 50)
    found = classes(trace, 0.95)
    by_hand = found["attention by hand"]
    assert by_hand.launches == 4
    assert by_hand.ms == pytest.approx(0.9, rel=0.01)
    assert "scaled_dot_product_attention" in by_hand.remedy
    assert by_hand.saves > 0.5
    assert found["pointwise and reductions"].launches == 1


def test_convolutions_are_told_apart_by_the_layout_of_their_images() -> None:
    trace = Trace()
    images, weight = [32, 64, 56, 56], [64, 64, 3, 3]
    values = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]
    rest: list[list[int]] = [[], [], [], [], [], [], []]
    trace.call("aten::convolution", [images, weight, *rest], "sm80_xmma_fprop", 500, values=values)
    last = [[200704, 1, 3584, 64], [576, 1, 192, 64], *rest]
    trace.call(
        "aten::convolution",
        [images, weight, *rest],
        "sm90_xmma_fprop_implicit_gemm_tf32f32",
        200,
        values=values,
        strides=last,
    )
    assert [*classes(trace, 0.7)] == [
        "convolution channels-first, float32",
        "convolution channels-last, float32",
    ]
    assert [one.precision for one in gpu_work(trace.events)] == ["float32 (no TF32)", "TF32"]
    assert arithmetic(gpu_work(trace.events)[0].call) == 2 * 32 * 64 * 56 * 56 * 64 * 9


def test_a_step_of_an_optimizer_is_its_own_class_whatever_runs_in_it() -> None:
    trace = Trace()
    shapes = [[[4096, 4096], [4096]], [[4096, 4096], [4096]], []]
    for _ in range(6):
        trace.call("aten::_foreach_lerp_", shapes, "multi_tensor_apply_kernel", 60)
    trace.step("AdamW", 6)
    found = classes(trace, 0.4)
    assert [*found] == ["optimizer"]
    assert found["optimizer"].remedy == "`fused=True`"


def test_where_the_gpu_waits_for_launches_a_graph_of_them_helps() -> None:
    trace = Trace()
    for _ in range(50):
        trace.call("aten::add", [[64, 64]], "vectorized_elementwise_kernel", 2)
    found = kernel_classes(trace.events, 1, 1.0, RATES)
    assert found is not None
    assert found.idle_saves == pytest.approx(0.9 - 50 * 1.5e-3, abs=0.01)
    assert "reduce-overhead" in found.idle_remedy


def test_where_the_gpu_waits_for_data_fewer_launches_bring_nothing() -> None:
    trace = Trace()
    trace.load(900, workers=True)
    trace.call("aten::mm", MATRICES, SGEMM, 90)
    found = kernel_classes(trace.events, 1, 1.0, RATES)
    assert found is not None
    assert found.idle_saves == 0
    assert ceiling(trace, 1.0).bound_by == "loading"


def test_what_a_loader_takes_outside_of_the_profile_is_not_saved_by_fewer_launches() -> None:
    trace = Trace()
    for _ in range(50):
        trace.call("aten::add", [[64, 64]], "vectorized_elementwise_kernel", 2)
    found = kernel_classes(trace.events, 1, 1.0, RATES)
    some, all_of_it = without_loading(found, 0.6), without_loading(found, 2.0)
    assert some is not None
    assert all_of_it is not None
    assert some.idle_saves == pytest.approx(0.3)
    assert (all_of_it.idle_saves, all_of_it.idle_remedy) == (0, "")
    assert without_loading(None, 1.0) is None


def test_the_ceiling_is_arithmetic_where_products_have_most() -> None:
    trace = Trace()
    trace.call("aten::mm", MATRICES, SGEMM, 4000)
    least = ceiling(trace, 10.0)
    assert least.bound_by == "arithmetic"
    assert least.ms == pytest.approx(FLOPS / 50e12 * 1e3)
    assert least.words == "products in float32 (no TF32) at 50 TFLOP/s"


def test_the_ceiling_is_memory_where_little_is_computed() -> None:
    trace = Trace()
    for _ in range(4):
        trace.call("aten::add", [[1 << 28], [1 << 28]], "vectorized_elementwise_kernel", 1200)
    least = ceiling(trace, 5.0)
    assert least.bound_by == "memory"
    assert least.ms == pytest.approx(3 * (1 << 30) / 3e12 * 1e3)


def test_the_ceiling_is_launches_where_kernels_are_small() -> None:
    trace = Trace()
    for _ in range(100):
        trace.call("aten::mm", [[8, 8], [8, 8]], SGEMM, 2)
        trace.call("aten::relu", [[8, 8]], "vectorized_elementwise_kernel", 2)
    least = ceiling(trace, 2.0)
    assert least.bound_by == "launches"
    assert least.ms == pytest.approx(200 * 1.5e-3)


def test_no_ceiling_is_above_what_the_kernels_took() -> None:
    trace = Trace()
    trace.call("aten::mm", MATRICES, TF32, 300)
    trace.call("aten::unknown", [[4096, 4096]], "who_knows", 20)
    demand = demand_of(trace.events, 1, 0.32, RATES)
    assert demand is not None
    assert demand.arithmetic + demand.memory <= 0.35


def test_attention_counts_half_where_it_is_causal() -> None:
    trace = Trace()
    shapes = [[16, 8, 512, 64]] * 3
    name = "aten::_scaled_dot_product_flash_attention"
    for causal in ("False", "True"):
        values = ["", "", "", "0.", causal]
        trace.call(name, [*shapes, [], []], "flash_fwd_kernel", 50, values=values)
    whole, half = (arithmetic(one.call) for one in gpu_work(trace.events))
    assert whole == 2 * half == 2 * 2 * 16 * 8 * 512 * 512 * 64


def test_what_is_expanded_is_read_once() -> None:
    trace = Trace()
    strides = [[4096, 1], [0, 1]]
    trace.call("aten::add", MATRICES, "elementwise_kernel", 50, strides=strides)
    assert least_bytes(gpu_work(trace.events)[0].call) == 4 * (2 * 4096**2 + 4096)


def test_odd_sizes_in_a_trace_are_as_good_as_none() -> None:
    trace = Trace()
    trace.call("aten::mm", [[-1, 2], [2, "x"]], SGEMM, 50)
    trace.call("aten::mm", MATRICES, SGEMM, 50)
    trace.events[0]["args"]["Input type"] = 3
    found = gpu_work(trace.events)
    assert [arithmetic(one.call) for one in found] == [0, FLOPS]


def test_a_trace_without_a_gpu_has_no_classes() -> None:
    trace = Trace()
    trace.load(10, workers=False)
    assert kernel_classes(trace.events, 1, 1.0, RATES) is None
    assert demand_of(trace.events, 1, 1.0, RATES) is None


def test_each_kernel_of_a_cuda_graph_is_of_its_own_class() -> None:
    trace = Trace()
    trace.graph([("flash_fwd_kernel_bf16", 300), ("nvjet_tst_64x8", 200), ("triton_poi_add", 90)])
    found = classes(trace, 1.0)
    assert [(one, round(told.ms, 2)) for one, told in found.items()] == [
        ("attention bfloat16", 0.3),
        ("matmul bfloat16", 0.2),
        ("fused pointwise and reductions", 0.09),
    ]
    assert not any(told.saves for told in found.values())
    trace.call("aten::mm", MATRICES, "nvjet_tst_64x8", 180, dtype="c10::BFloat16")
    least = ceiling(trace, 1.0)
    assert least.ms == pytest.approx(0.59 + 0.17, rel=0.05), "what nobody can count takes as long"


def test_cuda_graphs_save_nothing_of_what_they_launch_already() -> None:
    small = [("nvjet_tst_64x8", 1.0)] * 100
    graphs, both = Trace(), Trace()
    graphs.graph(small)
    both.graph(small[:50])
    for _ in range(50):
        both.call("aten::mm", [[8, 8], [8, 8]], SGEMM, 1)
    told = [kernel_classes(one.events, 1, 2.0, RATES) for one in (graphs, both)]
    assert [found is not None and found.idle > 1 for found in told] == [True, True]
    saves = [found.idle_saves if found else None for found in told]
    assert saves == [0, pytest.approx((1.9 - 100 * 1.5e-3) / 2, rel=0.05)]


def test_an_optimizer_that_has_no_fused_step_is_not_told_to_be_fused() -> None:
    for optimizer, remedy in (("Adadelta", ""), ("Muon", ""), ("SGD", "`fused=True`")):
        trace = Trace()
        for _ in range(4):
            trace.call("aten::_foreach_add_", [[[4096, 4096]]], "multi_tensor_apply_kernel", 300)
        trace.step(optimizer, 4)
        assert classes(trace, 1.5)["optimizer"].remedy == remedy


def test_faster_kernels_save_no_more_than_the_host_waits_for_them() -> None:
    trace = Trace()
    trace.call("aten::mm", MATRICES, SGEMM, 2800)
    found = kernel_classes(trace.events, 1, 2.8, RATES)
    assert found is not None
    assert found.classes[0].saves > 2
    for waiting, saves in ((0.5, 0.5), (0.0, 0.0), (None, found.classes[0].saves)):
        bounded = within_waits(found, waiting)
        assert bounded is not None
        assert bounded.classes[0].saves == saves
        assert bounded.classes[0].on_gpu == found.classes[0].saves


@pytest.mark.parametrize(("launches", "saves"), [(300, 1.0), (1500, 4.4)])
def test_a_host_that_waits_within_launches_works_less_than_it_seems(
    tmp_path: Path, launches: int, saves: float
) -> None:
    """The queue of launches is full: the profiler's slower host never sees that."""
    trace = Trace()
    for _ in range(launches):
        trace.call("aten::add", [[64, 64]], "vectorized_elementwise_kernel", 2)
    trace.call("aten::mm", MATRICES, SGEMM, 5500)
    trace.wait(900)
    recording = Recording(tmp_path)
    (recording.folder / "trace.json").write_text(json.dumps({"traceEvents": trace.events}))
    (recording.folder / FILE).write_text((TRACES / FILE).read_text())
    profile = {"kind": "profile", "first": 30, "last": 30, "file": "trace.json"}
    recording.process(
        recording.steps(), recording.samples({5: 90, 7: 10}), item(recording), profile,
        recording.end(),
    )  # fmt: skip
    first = recording.answer().first
    assert first is not None
    assert first.kernels is not None
    matmul = next(one for one in first.kernels.classes if one.name.startswith("matmul"))
    assert matmul.saves == pytest.approx(saves, rel=0.05)


def item(recording: Recording) -> dict[str, object]:
    """Row 7 waits once in each of two steps."""
    stacks = [[recording.place(17, "<module>"), recording.place(7)]]
    return {
        "kind": "syncs",
        "first": 12,
        "last": 13,
        "stacks": stacks,
        "events": [[12, 0], [13, 0]],
    }
