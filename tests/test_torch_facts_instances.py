"""Methods of library objects: the table, and what Dynamo does with each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.torch_facts.methods import IMPORTS, MADE
from tclint.torch_facts import instance_class, skipped_method
from tclint.torch_facts.instances import METHODS
from tests.dynamo import RELEASE, loaded

PARAMETERS = "[torch.nn.Parameter(torch.ones(1))]"
OPTIMIZERS = {
    "torch.optim.SGD": f"torch.optim.SGD({PARAMETERS}, 0.1)",
    "torch.optim.AdamW": f"torch.optim.AdamW({PARAMETERS}, 0.1)",
    "torch.optim.lr_scheduler.StepLR": (
        f"torch.optim.lr_scheduler.StepLR(torch.optim.SGD({PARAMETERS}, 0.1), 1)"
    ),
    "torch.optim.lr_scheduler.LambdaLR": (
        f"torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD({PARAMETERS}, 0.1), lambda e: 1)"
    ),
}
TRACED = (
    ("random.Random(0)", "random()"),
    ("random.Random(0)", "uniform(0, 1)"),
    ("random.Random(0)", "randint(0, 3)"),
    ("threading.Event()", "is_set()"),
    ("pathlib.Path('a')", "joinpath('b')"),
    ("pathlib.Path('a')", "with_suffix('.b')"),
    ("re.compile('a')", "match('a')"),
    ("torch.distributions.Normal(0.0, 1.0)", "sample()"),
)
DRAWS = (
    "torch.rand(3, generator=o)",
    "torch.randn(3, generator=o)",
    "torch.randint(0, 3, (2,), generator=o)",
    "torch.randperm(3, generator=o)",
    "torch.normal(0.0, 1.0, (2,), generator=o)",
    "torch.multinomial(torch.ones(3), 2, generator=o)",
    "torch.bernoulli(torch.ones(3) / 2, generator=o)",
    "torch.empty(3).normal_(generator=o)",
    "torch.empty(3).uniform_(generator=o)",
    "torch.nn.init.normal_(torch.empty(3), generator=o)",
)


def methods() -> list[tuple[str, str, str]]:
    return [
        (gb_id, cls, method)
        for gb_id, classes in METHODS.items()
        for cls, names in classes.items()
        for method in names.split()
    ]


def compiled(made: str, line: str) -> str | None:
    """The id of the graph break that ``line`` causes with ``o``; None when it is traced."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("numpy")
    code = f"{IMPORTS}\no = {made}\ndef f(x):\n    r = {line}\n    return x * 2\n"
    function = loaded(code)
    torch._dynamo.reset()
    try:
        torch.compile(function, backend="eager", fullgraph=True)(torch.ones(3))
    except torch._dynamo.exc.Unsupported as error:
        found = re.search(r"gb(\d+)\.html", str(error))
        return f"GB{found[1]}" if found else "?"
    return None


def test_each_class_of_the_table_can_be_made() -> None:
    # Autograd makes its contexts itself: tests/test_autograd_functions.py.
    assert {cls for _, cls, _ in methods()} == {*MADE, "torch.autograd.function.FunctionCtx"}


@pytest.mark.slow
@pytest.mark.parametrize("cls", MADE)
def test_each_method_breaks_with_its_id(
    cls: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made, calls = MADE[cls]
    for gb_id, owner, method in methods():
        if owner == cls:
            found = compiled(made, f"o.{calls.get(method, method + '()')}")
            told = skipped_method(f"{owner}.{method}", RELEASE)
            assert told is not None
            assert (found is not None) == told.holds(RELEASE), method
            assert found == gb_id or RELEASE != (2, 13), method


@pytest.mark.slow
@pytest.mark.parametrize("cls", OPTIMIZERS)
def test_optimizers_and_schedulers_are_left_to_python(cls: str) -> None:
    for method in ("zero_grad", "step", "get_last_lr", "state_dict"):
        told = skipped_method(f"{cls}.{method}", RELEASE)
        if told is not None:
            found = compiled(OPTIMIZERS[cls], f"o.{method}()")
            assert found == told.gb_id if RELEASE == (2, 13) else found is not None, method


@pytest.mark.slow
@pytest.mark.parametrize(("made", "call"), TRACED)
def test_others_are_traced(made: str, call: str) -> None:
    if RELEASE == (2, 13):
        assert compiled(made, f"o.{call}") is None
    cls = instance_class(made.partition("(")[0])
    assert cls is None or skipped_method(f"{cls}.{call.partition('(')[0]}", RELEASE) is None


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWS)
def test_draws_from_a_generator_break(draw: str) -> None:
    assert compiled("torch.Generator()", draw) is not None
    assert compiled("None", draw) is None


def test_what_is_not_known_to_break_is_not_listed() -> None:
    assert skipped_method("threading.Event.is_set", (2, 13)) is None
    assert skipped_method("torch.optim.SGD.step", (2, 13)) is None
    assert skipped_method("torch.optim.lr_scheduler.StepLR.load_state_dict", (2, 13)) is None
    assert instance_class("numpy.random.default_rng") == "numpy.random.Generator"
    assert instance_class("collections.OrderedDict") is None
