"""Where compiled code begins and ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.semantics.events import CompileCall, HostRead, OptimizerInit
from tests.semantics_probe import events_of, mismatch, program, put

COMPILED = {
    "a decorator": """
        @torch.compile
        def f(x):
            return x.item()  #! HostRead item
        def g(x):
            return x.item()
    """,
    "a called decorator, by another import": """
        from torch import compile as jit
        @jit(fullgraph=True)
        def f(x):
            return x.item()  #! HostRead item
    """,
    "a call on a function": """
        def f(x):
            return x.item()  #! HostRead item
        g = torch.compile(f)
    """,
    "a call on a method": """
        class Net(nn.Module):
            def step(self, x):
                return x.item()  #! HostRead item
            def forward(self, x):
                return x.item()
        net = Net()
        step = torch.compile(net.step)
    """,
    "a call on a module": """
        class Net(nn.Module):
            def forward(self, x):
                return x.item()  #! HostRead item
        net = torch.compile(Net())
    """,
    "a module that compiles itself": """
        class Net(nn.Module):
            def forward(self, x):
                return x.item()  #! HostRead item
        def main():
            net = Net()
            net.compile()
    """,
    "an attribute that is compiled": """
        class Inner(nn.Module):
            def forward(self, x):
                return x.item()  #! HostRead item
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.compile(Inner())
    """,
    "a class that is decorated": """
        @torch.compile
        class Net(nn.Module):
            def forward(self, x):
                return x.item()  #! HostRead item
    """,
    "a lambda and a nested function": """
        def main():
            scale = torch.ones(3)
            f = torch.compile(lambda x: x.item())  #! HostRead item
            @torch.compile
            def g(x):
                return x + scale.item()  #! HostRead item
    """,
    "a function that compiles itself": """
        def f(x, again=False):
            if again:
                torch.compile(f)(x)
            return x.item()  #! HostRead item
        torch.compile(f)
    """,
    "helpers, and their helpers": """
        @torch.compile
        def f(x):
            return g(x)
        def g(x):
            return h(x)
        def h(x):
            return x.item()  #! HostRead item
    """,
    "nothing of torch's own setup": """
        import torch._dynamo
        torch._dynamo.config.capture_scalar_outputs = True
        def f(x):
            return x.item()
    """,
}


@pytest.mark.parametrize("text", COMPILED.values(), ids=COMPILED.keys())
def test_a_region_starts_where_something_is_compiled(tmp_path: Path, text: str) -> None:
    assert not mismatch(tmp_path, text, scope="compiled")


SCOPED = """
    class Net(nn.Module):
        def forward(self, x: torch.Tensor):
            return x.item(){modules}
        def other(self, x: torch.Tensor):
            return x.item(){all}
    @torch.compile
    def f(x: torch.Tensor):
        return x.item(){compiled}
    def g(x: torch.Tensor):
        return x.item(){configured}
