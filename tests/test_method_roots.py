"""Methods that count as compiled though nothing compiles them: each program is held to Dynamo."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tclint.report.looked import looked_line
from tests.dynamo import breaks
from tests.test_names_and_training import found

FUNCTION = """\
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        {forward}
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        {backward}
        return grad * 2
"""
SET_UP = """\
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        {context}

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale
"""
APPLIED = "\n\ndef f(x):\n    return Double.apply(x)\n"
OPTIMIZER = """\
import torch


class Descent(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, {{"lr": lr}})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                {step}
                self.update(p, group["lr"])

    def update(self, p, lr):
        {update}
        p.sub_(p.grad * lr)
"""
STEPPED = """

p = torch.ones(3, requires_grad=True)
p.grad = torch.ones(3)
f = Descent([p]).step
"""


def functions() -> dict[str, tuple[str, str, list[str]]]:
    """Autograd functions and optimizers, what calls them, and what is found of each."""
    function, optimizer = FUNCTION.format, OPTIMIZER.format
    return {
        "forward reads": (
            function(forward="x = x * x.sum().item()", backward="pass"), APPLIED, ["TCL101"]
        ),
        "forward branches": (
            function(forward="x = x if x.sum() > 0 else -x", backward="pass"), APPLIED, ["TCL160"]
        ),
        "forward is plain": (
            function(forward="x = x * x.shape[0]", backward="pass"), APPLIED, []
        ),
        "backward reads": (
            function(forward="pass", backward="grad = grad * x.max().item()"), APPLIED, ["TCL101"]
        ),
        "backward prints": (
            function(forward="pass", backward="print('back')"), APPLIED, ["TCL120"]
        ),
        "backward asks what is needed": (
            function(forward="pass", backward="grad = grad if ctx.needs_input_grad[0] else grad"),
            APPLIED, [],
        ),
        "the context is set up by a read": (
            SET_UP.format(context="ctx.scale = x.sum().item()"), APPLIED, ["TCL101"]
        ),
        "the context is set up by a number": (
            SET_UP.format(context="ctx.scale = x.shape[0]"), APPLIED, []
        ),
        "forward takes gradients inside": (
            function(forward="y = x.detach(); y.requires_grad_()", backward="pass"), APPLIED, []
        ),
        "forward returns what it takes gradients of": (
            function(forward="y = x.detach().requires_grad_(); return y", backward="pass"),
            APPLIED, ["TCL188"],
        ),
        "forward takes a gradient of its input": (
            function(forward="x.requires_grad_(True)", backward="pass"), APPLIED, []
        ),
        "backward takes gradients of what was saved": (
            function(forward="pass", backward="y = x.detach().requires_grad_(x.requires_grad)"),
            APPLIED, [],
        ),
        "backward assigns what needs a gradient": (
            function(forward="pass", backward="y = x.detach(); y.requires_grad = True"),
            APPLIED, ["TCL183"],
        ),
        "forward stops a parameter": (
            function(forward="LAYER.weight.requires_grad_(False)", backward="pass").replace(
                "torch\n", "torch\n\nLAYER = torch.nn.Linear(3, 3)\n", 1
            ),
            APPLIED, ["TCL188"],
        ),
        "step reads": (
            optimizer(step="p.mul_(1 / (p.grad.norm().item() + 1))", update="pass"),
            STEPPED, ["TCL101"],
        ),
        "step branches": (
            optimizer(step="p.grad.mul_(0.5) if p.grad.norm() > 1 else None", update="pass"),
            STEPPED, ["TCL160"],
        ),
        "step has no break": (
            optimizer(step="p.mul_(0.9)", update="lr = lr * 2"), STEPPED, []
        ),
        "what step calls reads": (
            optimizer(step="pass", update="lr = lr * p.grad.max().item()"), STEPPED, ["TCL101"]
        ),
        "what step calls clips": (
            optimizer(step="pass", update="p.grad.clamp_(-1, 1)"), STEPPED, []
        ),
    }  # fmt: skip


@pytest.mark.parametrize(("text", "call", "expected"), functions().values(), ids=functions())
def test_what_torch_calls_counts_as_compiled(
    text: str, call: str, expected: list[str], tmp_path: Path
) -> None:
    assert [code for code, _ in found(text, tmp_path, "TCL1")] == expected


@pytest.mark.slow
@pytest.mark.parametrize(("text", "call", "expected"), functions().values(), ids=functions())
def test_dynamo_agrees(text: str, call: str, expected: list[str]) -> None:
    torch = pytest.importorskip("torch")
    given = () if call is STEPPED else (torch.ones(3, requires_grad=True) * 1,)
    assert breaks(text + call, *given) == bool(expected)


KEPT_OUT = """

