"""What rules claim about a GPU: who waits for it, and which code becomes a CUDA graph."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from tclint.lint.rule import PRELUDE, Bad, Good, Rule

from .proof.cases import cases

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
COPIES = "TCL330"
CREATED = "TCL310"
FORMULAS = "TCL60"


def _syncs(call: Callable[[], object]) -> int:
    """How often the CPU waits for the GPU."""
    torch.cuda.synchronize()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            call()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(one.message) for one in seen)


def _function(code: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(PRELUDE + code, names)
    made = names["f"]
    return made().cuda() if isinstance(made, type) else made


def _on_gpu(source: str) -> list[Any]:
    names: dict[str, Any] = {}
    exec(PRELUDE, names)
    given: tuple[Any, ...] = eval(source, names)
    return [one.cuda() if isinstance(one, torch.Tensor) else "cuda" for one in given]


def _of(code: str) -> Callable[[Rule, Any], bool]:
    return lambda rule, _example: rule.code.startswith(code)


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_of(COPIES)))
def test_a_copy_to_the_host_waits(rule: Rule, example: Bad) -> None:
    function, inputs = _function(example.code), _on_gpu(example.inputs)
    assert _syncs(lambda: function(*inputs)) > 0
    compiled = torch.compile(function)
    compiled(*inputs)
    assert _syncs(lambda: compiled(*inputs)) > 0


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_of(CREATED)))
def test_a_tensor_made_on_the_device_is_not_waited_for(rule: Rule, example: Bad) -> None:
    inputs = _on_gpu(example.inputs)
    after = example.unsafe or example.fixed
    assert after is not None
    before, fixed = _function(example.code), _function(after)
    assert _syncs(lambda: before(*inputs)) > _syncs(lambda: fixed(*inputs))


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_of(FORMULAS)))
def test_an_operator_gives_what_the_formula_gave(rule: Rule, example: Bad) -> None:
    if example.unsafe is None:
        pytest.skip("no fix")
    inputs = _on_gpu(example.inputs)
    before, after = (_function(code)(*inputs) for code in (example.code, example.unsafe))
    torch.testing.assert_close(before, after)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_of(FORMULAS)))
def test_an_operator_rounds_no_worse_than_the_formula(rule: Rule, example: Bad, name: str) -> None:
    if example.unsafe is None or rule.code == "TCL607" or "float64" in example.code:
        pytest.skip("not of one dtype")
    torch.manual_seed(0)
    exact = [torch.randn_like(one).double() for one in _on_gpu(example.inputs)]
    rounded = [one.to(getattr(torch, name)) for one in exact]
    truth = _function(example.code)(*[one.double() for one in rounded])
    formula, operator = (_function(c)(*rounded) for c in (example.code, example.unsafe))
    error = (formula - truth).abs().max()
    step = torch.finfo(getattr(torch, name)).eps * truth.abs().max()
    assert (operator - truth).abs().max() <= error + 2 * step


def _skipped(code: str) -> int:
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    function = _function(code)
    for _ in range(4):
        function(torch.rand(3, 3, device="cuda"))
    return int(counters["inductor"]["cudagraph_skips"])


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_of("TCL701")))
def test_a_changed_input_keeps_code_from_becoming_a_graph(rule: Rule, example: Bad) -> None:
    assert _skipped(example.code) > 0


@pytest.mark.parametrize(("rule", "example"), cases(Good, where=_of("TCL701")))
def test_what_the_rule_leaves_alone_becomes_a_graph(rule: Rule, example: Good) -> None:
    if "nn.Module" in example.code:
        pytest.skip("the module is made on the CPU")
    assert _skipped(example.code) == 0


def test_a_buffer_may_change_in_a_graph() -> None:
    code = (
        "class Count(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        '        self.register_buffer("n", torch.zeros((), device="cuda"))\n\n'
        "    def forward(self, x):\n        self.n.add_(1)\n        return x * self.n\n"
        '\n\nf = torch.compile(Count(), mode="reduce-overhead")\n'
    )
    assert _skipped(code) == 0


def test_each_size_records_a_graph() -> None:
    from torch._inductor import cudagraph_trees

    torch._dynamo.reset()
    recorded: list[object] = []
    original = cudagraph_trees.CUDAGraphNode.__init__

    def counting(self: Any, *args: Any, **kwargs: Any) -> None:
        recorded.append(self)
        original(self, *args, **kwargs)

    compiled = torch.compile(
        lambda x: torch.softmax(x @ x.T, -1) @ x, mode="reduce-overhead", dynamic=True
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cudagraph_trees.CUDAGraphNode, "__init__", counting)
        for rows in (8, 9, 10, 11):
            for _ in range(3):
                torch.compiler.cudagraph_mark_step_begin()
                compiled(torch.rand(rows, 16, device="cuda"))
    assert len(recorded) >= 4


@pytest.mark.parametrize("optimizer", ["AdamW", "SGD"])
def test_a_step_for_each_parameter_runs_more_kernels(optimizer: str) -> None:
    """TCL503: `foreach=False` keeps inductor from updating all parameters at once."""
    assert _kernels_of_step(optimizer, foreach=False) > _kernels_of_step(optimizer, foreach=None)


def _kernels_of_step(name: str, *, foreach: bool | None) -> int:
    torch._dynamo.reset()
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)]).cuda()
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1, foreach=foreach)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)

    @torch.compile
    def step() -> None:
        optimizer.step()

    for _ in range(3):
        step()
    return _kernels(step)


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_of("TCL505")))
def test_dropped_gradients_are_not_filled(rule: Rule, example: Bad) -> None:
    assert example.unsafe is not None
    inputs = _on_gpu(example.inputs)
    counts = []
    for code in (example.code, example.unsafe):
        train = _function(code.replace("nn.Linear(3, 3)", "nn.Linear(3, 3).cuda()"))
        counts.append(_kernels(functools.partial(train, *inputs)))
    assert counts[1] < counts[0]


def _kernels(call: Callable[[], object]) -> int:
    """How many kernels a call runs."""
    from tclint.verify.measure import kernels

    call()
    counted = kernels(call)
    assert counted is not None
    return counted.run


def test_products_are_full_float32_until_told() -> None:
    """TCL620: the error of a product grows when TF32 is allowed, and only then."""
    a = torch.rand(512, 512, device="cuda")
    exact = a.double() @ a.double()
    errors = []
    for precision in ("highest", "high"):
        torch.set_float32_matmul_precision(precision)
        errors.append(float(((a @ a).double() - exact).abs().max()))
    torch.set_float32_matmul_precision("highest")
    assert errors[0] < errors[1] / 10


def test_synchronize_waits_for_what_is_under_way() -> None:
    """TCL331: an event that is pending before is done behind it."""
    a, done = torch.rand(8192, 8192, device="cuda"), torch.cuda.Event()
    torch.cuda.synchronize()
    for _ in range(20):
        a @ a
    done.record()
    assert not done.query()
    torch.cuda.synchronize()
    assert done.query()


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_of("TCL334")))
def test_a_pinned_batch_need_not_be_waited_for(rule: Rule, example: Bad) -> None:
    assert example.unsafe is not None
    model = torch.nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    waits = []
    for code in (example.code, example.unsafe):
        names: dict[str, Any] = {}
        exec(PRELUDE + code, names)
        train = functools.partial(names["train"], model, optimizer, "cuda")
        train()
        waits.append(_syncs(train))
    assert waits[0] - waits[1] >= len(names["loader"])