"""


@pytest.mark.parametrize(
    ("scope", "compiled", "inside"),
    [
        pytest.param("compiled", (), {"compiled"}, id="compiled"),
        pytest.param("modules", (), {"compiled", "modules"}, id="modules"),
        pytest.param("all", (), {"compiled", "modules", "all", "configured"}, id="all"),
        pytest.param("compiled", ("program:g",), {"compiled", "configured"}, id="a name"),
        pytest.param("compiled", ("*:Net",), {"compiled", "modules"}, id="a class by pattern"),
        pytest.param("compiled", ("*.oth*", "*:Net.o*"), {"compiled", "all"}, id="a method"),
    ],
)
def test_the_configuration_says_what_counts_as_compiled(
    tmp_path: Path, scope: str, compiled: tuple[str, ...], inside: set[str]
) -> None:
    names = ("modules", "all", "compiled", "configured")
    marks = {name: "  #! HostRead item" if name in inside else "" for name in names}
    text = SCOPED.format(**marks)
    assert not mismatch(tmp_path, text, scope=scope, compiled=compiled)


PRUNED = {
    "torch.compiler.is_compiling": "if not torch.compiler.is_compiling(): x.item()",
    "is_compiling, returning early": """
        if torch.compiler.is_compiling():
            return x
        x.item()
    """,
    "is_compiling with and": "if flag and not torch.compiler.is_compiling(): x.item()",
    "is_compiling with or": "if torch.compiler.is_compiling() or x.item(): pass",
    "is_compiling in a conditional expression": (
        "y = x if torch.compiler.is_compiling() else x.item()"
    ),
    "is_dynamo_compiling": "if not torch.compiler.is_dynamo_compiling(): x.item()",
    "torch._dynamo.is_compiling": "if not torch._dynamo.is_compiling(): x.item()",
    "an imported name": """
        from torch.compiler import is_compiling
        if not is_compiling(): x.item()
    """,
    "a library's wrapper": """
        from transformers.utils import is_torchdynamo_compiling
        if not is_torchdynamo_compiling(): x.item()
    """,
    "a helper that asks": "if not compiling(): x.item()",
    "torch.jit.is_scripting": "if torch.jit.is_scripting(): x.item()",
    "torch.jit.is_tracing": "if torch.jit.is_tracing(): x.item()",
    "torchvision's name for it": """
        import torchvision
        if torchvision._is_tracing(): x.item()
    """,
    "TYPE_CHECKING": "if TYPE_CHECKING: x.item()",
    "typing.TYPE_CHECKING": "if typing.TYPE_CHECKING: x.item()",
    "__debug__ aside, a false constant": "if False: x.item()",
    "zero": "if 0: x.item()",
    "a constant flag of the module": "if DEBUG: x.item()",
    "a flag compared": "if MODE == 'debug': x.item()",
    "a constant while": "while False: x.item()",
    "an assert that is off": "assert torch.compiler.is_compiling() or x.item()",
}


@pytest.mark.parametrize("body", PRUNED.values(), ids=PRUNED.keys())
def test_code_that_never_runs_compiled_is_silent(tmp_path: Path, body: str) -> None:
    lines = "\n".join(f"            {line}" for line in body.strip("\n").splitlines())
    text = f"""
        import typing
        from typing import TYPE_CHECKING
        DEBUG = False
        MODE = "fast"
        def compiling():
            return torch.compiler.is_compiling()
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            pass
{lines if body.startswith(chr(10)) is False else lines.replace(" " * 20, " " * 12)}
    """
    assert not mismatch(tmp_path, text)


LEFT_OUT = {
    "torch.compiler.disable": "@torch.compiler.disable",
    "torch.compiler.disable with a reason": "@torch.compiler.disable(reason='slow')",
    "torch._dynamo.disable": "@torch._dynamo.disable",
    "assume_constant_result": "@torch.compiler.assume_constant_result",
    "assume_constant_result by its old name": "@torch._dynamo.assume_constant_result",
}


@pytest.mark.parametrize("decorator", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_disabled_functions_are_left_out(tmp_path: Path, decorator: str) -> None:
    text = f"""
        {decorator}
        def helper(x):
            return x.item()
        @torch.compile
        def f(x: torch.Tensor):
            return helper(x)
    """
    assert not mismatch(tmp_path, text, scope="all")


def reads(folder: Path, text: str) -> list[HostRead]:
    paths = put(folder, {"program.py": program(text)})
    found = events_of(paths, Config(folder))
    return [event for event in found if isinstance(event, HostRead)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def forward(self, x, debug=False):\n  if debug: x.item()", id="parameter"),
        pytest.param(
            "def forward(self, x, debug: bool = False):\n  if debug: x.item()", id="typed"
        ),
        pytest.param(
            "debug = False\n def forward(self, x):\n  if self.debug: x.item()", id="class"
        ),
        pytest.param(
            "def __init__(self, debug=False):\n  self.debug = debug\n"
            " def forward(self, x):\n  if self.debug and x.dim(): x.item()",
            id="attribute",
        ),
        pytest.param(
            "def forward(self, x):\n  if getattr(self, 'debug', False): x.item()", id="getattr"
        ),
        pytest.param(
            "def forward(self, x, debug=False):\n  if debug: self.show(x)\n"
            " def show(self, x): x.item()",
            id="a helper below the flag",
        ),
    ],
)
def test_what_is_off_by_default_is_marked(tmp_path: Path, text: str) -> None:
    [event] = reads(tmp_path, f"class Net(nn.Module):\n {text}")
    assert event.site.facts.default_off


def test_a_place_reached_both_below_a_flag_and_always_is_not_marked(tmp_path: Path) -> None:
    [event] = reads(
        tmp_path,
        """
        class Net(nn.Module):
            def forward(self, x, debug=False):
                if debug:
                    self.show(x)
                self.show(x.long())
            def show(self, x):
                x.item()
        """,
    )
    assert not event.site.facts.default_off


def test_the_chain_leads_from_the_root_to_the_line(tmp_path: Path) -> None:
    [event] = reads(
        tmp_path,
        """
        class Net(nn.Module):
            def forward(self, x):
                return self.helper(x)
            def helper(self, x):
                return x.item()
        """,
    )
    assert [(link.function, link.row) for link in event.site.chain] == [
        ("Net.forward", 3),
        ("Net.helper", 5),
    ]


@pytest.mark.parametrize(
    ("setup", "call", "captures"),
    [
        pytest.param("", "@torch.compile", False, id="plain"),
        pytest.param("", "@torch.compile(fullgraph=True)", True, id="fullgraph"),
        pytest.param(
            "torch._dynamo.config.capture_scalar_outputs = True",
            "@torch.compile",
            True,
            id="config",
        ),
    ],
)
def test_regions_know_whether_scalars_are_captured(
    tmp_path: Path, setup: str, call: str, captures: bool
) -> None:
    [event] = reads(tmp_path, f"import torch\n{setup}\n{call}\ndef f(x):\n    x.item()\n")
    assert event.site.region is not None
    assert event.site.region.explicit
    assert event.site.has_setting("capture_scalar_outputs") is captures


def test_a_compiled_optimizer_step_is_known(tmp_path: Path) -> None:
    text = """
        def train(net: nn.Module, x):
            opt = torch.optim.Adam(net.parameters(), lr=1e-3)
            schedule = torch.optim.lr_scheduler.StepLR(opt, 3)
            @torch.compile
            def step():
                opt.step()
            step()
        def other(net):
            plain = torch.optim.SGD(net.parameters(), lr=0.1)
            torch.compile(plain.step)
            eager = torch.optim.SGD(net.parameters(), lr=0.1)
            eager.step()
    """
    paths = put(tmp_path, {"program.py": program(text)})
    found = [e for e in events_of(paths, Config(tmp_path)) if isinstance(e, OptimizerInit)]
    assert [(e.node.lineno, e.compiled_step, len(e.lr_changes)) for e in found] == [
        (2, True, 1),
        (9, True, 0),
        (11, False, 0),
    ]


def test_compile_calls_are_reported_with_their_keywords(tmp_path: Path) -> None:
    text = """
        @torch.compile(mode="default", fullgraph=True)
        def f(x): return x
        class Net(nn.Module):
            def forward(self, x): return x
        net = Net()
        net.compile(dynamic=True)
        torch.compile(net)
        fast = torch.compile(model=net)
    """
    paths = put(tmp_path, {"program.py": program(text)})
    found = [e for e in events_of(paths, Config(tmp_path)) if isinstance(e, CompileCall)]
    assert sorted((e.node.lineno, sorted(e.keywords), e.discarded) for e in found) == [
        (1, ["fullgraph", "mode"], False),
        (6, ["dynamic"], False),
        (7, [], True),
        (8, ["model"], False),
    ]


def test_a_flag_that_is_only_passed_on_stays_off_by_default(tmp_path: Path) -> None:
    [event] = reads(
        tmp_path,
        """
        class Outer(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.config = config
                self.inner = Inner()
            def forward(self, x, debug=None):
                debug = debug if debug is not None else self.config.debug
                return self.inner(x, debug=debug)
        class Inner(nn.Module):
            def forward(self, x, debug=False):
                if debug:
                    x.item()
        """,
    )
    assert event.site.facts.default_off


HALF = "class Half(nn.Module):\n def forward(self, x, height): return x * int(height / 2)\n"
OUTER = (
    "class {name}(nn.Module):\n"
    " def __init__(self):\n  super().__init__()\n  self.inner = {inner}()\n"
    " def forward(self, x{parameter}): return self.inner(x, {given})\n"
)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("", id="nothing constructs the outer one"),
        pytest.param("net = Net()\n", id="the file does"),
        pytest.param("net = Net().cuda()\nhalf = Half()\n", id="it constructs both"),
        pytest.param("def build():\n return Net()\n", id="a function does"),
    ],
)
def test_what_modules_pass_on_is_known_before_what_they_hold(tmp_path: Path, start: str) -> None:
    middle = OUTER.format(name="Middle", inner="Half", parameter=", size", given="size")
    outer = OUTER.format(name="Net", inner="Middle", parameter="", given="x.shape[2]")
    assert not reads(tmp_path, HALF + middle + outer + start)
    tensors = OUTER.format(name="Net", inner="Middle", parameter="", given="x.max()")
    assert len(reads(tmp_path, HALF + middle + tensors + start)) == 1


def test_modules_that_construct_each_other_are_all_looked_at(tmp_path: Path) -> None:
    tree = "class {name}(nn.Module):\n def forward(self, x): return {inner}()(x) * x.item()\n"
    text = tree.format(name="A", inner="B") + tree.format(name="B", inner="A")
    assert len(reads(tmp_path, text)) == 2


HOLDER = """\
class Reader(nn.Module):
    def forward(self, x): return x.max()
class Base(nn.Module):
    def __init__(self, inner, width):
        super().__init__()
        self.inner = inner
    def forward(self, x): return int(self.inner(x))
class Net(Base):
    def __init__(self, inner, width):
        {body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "super().__init__(Reader(), width)",
        "super().__init__(width=width, inner=nn.Sequential(Reader()))",
        "inner = Reader()\n        super().__init__(inner, width)",
        "Base.__init__(self, Reader(), width)",
    ],
)
def test_what_a_subclass_hands_to_its_base_is_what_the_base_calls(
    tmp_path: Path, body: str
) -> None:
    assert len(reads(tmp_path, HOLDER.format(body=body))) == 1