@torch.compiler.disable
def double(x):
    return Double.apply(x)
"""


def test_a_function_that_only_eager_code_applies_is_none(tmp_path: Path) -> None:
    text = FUNCTION.format(forward="x = x * x.sum().item()", backward="pass")
    assert found(text + KEPT_OUT, tmp_path, "TCL1") == []
    both = text + KEPT_OUT + "\n\ndef plain(x):\n    return Double.apply(x)\n"
    assert [code for code, _ in found(both, tmp_path, "TCL1")] == ["TCL101"]
    alias = text + KEPT_OUT + "\n\nplain = Double.apply\n"
    assert [code for code, _ in found(alias, tmp_path, "TCL1")] == ["TCL101"]


OLD = """\
import torch


class Double(torch.autograd.Function):
    def __init__(self, by=2):
        self.by = by

    def forward(ctx, x):
        return x * x.sum().item()

    def backward(ctx, grad):
        return grad
"""


def test_a_function_whose_objects_were_called_counts_where_it_is_applied(tmp_path: Path) -> None:
    called = OLD + "\n\ndef f(x):\n    return Double(3)(x)\n"
    assert found(called, tmp_path, "TCL1") == []
    assert [code for code, _ in found(OLD + APPLIED, tmp_path, "TCL1")] == ["TCL101"]


@pytest.mark.slow
def test_torch_runs_such_a_function_only_where_it_is_applied() -> None:
    torch = pytest.importorskip("torch")
    names: dict[str, type] = {}
    exec(OLD, names)
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        names["Double"](3)(torch.ones(3))
    assert breaks(OLD + APPLIED, torch.ones(3, requires_grad=True) * 1)


def test_an_input_without_gradient_is_not_taken_for_a_tensor(tmp_path: Path) -> None:
    text = FUNCTION.format(forward="x = x * float(eps)", backward="pass")
    text = text.replace("(ctx, x)", "(ctx, x, eps)").replace("grad * 2", "grad * 2, None")
    assert found(text, tmp_path, "TCL1") == []
    reads = text.replace("float(eps)", "float(x.sum())")
    assert [code for code, _ in found(reads, tmp_path, "TCL1")] == ["TCL102"]


def test_a_step_that_is_disabled_is_none(tmp_path: Path) -> None:
    text = OPTIMIZER.format(step="print(p.sum().item())", update="pass")
    text = text.replace("@torch.no_grad()", "@torch.compiler.disable")
    assert found(text, tmp_path, "TCL1") == []


def test_a_scheduler_is_no_optimizer(tmp_path: Path) -> None:
    text = "import torch\n\n\nclass Rates(torch.optim.lr_scheduler.LRScheduler):\n"
    text += "    def step(self, x: torch.Tensor):\n        return x.sum().item()\n"
    assert found(text, tmp_path, "TCL1") == []


def test_an_optimizer_below_one_of_torch_and_below_one_of_the_project_count(
    tmp_path: Path,
) -> None:
    text = OPTIMIZER.format(step="pass", update="pass")
    text = text.replace("torch.optim.Optimizer", "torch.optim.SGD")
    text += "\n\nclass Further(Descent):\n    def step(self, closure=None):\n"
    text += "        for p in self.param_groups[0]['params']:\n            print(p.grad)\n"
    assert [code for code, _ in found(text, tmp_path, "TCL1")] == ["TCL120"]


def test_nothing_of_it_counts_where_only_what_is_compiled_does(tmp_path: Path) -> None:
    text = FUNCTION.format(forward="x = x * x.sum().item()", backward="pass")
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    run = check_files([tmp_path / "m.py"], Config(tmp_path, scope="compiled"))
    assert [result.diagnostic.code for result in run.results] == []


WORLD = """\
import torch
from torch import nn


