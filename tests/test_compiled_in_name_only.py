"""What is compiled and runs eagerly all the same: each program is held to what Dynamo compiles."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

NET = """\
import copy
import functools

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x).sin()

    def generate(self, x):
        return self(self(x))

    def encode(self, x):
        return self.layer(x).cos()


class Calling(Net):
    def __call__(self, x):
        return self.forward(x) * 2


class Passing(Net):
    def __call__(self, x):
        return super().__call__(x) * 2


"""
IN_VAIN = {
    "a method that calls the model": """
        model = torch.compile(Net(), backend=backend)
        model.generate(x)
    """,
    "a name of its own": """
        model = Net()
        compiled = torch.compile(model, backend=backend)
        compiled.encode(x)
    """,
    "behind eval": """
        model = torch.compile(Net(), backend=backend)
        model.eval()
        model = model.to("cpu")
        with torch.no_grad():
            model.eval().generate(x)
    """,
    "a part of it": """
        model = torch.compile(Net(), backend=backend)
        print(model.layer.weight.shape)
        model.layer(x)
    """,
    "a method that is passed on": """
        model = torch.compile(Net(), backend=backend)
        functools.partial(model.encode)(x)
        model.encode(x)
    """,
    "in a loop": """
        model = torch.compile(Net(), backend=backend)
        for _ in range(3):
            model.encode(x)
    """,
    "in a function inside": """
        model = torch.compile(Net(), backend=backend)

        def sample():
            return model.generate(x)

        sample()
    """,
    "a function inside has one of that name": """
        model = torch.compile(Net(), backend=backend)

        def run(model):
            return model(x)

        run(Net())
        model.generate(x)
    """,
    "the wrapper is taken off": """
        model = torch.compile(Net(), backend=backend)
        model._orig_mod(x)
    """,
    "the original is called": """
        model = Net()
        compiled = torch.compile(model, backend=backend)
        compiled.train()
        model(x)
    """,
    "forward of what is compiled in place": """
        model = Net()
        model.compile(backend=backend)
        model.train()
        model.forward(x)
    """,
    "a call of its own": """
        model = Calling()
        model.compile(backend=backend)
        model(x)
    """,
}
COMPILED = {
    "called": """
        model = torch.compile(Net(), backend=backend)
        model.encode(x)
        model(x)
    """,
    "forward": """
        model = torch.compile(Net(), backend=backend)
        model.encode(x)
        model.forward(x)
    """,
    "forward that is passed on": """
        model = torch.compile(Net(), backend=backend)
        model.encode(x)
        map_over = functools.partial(model.forward)
        map_over(x)
    """,
    "passed on": """
        model = torch.compile(Net(), backend=backend)
        model.encode(x)
        nn.Sequential(model)(x)
    """,
    "passed on behind eval": """
        model = torch.compile(Net(), backend=backend)
        model.encode(x)
        other = model.eval()
        other(x)
    """,
    "called in a function inside": """
        model = torch.compile(Net(), backend=backend)

        def run():
            return model(x)

        model.encode(x)
        run()
    """,
    "called in the next round": """
        model = None
        for _ in range(2):
            if model is not None:
                model(x)
            model = torch.compile(Net(), backend=backend)
            model.encode(x)
    """,
    "the method is compiled": """
        model = torch.compile(Net(), backend=backend)
        model.encode = torch.compile(model.encode, backend=backend)
        model.encode(x)
    """,
    "in place, by a method": """
        model = Net()
        model.compile(backend=backend)
        model.generate(x)
    """,
    "in place, called too": """
        model = Net()
        model.compile(backend=backend)
        model.forward(x)
        model(x)
    """,
    "in place, held by others": """
        model = Net()
        both = nn.Sequential(model)
        model.compile(backend=backend)
        model.forward(x)
        both(x)
    """,
    "a call that calls the module's": """
        model = Passing()
        model.compile(backend=backend)
        model(x)
    """,
    "not in place, with a call of its own": """
        model = torch.compile(Calling(), backend=backend)
        model(x)
    """,
}
COPIES = {
    "forward": ("forward", "copy.deepcopy(model)"),
    "another method": ("encode", "copy.deepcopy(model)"),
    "averaged": ("forward", "AveragedModel(model)"),
}


RUNNER = """\
class Runner:
    def __init__(self, backend):
        {made}

    def run(self, x):
        {run}


def main(x, backend):
    runner = Runner(backend)
    runner.run(x)
