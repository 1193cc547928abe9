"""Compiling the models that a command calls: which they are, and what is said of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tclint.errors import UserError
from tclint.run.arms import one_round
from tclint.run.intervals import Interval
from tclint.run.launch import Ended, Settings
from tclint.run.outlook import TRIED, Tried, read_tried, write_tried
from tclint.run.read import read_folder
from tclint.run.recorded import End
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


def recorded(
    folder: Path, milliseconds: float, kind: str, how: str = "", count: int = 0, blocks: int = 2
) -> Any:
    """What a run leaves whose model and loss are modules; ``how`` it ended, of so many steps."""
    folder.mkdir()
    recording = Recording(folder)
    place = recording.place(5)
    model = {"kind": "model", "name": "Net", "place": place, "compiled": int(bool(kind))}
    model["blocks"] = blocks
    loss = {**model, "name": "MSELoss", "compiled": int("loss" in kind), "loss": True}
    steps = recording.steps(milliseconds)
    steps["ends"] = steps["ends"][: count or None]
    end = recording.end() if not how else {**recording.end(), "how": how}
    recording.process(steps, model, loss, end)
    (one,) = read_folder(recording.folder).processes
    return one


OVERWRITTEN = "RuntimeError: accessing output of CUDAGraphs that was overwritten\nStack: ..."
TWICE = (
    "the command ended with status 1 before it made steps; "
    "its error: RuntimeError: no double backward"
)


def tries(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: dict[str, tuple[float, str, int]],
    blocks: int = 2,
) -> tuple[Recording, Tried]:
    """A trial on a GPU whose runs end in these ways; where no step is made, with these words."""
    from tclint.run import try_compile as tried_by

    def one_round(command: Any, folder: Path, settings: Settings) -> Any:
        del command
        milliseconds, how, count = ends[settings.compile]
        told = settings.compile, how, count, blocks
        return how if not count else recorded(folder, milliseconds, *told)

    monkeypatch.setattr(tried_by, "one_round", one_round)
    recording = Recording(tmp_path)
    lines = recording.steps(), recording.samples({5: 100}), recording.end()
    recording.process(*lines, device="NVIDIA H200")
    found = tried_by.try_compile(recording.answer(), Settings(), tmp_path)
    write_tried(recording.folder, found)
    return recording, found


def test_a_way_to_compile_that_fails_on_the_way_is_told_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = {"": (10.0, "", 61), "model": (9.0, "", 61), "blocks": (9.5, "", 61)}
    ends |= {"graphs": (2.0, OVERWRITTEN, 3), "model+loss": (9.5, "", 61)}
    recording, found = tries(tmp_path, monkeypatch, ends)
    assert (found.what, found.compiled.value) == ("the model", 9.0)
    assert (
        "Compiling the model, with CUDA graphs did not work: after 3 steps: RuntimeError: "
        "accessing output of CUDAGraphs that was overwritten.\n"
    ) in recording.told()


def test_compiling_that_makes_no_steps_saves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "RuntimeError: something else"
    ends = {"": (10.0, "", 61), "model": (0.0, TWICE, 0), "blocks": (1.0, other, 2)}
    recording, found = tries(tmp_path, monkeypatch, ends)
    assert found.failed == TWICE
    told = recording.told()
    assert f"Compiling the model did not work: {TWICE}." in told
    assert "Compiling its blocks did not work: after 2 steps: RuntimeError: something else" in told
    assert "CUDA graphs" not in told
    assert "would save" not in told.split("step 10", 1)[0]


def test_what_fails_in_each_way_for_one_reason_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = {"": (10.0, "", 61), "model": (0.0, TWICE, 0), "blocks": (0.0, TWICE, 0)}
    recording, _ = tries(tmp_path, monkeypatch, ends)
    assert recording.told().count("did not work") == 1


def test_a_run_with_one_step_made_none_and_tells_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tclint.run import arms

    def launch(command: Any, folder: Path, settings: Any, output: Path) -> Ended:
        del command, settings
        output.write_text("Traceback\nRuntimeError: no double backward\nset VERBOSE=1 for more\n")
        recording = Recording(folder)
        steps = recording.steps()
        steps["ends"] = steps["ends"][:1]
        how = "RuntimeError: no double backward\n\nset VERBOSE=1 for more"
        recording.process(steps, {**recording.end(), "how": how})
        (file,) = recording.folder.iterdir()
        file.rename(folder / file.name)
        return Ended(1, 2.0)

    monkeypatch.setattr(arms, "launch", launch)
    assert arms.one_round(("python",), tmp_path / "one", Settings()) == TWICE


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("exit", ""),
        ("stopped after 20 steps", ""),
        ("os._exit(1)", ""),
        ("KeyError: 'x'", "KeyError: 'x'"),
        ("a.B: raised:\n\nTypeError: no\nmore", "a.B: raised: TypeError: no"),
    ],
)
def test_an_exception_is_told_in_one_line(how: str, error: str) -> None:
    assert End(0, how).error == error


@pytest.mark.parametrize(
    ("eager", "compiled", "told"),
    [
        ((10.0, 9.8, 10.2), (10.1, 9.9, 10.3), "makes no difference that can be told (step 10 ->"),
        ((10.0, 9.8, 10.2), (9.0, 8.5, 9.2), "would save 10% (measured: step 10 -> 9 ms"),
        ((10.0, 9.8, 10.2), (11.0, 10.8, 11.2), "makes a step 10% longer"),
        (
            (53.9, 8.25, 78.9),
            (8.18, 6.22, 10.1),
            "cannot be told: a step takes 8.25 to 78.9 ms as it is, and 6.22 to 10.1 ms compiled.",
        ),
        ((25.9, 21.1, 28.8), (27.7, 27.4, 28.0), "cannot be told: a step takes 21.1 to 28.8 ms"),
    ],
)
def test_steps_that_vary_are_no_verdict(
    tmp_path: Path,
    eager: tuple[float, float, float],
    compiled: tuple[float, float, float],
    told: str,
) -> None:
    recording = Recording(tmp_path)
    recording.process(recording.steps(), recording.samples({5: 100}), recording.end())
    sides = Interval(*eager), Interval(*compiled)
    write_tried(recording.folder, Tried("the model", ("a.py", 5), *sides, 0, 0, 2.0, None, ""))
    assert told in recording.told()


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


@pytest.mark.parametrize("high", [0.0, float("inf")])
def test_steps_that_take_no_time_or_have_no_end_are_damaged(tmp_path: Path, high: float) -> None:
    step = Interval(min(1, high), min(1, high), high)
    write_tried(tmp_path, Tried("x", ("a", 1), step, step, 0, 0, 0.0, None, ""))
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


def test_blocks_are_not_compiled_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = dict.fromkeys(("", "graphs", "model+loss"), (10.0, "", 61))
    ends["model"] = (9.0, "", 61)
    _, found = tries(tmp_path, monkeypatch, ends, blocks=0)
    assert found.what == "the model"


def test_a_try_ends_whatever_compiling_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run, which is eager, takes what it takes; the others little more, or 300 s once."""
    from tclint.run import try_compile as tried_by

    limits, now = {}, [0.0]

    def one_round(command: Any, folder: Path, settings: Settings) -> Any:
        del command
        limits[settings.compile] = settings.seconds
        now[0] += settings.seconds or 20.0
        if settings.compile:
            return f"it was not finished after {settings.seconds:.0f} s"
        return recorded(folder, 10.0, "")

    monkeypatch.setattr(tried_by, "one_round", one_round)
    monkeypatch.setattr(tried_by.time, "monotonic", lambda: now[0])
    recording = Recording(tmp_path)
    recording.process(recording.steps(), recording.samples({5: 100}), recording.end())
    found = tried_by.try_compile(recording.answer(), Settings(), tmp_path)
    assert limits == {"": 0, "model": 340, "blocks": 40}
    write_tried(recording.folder, found)
    told = recording.told()
    assert "Compiling the model did not work: it was not finished after 340 s." in told
    assert "Compiling its blocks did not work: it was not finished after 40 s." in told


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    told = one_round(command, tmp_path / "one", Settings(seconds=1))
    assert told == "it was not finished after 1 s"


def test_who_ends_a_run_that_is_tried_ends_the_trial(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    with pytest.raises(UserError, match="interrupted"):
        one_round(command, tmp_path / "one", Settings())


def test_the_report_is_there_before_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever kills a trial that takes long has it."""
    from tclint.cli import running
    from tclint.run.proof import Wanted

    recording, file = Recording(tmp_path), tmp_path / "report.json"
    recording.process(recording.steps(), recording.samples({5: 100}), recording.end())
    written = []

    def compiled(*given: Any) -> Tried:
        del given
        written.append(json.loads(file.read_text())["tried"])
        return Tried("x", ("a.py", 1), *2 * [Interval(1, 1, 1)], 0, 0, 0.0, None, "", "it ended")

    monkeypatch.setattr(running, "_compiled", compiled)
    plan = running.Plan(("python",), Settings(), Wanted(), try_compile=True)
    running._tell(plan, recording.answer(), tmp_path, "json", file)
    assert written == [None]
    assert json.loads(file.read_text())["tried"]["failed"] == "it ended"
