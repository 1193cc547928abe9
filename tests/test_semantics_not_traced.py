"""What is kept out of compiled code by decorators of the program, built on those of torch."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.semantics_probe import mismatch, program

# Each defines `no_dynamo`.
DISABLING = {
    "a function": """
        def no_dynamo(f):
            return torch._dynamo.disable(f)
    """,
    "a function that torch wraps by name": """
        def no_dynamo(f):
            return torch._dynamo.disable(fn=f, recursive=False)
    """,
    "another name": "no_dynamo = torch.compiler.disable",
    "torch's with its options": "no_dynamo = torch.compiler.disable(recursive=False)",
    "a partial one": """
        import functools
        no_dynamo = functools.partial(torch._dynamo.disable, recursive=False)
    """,
    "a lambda": "no_dynamo = lambda f: torch._dynamo.disable(f)",
    "a local variable": """
        def no_dynamo(f):
            off = torch.compiler.disable(f)
            return off
    """,
    "a wrapper around what is disabled": """
        import functools
        def no_dynamo(f):
            off = torch._dynamo.disable(f)
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                out = off(*args, **kwargs)
                return out
            return wrapper
    """,
    "a wrapper that is disabled": """
        import functools
        def no_dynamo(f):
            @functools.wraps(f)
            @torch.compiler.disable
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
    """,
    "a wrapper that is disabled later": """
        def no_dynamo(f):
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return torch.compiler.disable(wrapper)
    """,
    "one decorator built on another": """
        def off(f):
            return torch.compiler.disable(f)
        def no_dynamo(f):
            return off(f)
    """,
    "a constant answer": """
        def no_dynamo(f):
            return torch.compiler.assume_constant_result(f)
    """,
    "only where torch has it": """
        def no_dynamo(f):
            if hasattr(torch, "compiler"):
                return torch.compiler.disable(f)
            return f
    """,
    "one of two definitions": """
        if torch.__version__ >= "2":
            def no_dynamo(f):
                return torch._dynamo.disable(f)
        else:
            def no_dynamo(f):
                return f
    """,
    "a parameter bound anew": """
        def no_dynamo(f):
            if torch.__version__ >= "2.1":
                f = torch.compiler.disable(f)
            return f
    """,
}

MAKING = {
    "a factory": """
        def no_dynamo(recursive=True):
            def decorate(f):
                return torch._dynamo.disable(f, recursive=recursive)
            return decorate
    """,
    "a factory that hands torch's out": """
        def no_dynamo(recursive=True):
            return torch._dynamo.disable(recursive=recursive)
    """,
    "lambdas": """
        no_dynamo = lambda recursive=True: lambda f: f
        def exporting():
            return False
        if torch.__version__ >= "2":
            no_dynamo = lambda recursive=True: lambda f: (
                f if exporting() else torch._dynamo.disable(f, recursive=recursive)
            )
    """,
    "a factory whose wrapper may be asked to": """
        import functools
        def no_dynamo(when=None):
            def disable(f):
                return torch._dynamo.disable(f)
            def decorate(f):
                off = disable(f)
                @functools.wraps(f)
                def wrapper(*args, **kwargs):
                    if when is not None and when(*args):
                        return f(*args, **kwargs)
                    return off(*args, **kwargs)
                return wrapper
            return decorate
    """,
}

TRACED = {
    "an unrelated one that speaks of it": """
        def no_dynamo(f):
            "Like torch.compiler.disable(f), which this is not."
            f.note = "return torch.compiler.disable(f)"
            return f
    """,
    "one that disables something else": """
        import functools
        def show(x):
            return x
        def no_dynamo(f):
            log = torch.compiler.disable(show)
            @functools.wraps(f)
            def wrapper(*args):
                return log(f(*args))
            return wrapper
    """,
    "one whose disabled function is not what it returns": """
        def no_dynamo(f):
            f.eager = torch.compiler.disable(f)
            off = torch.compiler.disable(f)
            return f
    """,
    "one with a wrapper of the same kind": """
        import functools
        def no_dynamo(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args)
            return wrapper
    """,
}

UNREADABLE = {
    "one that calls itself": """
        def no_dynamo(f):
            @no_dynamo
            def wrapper(*args):
                return wrapper(*args)
            f = f
            return no_dynamo(f)
    """,
    "one from elsewhere": "from elsewhere import no_dynamo",
}

OTHERS = TRACED | UNREADABLE
PROVED = DISABLING | MAKING | TRACED

DECORATED = """
class Net(nn.Module):
    {decorator}
    def forward(self, x):
        return x * x.sum().item(){mark}
{decorator}
def helper(x):
    return x.item(){mark}