"""
KEPT_IN_VAIN = {
    "a method": (
        "self.model = torch.compile(Net(), backend=backend)",
        "return self.model.generate(x)",
    ),
    "a method of what was made before": (
        "self.model = Net(); self.model = torch.compile(self.model, backend=backend)",
        "self.model.eval(); return self.model.encode(x)",
    ),
}
KEPT_COMPILED = {
    "called": (
        "self.model = torch.compile(Net(), backend=backend)",
        "self.model(x); return self.model.generate(x)",
    ),
    "called by another name": (
        "self.model = torch.compile(Net(), backend=backend)",
        "model = self.model; model(x); return self.model.encode(x)",
    ),
    "passed on": (
        "self.model = torch.compile(Net(), backend=backend)",
        "list(map(self.model, [x])); return self.model.encode(x)",
    ),
    "its forward": (
        "self.model = torch.compile(Net(), backend=backend)",
        "self.model.forward(x); return self.model.encode(x)",
    ),
    "given back by a method": (
        "self.model = torch.compile(Net(), backend=backend)",
        "self.model.eval()(x); return self.model.encode(x)",
    ),
}


def program(body: str) -> str:
    return f"{NET}def main(x, backend):\n{textwrap.indent(textwrap.dedent(body), '    ')}"


def codes(root: Path, text: str) -> list[str]:
    path = root / "program.py"
    path.write_text(text, encoding="utf-8")
    run = check_files([path], Config(root, scope="compiled"))
    found = [result.diagnostic.code for result in run.results]
    return [code for code in found if code in ("TCL411", "TCL414", "TCL416", "TCL417")]


def frames(text: str) -> int:
    import torch
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    counter = CompileCounter()
    names: dict[str, object] = {}
    exec(compile(text, "program.py", "exec"), names)
    names["main"](torch.ones(2, 4), counter)  # type: ignore[operator]
    return int(counter.frame_count)


@pytest.mark.parametrize("name", IN_VAIN)
def test_what_compiles_no_frame_is_reported(tmp_path: Path, name: str) -> None:
    text = program(IN_VAIN[name])
    assert codes(tmp_path, text) == ["TCL416"]
    assert frames(text) == 0


@pytest.mark.parametrize("name", KEPT_IN_VAIN)
def test_an_attribute_whose_methods_alone_are_called_is_reported(tmp_path: Path, name: str) -> None:
    made, run = KEPT_IN_VAIN[name]
    text = NET + RUNNER.format(made=made, run=run)
    assert codes(tmp_path, text) == ["TCL416"]
    assert frames(text) == 0


@pytest.mark.parametrize("name", KEPT_COMPILED)
def test_an_attribute_that_is_called_somewhere_is_not(tmp_path: Path, name: str) -> None:
    made, run = KEPT_COMPILED[name]
    text = NET + RUNNER.format(made=made, run=run)
    assert codes(tmp_path, text) == []
    assert frames(text) > 0


def test_another_function_may_call_what_an_attribute_holds(tmp_path: Path) -> None:
    made, run = KEPT_IN_VAIN["a method"]
    text = NET + RUNNER.format(made=made, run=run)
    assert codes(tmp_path, text + "    runner.model(x)\n") == []
    assert codes(tmp_path, text + "    getattr(runner, 'model')(x)\n") == []


@pytest.mark.parametrize("name", COMPILED)
def test_what_compiles_is_not(tmp_path: Path, name: str) -> None:
    text = program(COMPILED[name])
    assert codes(tmp_path, text) == []
    assert frames(text) > 0


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("layers", [
    "nn.Sequential(nn.Linear(4, 4), nn.ReLU())", "nn.Linear(4, 4)",
    "nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.GELU()) for _ in range(2)])",
    "nn.Sequential(*(nn.Linear(4, 4), nn.ReLU()))",
])  # fmt: skip
@pytest.mark.parametrize("way", ["torch.compile(DDP({}), backend=backend)",
                                 "DDP(torch.compile({}, backend=backend))"])  # fmt: skip
def test_layers_of_torch_are_compiled_inside_of_ddp_alone(
    tmp_path: Path, layers: str, way: str
) -> None:
    text = "from torch.nn.parallel import DistributedDataParallel as DDP\n" + program(
        f"model = {way.format(layers)}\nmodel(x).sum().backward()\n"
    )
    outside = way.startswith("torch")
    assert codes(tmp_path, text) == (["TCL416"] if outside else [])
    assert (frames(text) == 0) is outside


@pytest.mark.parametrize("layers", ["Net(), Net()", "*[Net() for _ in range(2)]"])
def test_ddp_around_a_module_of_ones_own_is_compiled_in_part(tmp_path: Path, layers: str) -> None:
    text = "from torch.nn.parallel import DistributedDataParallel as DDP\n" + program(
        f"model = torch.compile(DDP(nn.Sequential({layers})), backend=backend)\nmodel(x)\n"
    )
    assert codes(tmp_path, text) == []


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_with_a_compiled_method_computes_with_the_original(
    tmp_path: Path, name: str
) -> None:
    method, made = COPIES[name]
    text = program(f"""
        model = Net()
        model.{method} = torch.compile(model.{method}, backend=backend)
        twin = {made}
        with torch.no_grad():
            for weight in twin.parameters():
                weight.zero_()
        inner = twin.module if isinstance(twin, AveragedModel) else twin
        assert torch.equal(inner.{method}(x), model.{method}(x))
    """)
    assert codes(tmp_path, text) == ["TCL417"]
    frames(text)


@pytest.mark.parametrize(
    "body",
    [
        """
        model = Net()
        twin = copy.deepcopy(model)
        model.forward = torch.compile(model.forward, backend=backend)
        """,
        """
        model = Net()
        model.compile(backend=backend)
        twin = copy.deepcopy(model)
        """,
        """
        model = Net()
        model.layer = torch.compile(model.layer, backend=backend)
        twin = copy.deepcopy(model)
        """,
        """
        for model in (Net(), Net()):
            twin = copy.deepcopy(model)
            model.forward = torch.compile(model.forward, backend=backend)
        """,
    ],
)
def test_other_copies_compute_with_their_own(tmp_path: Path, body: str) -> None:
    check = """
        with torch.no_grad():
            for weight in twin.parameters():
                weight.zero_()
        assert not twin(x).any()
        assert model(x).any()
        """
    text = program(textwrap.dedent(body) + textwrap.dedent(check))
    assert "TCL417" not in codes(tmp_path, text)
    frames(text)


def test_a_flag_that_is_off_may_be_set_by_what_a_script_executes(tmp_path: Path) -> None:
    script = """
        import torch
        from nets import GPT

        compile = False
        exec(open("settings.py").read())
        model = GPT()
        if compile:
            model = torch.compile(model)
        with torch.no_grad():
            for start in range(3):
                model.generate(start)
    """
    assert codes(tmp_path, textwrap.dedent(script)) == ["TCL416"]