class World(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def _train(self, x):
        x = self.layer(x)
        return x * x.sum().item()

    def sample(self, x):
        return self._train(x) if x.shape[0] > 1 else x

    def unasked(self, x):
        return x * x.min().item()

    def state_dict(self):
        return {"x": self.layer.weight.sum().item()}

"""
FORWARD = """
    def forward(self, x):
        return self.layer(x)

    def generate(self, x: torch.Tensor):
        for _ in range(3):
            x = self(x)
            x = x / x.max().item()
        return x

"""
USES = {
    "an attribute": """
class Agent:
    def __init__(self):
        self._world = World()
        self._world = torch.compile(self._world, backend="eager")

    def act(self, x):
        return self._world._train(x)
""",
    "compiled in place": """
class Agent:
    def __init__(self):
        self._world = World()
        self._world.compile(backend="eager")

    def act(self, x):
        return self._world._train(x)
""",
    "a variable": """
world = torch.compile(World(), backend="eager")


def act(x):
    return world._train(x)
""",
    "a variable with a type": """
world: World = torch.compile(World(), backend="eager")


def act(x):
    return world.sample(x)
""",
}


@pytest.mark.parametrize("uses", USES.values(), ids=USES)
def test_what_is_called_on_a_compiled_object_counts(uses: str, tmp_path: Path) -> None:
    assert found(WORLD + uses, tmp_path, "TCL1") == [("TCL101", 12)]


def test_a_method_that_calls_its_object_and_one_of_every_module_do_not(tmp_path: Path) -> None:
    uses = "world = torch.compile(World())\nworld.generate(x)\nworld.state_dict()\n"
    assert found(WORLD + FORWARD + uses, tmp_path, "TCL1") == []


SET_UP_BY = """
    def init_weights(self, std: float = 0.02):
        torch.nn.init.trunc_normal_(self.layer.weight, std=std)

    def optimizer(self, lr=0.1):
        print(lr)
        return torch.optim.SGD(self.parameters(), lr)

    def scaled(self, x):
        return self.layer(x) * x.sum().item()
"""


def test_what_sets_up_a_compiled_model_does_not_count(tmp_path: Path) -> None:
    text = WORLD + FORWARD + SET_UP_BY + "world = torch.compile(World())\n"
    calls = "world.init_weights()\noptimizer = world.optimizer(0.2)\n"
    assert found(text + calls, tmp_path, "TCL1") == []
    found_there = found(text + calls + "world.scaled(x)\n", tmp_path, "TCL1")
    assert found_there == [("TCL101", text.count("\n", 0, text.rindex(".item()")) + 1)]


def test_what_is_called_before_it_is_compiled_does_not_count(tmp_path: Path) -> None:
    before = "def main(x):\n    world = World()\n    world._train(x)\n"
    compiled = "    world = torch.compile(world)\n    return world.unasked(x)\n"
    assert found(WORLD + before + compiled, tmp_path, "TCL1") == [("TCL101", 18)]


def test_a_class_without_forward_is_not_taken_for_one_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(WORLD + USES["an attribute"], encoding="utf-8")
    told = looked_line(check_files([tmp_path / "m.py"], Config(tmp_path)))
    assert "is not in these files" not in told
    assert "1 function as if compiled" in told
    (tmp_path / "m.py").write_text(
        WORLD.replace("nn.Module)", "Base)") + USES["an attribute"], encoding="utf-8"
    )
    told = looked_line(check_files([tmp_path / "m.py"], Config(tmp_path)))
    assert "takes what is not in these files" in told


def test_a_private_method_is_compiled_in_name_only(tmp_path: Path) -> None:
    assert [code for code, _ in found(WORLD + USES["an attribute"], tmp_path, "TCL4")] == ["TCL416"]
    local = "def act(x):\n    world = torch.compile(World())\n    return world._train(x)\n"
    assert [code for code, _ in found(WORLD + local, tmp_path, "TCL4")] == ["TCL416"]
    own = local.replace("_train(x)", "_call_impl(x)")
    assert found(WORLD + own, tmp_path, "TCL4") == []


@pytest.mark.slow
def test_dynamo_compiles_no_method_of_a_compiled_object_but_its_call() -> None:
    torch = pytest.importorskip("torch")
    compiled: list[object] = []

    def backend(graph: object, _: object) -> object:
        compiled.append(graph)
        return graph.forward  # type: ignore[attr-defined]

    names: dict[str, object] = {}
    exec(textwrap.dedent(WORLD + FORWARD), names)
    world = torch.compile(names["World"](), backend=backend)  # type: ignore[operator]
    x = torch.ones(2, 3)
    for method in (world._train, world.sample, world.unasked, world.generate):
        method(x)
        assert compiled == []
    world._call_impl(x)
    assert len(compiled) == 1
    torch._dynamo.reset()


GIVES_WAY = """\
import torch

ASYNC = True


def is_sync():
    global ASYNC
    return not ASYNC or torch.compiler.is_compiling()


class Request:
    def __init__(self):
        self.way = None


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, request):
        print(x)
        request.way = Waited
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, None


