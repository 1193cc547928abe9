"""Compiling the models that a command calls: which they are, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tclint.run.intervals import Interval
from tclint.run.launch import Settings
from tclint.run.outlook import TRIED, Tried, read_tried, write_tried
from tclint.run.read import read_folder
from tclint.run.try_compile import pays_after
from tests.recorded_runs import record
from tests.run_recordings import Recording

torch = pytest.importorskip("torch")


def test_compiling_pays_once_what_it_took_has_come_back() -> None:
    plain, faster = Interval(10, 9.8, 10.2), Interval(6, 5.9, 6.1)
    assert pays_after(2.0, plain, faster) == 500
    assert pays_after(2.0, faster, plain) is None
    assert pays_after(2.0, plain, Interval(9.9, 9.0, 10.4)) is None


class Heard:
    """Stands for a recording: keeps what is written."""

    def __init__(self) -> None:
        self.lines = self
        self.told: list[dict[str, Any]] = []

    def guarded(self, what: str, function: Any) -> Any:
        del what
        return function

    def write(self, kind: str, **fields: Any) -> None:
        self.told.append({"kind": kind, **fields})

    def libraries(self) -> tuple[str, ...]:
        return (str(Path(torch.__file__).parent), str(Path(__file__).parents[1] / "tclint"))


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What finds the models; ``Module.compile`` only says which module it was asked for."""
    site = Path(__file__).parents[1] / "tclint" / "recorder" / "site"
    monkeypatch.syspath_prepend(str(site))
    from tclint_recorder.compiling import Compiling

    asked: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda self, **how: asked.append((self, how)))
    heard = Heard()

    def begin(what: str) -> tuple[list[tuple[Any, dict[str, Any]]], Heard]:
        Compiling(torch, heard, what).begin()
        return asked, heard

    before = torch.nn.Module.__call__
    yield begin
    torch.nn.Module.__call__ = before


def block(width: int = 4) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU())


def test_the_outermost_modules_with_parameters_are_compiled_once(compiling: Any) -> None:
    one, other = torch.nn.Sequential(block(), block()), block()
    asked, heard = compiling("model")
    loss = torch.nn.MSELoss()
    for _ in range(3):
        loss(other(one(torch.ones(2, 4))), torch.zeros(2, 4))
        torch.nn.L1Loss()(other(one(torch.ones(2, 4))), torch.zeros(2, 4))
    assert [module for module, _ in asked] == [one, other]
    assert [(line["name"], line["compiled"]) for line in heard.told] == [
        ("Sequential", 1),
        ("Sequential", 1),
        ("MSELoss", 0),
    ]
    assert heard.told[0]["place"]["filename"] == __file__


def test_a_module_that_gives_one_number_with_a_gradient_is_a_loss(compiling: Any) -> None:
    model, loss, metric = block(), torch.nn.MSELoss(), torch.nn.L1Loss()
    asked, heard = compiling("graphs+loss")
    for _ in range(3):
        x = torch.nn.Softmax(-1)(torch.ones(2, 4))
        found = model(x)
        loss(found, x)
        metric(found.detach(), x)
    how = {"mode": "reduce-overhead"}
    assert asked == [(model, how), (loss, how)]
    assert [(line["name"], line["loss"]) for line in heard.told] == [
        ("Sequential", False),
        ("MSELoss", True),
    ]


def test_the_loss_is_compiled_too_where_that_is_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tclint.run import try_compile as tried_by

    times = {"": 10.0, "model": 8.0, "blocks": 9.0, "model+loss": 6.0}
    asked = []

    def one_round(command: Any, folder: Path, settings: Settings) -> Any:
        del command
        asked.append(settings.compile)
        return recorded(folder, times[settings.compile], settings.compile)

    monkeypatch.setattr(tried_by, "one_round", one_round)
    recording = Recording(tmp_path)
    recording.process(recording.steps(), recording.samples({5: 100}), recording.end())
    found = tried_by.try_compile(recording.answer(), Settings(), tmp_path)
    assert asked == ["", "model", "blocks", "model+loss", "", "model+loss"]
    assert (found.what, found.eager.value, found.compiled.value) == (
        "the model and its loss",
        10.0,
        6.0,
    )


def recorded(folder: Path, milliseconds: float, kind: str) -> Any:
    """What a run leaves whose model and loss are modules."""
    folder.mkdir()
    recording = Recording(folder)
    place = recording.place(5)
    model = {"kind": "model", "name": "Net", "place": place, "compiled": int(bool(kind))}
    loss = {**model, "name": "MSELoss", "compiled": int("loss" in kind), "loss": True}
    recording.process(recording.steps(milliseconds), model, loss, recording.end())
    (one,) = read_folder(recording.folder).processes
    return one


