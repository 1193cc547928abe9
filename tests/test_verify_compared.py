"""What a report says was compared, compiled, applied and left out, and that it says so early."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

pytest.importorskip("torch")

from tclint.config import Config
from tclint.records import record
from tclint.verify import diagnosis
from tclint.verify.arms import Fixing, Options, Side
from tclint.verify.compare import probe_side, verify_sides
from tclint.verify.complaints import complaints
from tclint.verify.layers import LADDER
from tclint.verify.process import Child
from tclint.verify.report import as_json, text
from tclint.verify.report.details import details
from tclint.verify.results import AppliedFix, Probe, Remedy, TargetReport
from tclint.verify.session import Comparison, Job, exit_code, verify_job

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("copied_children")]

ROOT = Path(__file__).parents[1]
PROGRAM = """
    import os
    import time
    import torch
    from torch import nn
    from torch._inductor.custom_graph_pass import CustomGraphPass

    torch._dynamo.config.disable = False  # another program may have been here
    X = torch.rand(4, 4)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def encode(self, x):
            return self.layer(x).relu()

        def forward(self, x):
            return self.encode(x)

    class Swap(CustomGraphPass):
        def __call__(self, graph):
            for node in graph.nodes:
                if node.target is torch.ops.aten.mm.default:
                    node.args = (node.args[1], node.args[0])

        def uuid(self):
            return b"swap"

    def product(x, y):
        return x @ y, torch.multinomial(x, 2)

    def drawing():
        return (lambda x: x + torch.rand(4, 4)), (X,), {}

    def unused():
        def f(x):
            torch.rand(3)
            return x.sin()
        return f, (X,), {}

    def seeded():
        def f(x):
            torch.manual_seed(7)
            return x + torch.rand(4, 4)
        return f, (X,), {}

    def wrong():
        torch._inductor.config.post_grad_custom_post_pass = Swap()
        return product, (torch.rand(8, 8), torch.rand(8, 8)), {}

    def around():
        import torch.distributed as dist
        if not dist.is_initialized():
            dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        return nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))

    def wrapped():
        return around(), (X,), {}

    def wrapped_itself():
        return torch.compile(around()), (X,), {}

    def method():
        net = torch.compile(Net())
        return (lambda x: net.encode(x)), (X,), {}

    def bound():
        return torch.compile(Net()).encode, (X,), {}

    def stepping():
        def train_step(model, x):
            return model.encode(x).sum()
        return {"model": Net(), "inputs": (X,), "train_step": train_step}

    class Left(nn.Module):
        @torch.compiler.disable
        def forward(self, x):
            return x + 1

    def disabled():
        return Left(), (X,), {}

    def switched_off():
        torch._dynamo.config.disable = True
        return Net(), (X,), {}

    def sizes():
        return (lambda x: x.shape[0] + 1), (X,), {}

    def yields():
        def rows(x):
            yield x + 1
        return rows, (X,), {}

    def refuses():
        def no(x):
            raise ValueError("no")
        return no, (X,), {}

    def warmed_up():
        net = torch.compile(Net())
        net(X)
        return net, (X,), {}

    def scalars(x):
        return x * x.sum().item() + x[x > 0].sum()

    def numbers():
        return scalars, (X,), {}

    def talking(x):
        n = x.sum().item()
        print("", end="")
        return x * n

    def both():
        return talking, (X,), {}

    def quiet(x):
        y = x * 2
        if not torch.compiler.is_compiling():
            print("values", y)
        return y

    def chatty():
        return quiet, (X,), {}

    def stuck(x):
        y = x * 2
        print("", end="")
        if torch.compiler.is_compiling():
            return y
        time.sleep(600)

    def endless():
        return stuck, (X,), {}