def test_a_subclass_that_hands_on_what_it_was_given_starts_nothing(tmp_path: Path) -> None:
    assert not reads(tmp_path, HOLDER.format(body="super().__init__(inner, int(width))"))


LOSSES = """\
def counted(x, y, lengths, blank): return x.item()
def averaged(x, y, config=None, **more): return x.item()
def single(x): return x.item()
def many(x, y, *others): return x.item()
def named(x, y, *, config): return x.item()
@functools.wraps
def wrapped(x): return x.item()
LOSSES = {{"a": counted, "b": averaged, "c": single, "d": many, "e": named, "f": wrapped}}
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
    def forward(self, x, y, **more): return LOSSES[self.config.loss]({arguments})
"""


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        ("x, y, self.config", {"averaged", "many", "wrapped"}),
        ("x, y, config=self.config", {"averaged", "named", "wrapped"}),
        ("x, y, self.config, 2", {"counted", "many", "wrapped"}),
        ("x", {"single", "wrapped"}),
        ("x, y, **more", {"counted", "averaged", "single", "many", "named", "wrapped"}),
    ],
)
def test_of_a_table_what_cannot_be_called_so_is_left_out(
    tmp_path: Path, arguments: str, called: set[str]
) -> None:
    events = reads(tmp_path, "import functools\n" + LOSSES.format(arguments=arguments))
    assert {event.site.function.name for event in events if event.site.function} == called