@torch.compile
def f(x: torch.Tensor):
    return helper(x)
"""


@pytest.mark.parametrize("text", DISABLING.values(), ids=DISABLING.keys())
def test_decorators_built_on_those_of_torch_count_like_them(tmp_path: Path, text: str) -> None:
    used = DECORATED.format(decorator="@no_dynamo", mark="")
    assert not mismatch(tmp_path, dedent(text) + used)


@pytest.mark.parametrize("text", MAKING.values(), ids=MAKING.keys())
def test_factories_of_such_decorators_do_too(tmp_path: Path, text: str) -> None:
    used = DECORATED.format(decorator="@no_dynamo()", mark="")
    assert not mismatch(tmp_path, dedent(text) + used)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS.keys())
def test_other_decorators_keep_nothing_out(tmp_path: Path, text: str) -> None:
    used = DECORATED.format(decorator="@no_dynamo", mark="  #! HostRead item")
    assert not mismatch(tmp_path, dedent(text) + used)


@pytest.mark.parametrize("text", PROVED.values(), ids=PROVED.keys())
def test_torch_takes_the_decorators_so(text: str) -> None:
    torch = pytest.importorskip("torch", reason="the decorators are torch's")
    call = "()" if text in MAKING.values() else ""
    used = f"@no_dynamo{call}\ndef helper():\n    return torch.ones(3).sin()\n"
    names: dict[str, Any] = {}
    exec("import torch\n" + dedent(text).strip("\n") + "\n" + used, names)
    traced: list[str] = []

    def backend(graph: Any, _inputs: object) -> Any:
        traced.extend(node.name for node in graph.graph.nodes)
        return graph

    torch._dynamo.reset()
    torch.compile(lambda x: x * names["helper"](), backend=backend)(torch.ones(3))
    assert ("sin" in traced) == (text in TRACED.values())


def test_a_disabling_decorator_may_be_imported(tmp_path: Path) -> None:
    made = "import torch\ndef no_dynamo(f): return torch._dynamo.disable(f)\n"
    used = "from .jit import no_dynamo\n" + DECORATED.format(decorator="@no_dynamo", mark="")
    files = {"p/__init__.py": "", "p/jit.py": made, "p/net.py": program(used)}
    assert not mismatch(tmp_path, files)


@pytest.mark.parametrize(
    ("later", "mark"),
    [
        pytest.param("helper = torch.compiler.disable(helper)", "", id="torch's"),
        pytest.param("helper = torch._dynamo.disable(recursive=False)(helper)", "", id="options"),
        pytest.param("helper = no_dynamo(helper)", "", id="the program's"),
        pytest.param("helper = assume_constant_result(helper)", "", id="a constant answer"),
        pytest.param("other = torch.compiler.disable(helper)", "  #! HostRead item", id="other"),
        pytest.param("helper = noted(helper)", "  #! HostRead item", id="a decorator that is none"),
    ],
)
def test_a_function_may_be_disabled_after_its_definition(
    tmp_path: Path, later: str, mark: str
) -> None:
    text = f"""
        from torch.compiler import assume_constant_result
        def no_dynamo(f):
            return torch._dynamo.disable(f)
        def noted(f):
            return f
        def helper(x):
            return x.item(){mark}
        {later}
        @torch.compile
        def f(x: torch.Tensor):
            return helper(x)
    """
    assert not mismatch(tmp_path, text)


def test_calls_of_what_is_always_disabled_are_reported(tmp_path: Path) -> None:
    text = """
        def no_dynamo(f):
            return torch._dynamo.disable(f)
        def perhaps(f):
            return torch._dynamo.disable(f) if torch.__version__ >= "2" else f
        @no_dynamo
        def always(x):
            return x
        @perhaps
        def sometimes(x):
            return x
        @torch.compile
        def f(x: torch.Tensor):
            x = always(x)  #! Call torch.compiler.disable
            return sometimes(x)
    """
    assert not mismatch(tmp_path, text)


def test_scripted_functions_are_traced(tmp_path: Path) -> None:
    """Dynamo inlines the Python function that was scripted (``_torchdynamo_inline``)."""
    text = """
        @torch.jit.script
        def helper(x: torch.Tensor) -> torch.Tensor:
            return x * x.sum().item()  #! HostRead item
        @torch.compile
        def f(x: torch.Tensor):
            return helper(x)
    """
    assert not mismatch(tmp_path, text)