def test_with_cuda_graphs_the_mode_says_so(compiling: Any) -> None:
    asked, _ = compiling("graphs")
    block()(torch.ones(2, 4))
    assert [how for _, how in asked] == [{"mode": "reduce-overhead"}]


def test_blocks_are_the_outermost_layers_of_which_there_are_several(compiling: Any) -> None:
    layers = torch.nn.ModuleList([block() for _ in range(3)])
    model = torch.nn.ModuleDict({"layers": layers, "head": torch.nn.Linear(4, 1)})
    model.forward = lambda x: x
    asked, _ = compiling("blocks")
    model(torch.ones(1, 4))
    assert [module for module, _ in asked] == [*layers]


def test_within_a_model_modules_are_called_by_torch_alone(compiling: Any) -> None:
    seen = []
    inner = block()
    inner[0].register_forward_pre_hook(lambda *_: seen.append(torch.nn.Module.__call__))
    theirs = torch.nn.Module.__call__
    compiling("model")
    assert torch.nn.Module.__call__ is not theirs
    inner(torch.ones(2, 4))
    assert seen == [theirs]


def test_after_some_calls_without_a_new_model_torch_is_as_it_was(compiling: Any) -> None:
    theirs = torch.nn.Module.__call__
    model = block()
    compiling("model")
    for _ in range(9):
        model(torch.ones(2, 4))
    assert torch.nn.Module.__call__ is theirs


def test_a_process_is_told_what_to_compile(tmp_path: Path) -> None:
    assert "TCLINT_RECORD_COMPILE" not in Settings().environment(tmp_path)
    told = Settings(compile="blocks", more=(("A", "b"),)).environment(tmp_path)
    assert told["TCLINT_RECORD_COMPILE"] == "blocks"
    assert told["A"] == "b"


def test_a_kept_recording_tells_what_compiling_brought(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    recording.process(recording.steps(), recording.samples({5: 100}), recording.end())
    tried = Tried(
        "the model", ("train.py", 5), Interval(10, 9.9, 10.1), Interval(8, 7.9, 8.1),
        0, 0, 2.0, 1000, "rounding",
    )  # fmt: skip
    write_tried(recording.folder, tried)
    assert recording.answer().tried == tried
    assert "Compiling the model would save 20% (measured" in recording.told()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"what": 3}', "\0"])
def test_what_is_damaged_was_not_tried(tmp_path: Path, text: str) -> None:
    (tmp_path / TRIED).write_text(text)
    assert read_tried(tmp_path) is None


def test_numbers_without_an_end_are_damaged(tmp_path: Path) -> None:
    endless = Interval(1, 1, float("inf"))
    write_tried(tmp_path, Tried("x", ("a", 1), endless, endless, 0, 0, 0.0, None, ""))
    assert read_tried(tmp_path) is None


PLAIN = """
import torch
from torch import nn

whole = nn.Module.compile
nn.Module.compile = lambda self, **how: whole(self, backend="eager")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.mean()

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{before}
for _ in range(12):
    net(torch.ones(2, 4)).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "before",
    ["", "with torch.no_grad():\n    net(torch.ones(2, 4))", "net.layers[0](torch.ones(2, 4))"],
)
def test_a_model_that_is_compiled_for_a_try_is_compiled_whole(tmp_path: Path, before: str) -> None:
    """An optimizer is made first, which imports Dynamo; calls are listened to until it steps."""
    program = PLAIN.replace("{before}", before)
    ran = record(tmp_path, program, TCLINT_RECORD_COMPILE="model")
    assert ran.status == 0, ran.err
    assert not ran.lines("break")
    frames = {line["compile_id"].partition("/")[0] for line in ran.lines("compiled")}
    assert 0 < len(frames) <= len(ran.lines("model"))


def test_listening_to_calls_breaks_no_graph(tmp_path: Path) -> None:
    """Dynamo traces what calls a module that has hooks."""
    program = """
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    net[0].register_forward_hook(lambda module, args, out: out + 1)
    compiled = torch.compile(net, backend="eager", fullgraph=True)
    for _ in range(12):
        compiled(torch.ones(2, 4))
    """
    ran = record(tmp_path, program)
    assert ran.status == 0, ran.err
    assert not ran.lines("break")
    assert ran.lines("steps")