class Waited(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(x)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g


def call(x):
BODY
"""
DONE = "request = Request()\n    y = Doubled.apply(x, request)\n    return request.way.apply(y)"
DEEPER = DONE.replace("\n", "\n    ")
WAYS = {
    f"    if torch.compiler.is_compiling():\n        return x * 2\n    {DONE}": False,
    f"    if is_sync():\n        return x * 2\n    {DONE}": False,
    f"    if not is_sync() and x.shape[0]:\n        {DEEPER}\n    return x * 2": False,
    f"    if x.shape[0] == 0:\n        return x * 2\n    {DONE}": True,
    f"    if torch.compiler.is_compiling():\n        x = x + 1\n    {DONE}": True,
    f"    if not torch.compiler.is_compiling():\n        return x * 2\n    {DONE}": True,
}


@pytest.mark.parametrize("body", WAYS)
def test_what_is_applied_only_where_nothing_compiles_does_not_count(
    body: str, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    text = GIVES_WAY.replace("BODY", body)
    assert bool(found(text, tmp_path, "TCL120")) is WAYS[body]
    made: dict[str, Any] = {}
    exec(compile(text, str(tmp_path / "m.py"), "exec"), made)
    torch._dynamo.reset()
    counters.clear()
    torch.compile(made["call"], backend="eager")(torch.ones(3, requires_grad=True))
    assert bool(counters["graph_break"]) is WAYS[body]


def test_an_input_that_only_counts_is_a_number(tmp_path: Path) -> None:
    text = """
        import torch


        class Halves(torch.autograd.Function):
            @staticmethod
            def forward(ctx, count, x):
                for _ in range(0, x.shape[0], count):
                    x = x * 2
                return x

            @staticmethod
            def backward(ctx, grad):
                return tuple([None, grad * 2])


        def f(x):
            return Halves.apply(2, x)
    """
    (tmp_path / "halves.py").write_text(textwrap.dedent(text.partition("        def f(x)")[0]))
    assert not check_files([tmp_path / "halves.py"], Config(tmp_path)).results
    assert not breaks(textwrap.dedent(text), pytest.importorskip("torch").ones(3))


def test_what_no_gradient_is_put_before_is_not_taken_for_a_tensor(tmp_path: Path) -> None:
    text = FUNCTION.format(forward="x = x * int(step)", backward="pass")
    text = text.replace("(ctx, x)", "(ctx, step, x)").replace("grad * 2", "(None,) + (grad * 2,)")
    assert found(text, tmp_path, "TCL1") == []
    turned = text.replace("(None,) + (grad * 2,)", "(grad * 2,) + (None,)")
    assert [code for code, _ in found(turned, tmp_path, "TCL1")] == ["TCL102"]
    called = APPLIED.replace("apply(x)", "apply(1, x)")
    assert not breaks(text + called, pytest.importorskip("torch").ones(3, requires_grad=True))


KERNEL = """\
import {library}
import torch


@{library}.{decorator}
def kernel(y, x):
    if x[0] > 0:
        print(x)


class Called(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        kernel(y, x)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad
"""


@pytest.mark.parametrize("kernel", ["taichi.kernel", "numba.njit", "triton.jit", "functools.cache"])
def test_the_text_of_a_kernel_is_not_python_s(tmp_path: Path, kernel: str) -> None:
    library, _, decorator = kernel.partition(".")
    path = tmp_path / "called.py"
    path.write_text(KERNEL.format(library=library, decorator=decorator), encoding="utf-8")
    found = {one.diagnostic.code for one in check_files([path], Config(tmp_path)).results}
    assert {"TCL120", "TCL160"}.isdisjoint(found) is (library != "functools")


def test_what_backward_marks_as_dirty_breaks_where_an_input_needs_a_gradient(
    tmp_path: Path,
) -> None:
    torch = pytest.importorskip("torch")
    text = FUNCTION.format(forward="pass", backward="ctx.mark_dirty(grad)")
    path = tmp_path / "double.py"
    path.write_text(text, encoding="utf-8")
    (found,) = (one.diagnostic for one in check_files([path], Config(tmp_path)).results)
    assert found.code == "TCL189" and "where no input" not in found.message
    assert breaks(text + APPLIED, torch.ones(3, requires_grad=True))
    assert not breaks(text + APPLIED, torch.ones(3))


INNER = """\
import torch


class Outer(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.5})
        self.inner = torch.optim.SGD(params, lr=0.5)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.inner.param_groups:
            group["lr"] = RATE
        self.inner.step()
"""


@pytest.mark.parametrize(
    ("rate", "told"), [('self.param_groups[0]["lr"]', []), ("0.5 * group['lr']", ["TCL501"])]
)
def test_a_rate_that_is_taken_from_another_optimizer_does_not_change(
    rate: str, told: list[str], tmp_path: Path
) -> None:
    text = INNER.replace("RATE", rate)
    assert [code for code, _ in found(text, tmp_path, "TCL501")] == told
    names: dict[str, Any] = {}
    exec(text, names)
    torch = names["torch"]
    parameter = torch.nn.Parameter(torch.ones(3))
    parameter.grad = torch.ones(3)
    optimizer, graphs = names["Outer"]([parameter]), []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    def step() -> None:
        optimizer.step()

    torch._dynamo.reset()
    for _ in range(4):
        torch.compile(step, backend=backend)()
    assert (len(graphs) > 1) is bool(told)