"""


@record(frozen=True)
class Sharing(Options):
    """Counts breaks in one process for all tests: it takes seconds to import torch."""

    warm: Child | None = None

    def start(self, cache: Path, more: Mapping[str, str] | None = None) -> Any:
        """That process, or one for all else."""
        if cache.name.endswith("-probe"):
            return nullcontext(self.warm)
        return Options.start(self, cache, more)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """The process for all."""
    with Options(time_limit=3600).start(tmp_path_factory.mktemp("cache")) as child:
        yield child


@pytest.fixture
def quick(warm: Child) -> Options:
    """What is cheapest."""
    return Sharing("eager", speed=False, device="cpu", warm=warm)


@pytest.fixture
def compiling(quick: Options) -> Options:
    """With Inductor."""
    return replace(quick, backend="inductor")


def put(folder: Path) -> Side:
    (folder / "program.py").write_text(dedent(PROGRAM))
    return Side("after", "program.py:make", folder)


def verify(folder: Path, factory: str, options: Options) -> TargetReport:
    put(folder)
    return verify_sides(factory, [Side("after", f"program.py:{factory}", folder)], options)


def probe(report: TargetReport) -> Probe:
    assert report.after.probe is not None, report.after.failure
    return report.after.probe


def record(report: TargetReport, folder: Path) -> dict[str, Any]:
    (target,) = json.loads(as_json.render([report], folder))["targets"]
    assert isinstance(target, dict)
    return target


def row_of(report: TargetReport, folder: Path) -> dict[str, str]:
    """What the text tells of one target, by the names of the numbers."""
    table, _, _ = text.render([report], folder).partition("\n\n")
    return dict(line.split(maxsplit=1) for line in table.splitlines())


def test_a_wrong_inductor_fails_a_run_that_is_not_timed(
    tmp_path: Path, compiling: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two rungs of the ladder: the last that is fine, and the one that is not.
    rungs = {name: LADDER[name] for name in ("aot_eager", "inductor")}
    monkeypatch.setattr(diagnosis, "LADDER", rungs)
    report = verify(tmp_path, "wrong", compiling)
    assert report.equality.verdict == "identical"
    assert exit_code([report]) == 1
    assert any("compiled results differ from eager ones" in one for one in complaints(report))
    assert report.diagnosis is not None
    assert report.diagnosis.layer == "Inductor"
    assert row_of(report, tmp_path)["equal"].startswith("different")
    target = record(report, tmp_path)
    assert target["compared"]["compiled"] == ["default"]
    assert target["arms"][0]["compiled"][0]["like_eager"]["verdict"] == "different"


def test_numbers_that_are_drawn_are_compared_with_those_that_inductor_draws(
    tmp_path: Path, compiling: Options
) -> None:
    report = verify(tmp_path, "drawing", compiling)
    (compiled,) = report.after.numbers
    assert compiled.like_eager.verdict == "identical"
    assert compiled.like_eager.detail == "drawing as eager code does: fallback_random"
    assert row_of(report, tmp_path)["equal"] == "identical"


def test_numbers_that_no_result_shows_are_not_drawn_again(
    tmp_path: Path, compiling: Options
) -> None:
    (compiled,) = verify(tmp_path, "unused", compiling).after.numbers
    assert compiled.like_eager.equal is True
    assert "fallback_random" not in compiled.like_eager.detail


def test_what_sets_its_own_seed_is_compared_as_eager_code_draws(
    tmp_path: Path, compiling: Options
) -> None:
    (compiled,) = verify(tmp_path, "seeded", compiling).after.numbers
    assert compiled.like_eager.equal is True
    assert "fallback_random" in compiled.like_eager.detail


def test_where_inductor_cannot_build_the_report_says_what_was_compared(
    tmp_path: Path, compiling: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    report = verify(tmp_path, "numbers", compiling)
    assert "identical (eager graphs)" in text.render([report], tmp_path)
    why = record(report, tmp_path)["compared"]["only_eager_graphs"]
    assert "No working C++ compiler" in why
    assert f"only graphs that run eagerly were compared ({why})" in "\n".join(
        details(report, tmp_path)
    )


REASONS = {
    "wrapped": "compile the Sequential before DistributedDataParallel wraps it",
    "wrapped_itself": "compile the Sequential before DistributedDataParallel wraps it",
    "bound": "only `encode` of the compiled module is called",
    "stepping": "only `encode` of the compiled module is called",
    "disabled": "torch.compiler.disable keeps Dynamo out of Left.forward",
    "sizes": "Dynamo found no tensor operation in it",
    "yields": "yields.<locals>.rows is a generator",
    "refuses": "the call raises ValueError: no",
    "switched_off": "torch._dynamo.config.disable is set",
}


@pytest.mark.parametrize("factory", REASONS)
def test_the_reason_why_nothing_was_compiled_is_found(
    tmp_path: Path, quick: Options, factory: str
) -> None:
    phase = "step" if factory == "stepping" else "forward"
    one = replace(put(tmp_path), target=f"program.py:{factory}")
    arm = probe_side(one, replace(quick, phase=phase), tmp_path, follow=False)
    assert arm.probe is not None, arm.failure
    assert arm.probe.graphs == 0
    assert REASONS[factory] in arm.probe.nothing_compiled


def test_a_run_that_compiles_nothing_fails(tmp_path: Path, quick: Options) -> None:
    report = verify(tmp_path, "method", quick)
    (said,) = complaints(report)
    assert said.startswith("nothing was compiled: only `encode` of the compiled module is called")
    assert exit_code([report]) == 1
    assert "fullgraph=True works" not in "\n".join(details(report, tmp_path))


def test_graphs_that_the_factory_made_by_warming_up_count(tmp_path: Path, quick: Options) -> None:
    report = verify(tmp_path, "warmed_up", quick)
    assert probe(report).graphs == 1
    assert complaints(report) == ()


def test_settings_that_remove_breaks_are_named_as_the_remedy(
    tmp_path: Path, quick: Options
) -> None:
    report = verify(tmp_path, "numbers", quick)
    assert probe(report).remedies == (Remedy("fullgraph=True", 0),)
    assert complaints(report) == (
        "2 graph breaks, allowed: 0; fullgraph=True captures it: 0 breaks",
    )
    report = verify(tmp_path, "both", quick)
    setting = "capture_scalar_outputs=True in torch._dynamo.config"
    assert complaints(report) == (f"2 graph breaks, allowed: 0; with {setting}: 1 break",)


def test_what_eager_code_still_prints_is_named_with_what_it_takes(
    tmp_path: Path, quick: Options
) -> None:
    report = verify(tmp_path, "chatty", quick)
    (said,) = probe(report).outputs
    row = 1 + dedent(PROGRAM).splitlines().index('        print("values", y)')
    assert (said.row, said.what, said.count, said.milliseconds > 0) == (row, "print", 1, True)
    assert f"program.py:{row}: 1 print in each eager call" in "\n".join(details(report, tmp_path))
    assert complaints(report) == ()


def test_each_arm_counts_its_own_findings(tmp_path: Path, quick: Options) -> None:
    (tmp_path / "program.py").write_text(dedent(PROGRAM))
    compiled = dedent(PROGRAM).replace("def scalars", "@torch.compile\ndef scalars")
    (tmp_path / "program.py").write_text(compiled)
    job = Job("numbers", "program.py:numbers", quick)
    report = verify_job(job, tmp_path, Comparison(str(tmp_path)), Config(tmp_path))
    lines = [line.strip() for line in details(report, tmp_path) if "static findings" in line]
    told = "2 confirmed, 0 missed, 0 not seen at run time"
    assert [line.replace(told, "") for line in lines] == [
        "static findings before: ",
        "static findings after: ",
    ]


def test_fixes_are_listed_and_nothing_to_apply_ends_the_run(tmp_path: Path, quick: Options) -> None:
    said: list[str] = []
    repair = AppliedFix("TCL101", str(tmp_path / "program.py"), 3, "do it")

    def run(texts: dict[str, str]) -> TargetReport:
        before = put(tmp_path)
        sides = [
            Side("before", "program.py:both", before.root),
            Side("after", "program.py:both", before.root, fix=lambda _: Fixing(texts, (repair,))),
        ]
        return verify_sides("both", sides, quick, tell=said.append)

    report = run({})
    assert (len(report.arms), report.applied) == (1, ())
    assert said == ["before: breaks and results", "fixes"]
    assert "  nothing to apply: " in "\n".join(details(report, tmp_path))
    assert exit_code([report]) == 1  # its breaks are still there

    fixed = dedent(PROGRAM).replace('    print("", end="")\n', "")
    report = run({str(tmp_path / "program.py"): fixed})
    assert "  applied TCL101 program.py:3: do it" in details(report, tmp_path)
    assert record(report, tmp_path)["applied"][0]["code"] == "TCL101"


def test_the_time_limit_leaves_what_is_known_by_then(tmp_path: Path) -> None:
    put(tmp_path)
    for limit in (12, 60):  # a busy machine takes longer to import torch
        job = Job("endless", "program.py:endless", Options(speed=False, time_limit=limit))
        report = verify_job(job, tmp_path, Comparison(), Config(tmp_path))
        if report.after.probe is not None and report.after.probe.breaks:
            break
    assert [one.gb_id for one in probe(report).breaks] == ["GB0059"]
    assert exit_code([report]) == 2
    shown = text.render([report], tmp_path)
    assert row_of(report, tmp_path)["verdict"] == "unfinished"
    assert f"after: timeout: took longer than the time limit of {limit} s" in shown
    assert "after: not known: compiled results against eager ones, " in shown
    (arm,) = record(report, tmp_path)["arms"]
    assert arm["failure"]["kind"] == "timeout"
    assert arm["unfinished"][0] == "compiled results against eager ones"


def test_each_phase_is_told_where_no_terminal_is(tmp_path: Path) -> None:
    put(tmp_path)
    options = ("--no-speed", "--backend=eager", "--fixed")
    done = subprocess.run(
        [sys.executable, "-m", "tclint", "verify", "program.py:both", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.partition("] ")[2] for line in done.stderr.splitlines()]
    assert lines == ["program.py:both: before: breaks and results", "program.py:both: fixes"]
    assert "nothing to apply" in done.stdout


def test_eager_code_that_gets_slower_fails_the_run(tmp_path: Path, quick: Options) -> None:
    before = put(tmp_path)
    # Far more than the times of a busy machine scatter: then nothing is said of eager code.
    slow = dedent(PROGRAM).replace('    print("values", y)', "    time.sleep(0.02)")
    after = replace(
        before, target="program.py:chatty", overlay={str(tmp_path / "program.py"): slow}
    )
    sides = [replace(before, name="before", target="program.py:chatty"), after]
    report = verify_sides("chatty", sides, replace(quick, speed=True))
    (eager,) = report.eager
    assert eager.ratio is not None
    assert eager.ratio > 1
    assert any(one.startswith("eager code is slower: ") for one in complaints(report))
    assert exit_code([report]) == 1
