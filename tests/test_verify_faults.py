"""Fault drills: whatever a target does, the parent gets an answer that says what happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tclint.verify.arms import Fixing, Options, Side
from tclint.verify.compare import verify_sides
from tclint.verify.results import AppliedFix, Failure, TargetReport
from tclint.verify.session import exit_code

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

ENDLESS = "kept = []\n    while True:\n        kept.append(torch.empty(1 << 26))"
RETURN = "\n    return torch.sin, (torch.ones(3),), {}\n"
REPAIR = AppliedFix("TCL000", "drill.py", 4, "repair it")


def verify(tmp_path: Path, body: str, options: Options | None = None) -> TargetReport:
    (tmp_path / "drill.py").write_text(f"import torch\n\ndef make():\n    {body}{RETURN}")
    chosen = options or Options("eager", speed=False)
    return verify_sides("drill", [Side("after", "drill.py:make", tmp_path)], chosen)


def failure(report: TargetReport) -> Failure:
    assert exit_code([report]) == 2
    found = report.after.failure
    assert found is not None
    return found


@pytest.mark.usefixtures("copied_children")
def test_an_exception_is_reported_with_its_place(tmp_path: Path) -> None:
    found = failure(verify(tmp_path, "raise LookupError('no weights')"))
    assert found.kind == "exception"
    assert found.message == f"LookupError: no weights ({tmp_path / 'drill.py'}:4)"


@pytest.mark.usefixtures("copied_children")
def test_sys_exit_is_reported(tmp_path: Path) -> None:
    found = failure(verify(tmp_path, "raise SystemExit(3)"))
    assert found == Failure("exit", "the target called sys.exit(3)")


@pytest.mark.usefixtures("copied_children")
def test_a_process_that_leaves_is_reported_with_its_last_words(tmp_path: Path) -> None:
    body = "import os, sys; sys.stderr.write('farewell\\n'); sys.stderr.flush(); os._exit(7)"
    found = failure(verify(tmp_path, body))
    assert found.kind == "exit"
    assert "status 7" in found.message
    assert "farewell" in found.message


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_segmentation_fault_is_reported_with_its_line(tmp_path: Path) -> None:
    found = failure(verify(tmp_path, "import ctypes; ctypes.string_at(0)"))
    assert found == Failure("crash", f"crashed with SIGSEGV at {tmp_path / 'drill.py'}:4")


def test_a_hang_ends_at_the_time_limit_with_all_its_children(tmp_path: Path) -> None:
    body = (
        "import subprocess, sys, time\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "    open('pid', 'w').write(str(child.pid))\n"
        "    time.sleep(600)"
    )
    pid = tmp_path / "pid"
    for limit in (8, 90):  # a busy machine may take longer than 8 s to import torch
        found = failure(verify(tmp_path, body, Options("eager", speed=False, time_limit=limit)))
        assert found == Failure("timeout", f"took longer than the time limit of {limit} s")
        if pid.exists():
            break
    state = Path(f"/proc/{pid.read_text()}/stat")
    if sys.platform == "linux":
        assert not state.exists() or state.read_text().split()[2] == "Z"


@pytest.mark.usefixtures("copied_children")
def test_output_without_end_disturbs_nothing(tmp_path: Path) -> None:
    body = (
        "import os, sys\n"
        "    for _ in range(40):\n"
        "        print('x' * 100_000); sys.stderr.write('y' * 100_000)\n"
        "        os.write(1, b'{\"ok\": {}}\\n')"
    )
    report = verify(tmp_path, body)
    assert report.after.failure is None
    assert report.equality.verdict == "identical"


@pytest.mark.slow(10)
@pytest.mark.usefixtures("copied_children")
@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_DATA")
@pytest.mark.parametrize("body", ["torch.ones(1 << 33)", "bytearray(1 << 35)", ENDLESS])
def test_a_full_memory_is_reported(tmp_path: Path, body: str) -> None:
    found = failure(verify(tmp_path, body, Options("eager", speed=False, memory_limit=8 << 30)))
    assert found.kind == "out-of-memory"


@pytest.mark.usefixtures("copied_children")
def test_a_broken_contract_is_reported(tmp_path: Path) -> None:
    found = failure(verify(tmp_path, "return 1"))
    assert found.kind == "target"
    assert "must return (module_or_callable, args, kwargs), or an object" in found.message


@pytest.mark.usefixtures("copied_children")
def test_a_call_that_raises_compares_like_a_result(tmp_path: Path) -> None:
    report = verify(tmp_path, "return torch.nn.Linear(2, 2), (torch.ones(3),), {}")
    assert report.after.failure is None
    assert report.equality.equal is not None


@pytest.mark.usefixtures("copied_children")
def test_before_and_after_share_weights_and_compare(tmp_path: Path) -> None:
    head = "import torch\nclass M(torch.nn.Module):\n"
    head += "    def __init__(self):\n        super().__init__()\n"
    head += "        self.l = torch.nn.Linear(4, 4)\n    def forward(self, x):\n"
    tail = "def make():\n    return M(), (torch.ones(2, 4),), {}\n"
    bodies = {
        "old": "        return self.l(x) * x.sum().item()\n",
        "good": "        return self.l(x) * x.sum().detach()\n",
        "bad": "        return self.l(x) * x.mean()\n",
    }
    for name, body in bodies.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(head + body + tail)
    (tmp_path / "grown").mkdir()
    grown = head.replace("self.l = ", "self.k = torch.nn.Linear(1, 1)\n        self.l = ")
    (tmp_path / "grown" / "m.py").write_text(grown + bodies["good"] + tail)

    def against_old(name: str) -> TargetReport:
        sides = [Side("before", "m.py:make", tmp_path / "old")]
        sides.append(Side("after", "m.py:make", tmp_path / name))
        return verify_sides("m", sides, Options("eager", speed=False))

    good = against_old("good")
    assert [len(arm.probe.breaks) for arm in good.arms if arm.probe] == [1, 0]
    assert good.equality.verdict == "identical"
    assert exit_code([good]) == 0
    bad = against_old("bad")
    assert bad.equality.verdict == "different"
    assert exit_code([bad]) == 1
    larger = against_old("grown")
    assert larger.equality.equal is None
    assert "the weights do not fit" in larger.equality.detail


@pytest.mark.usefixtures("copied_children")
def test_state_in_globals_does_not_make_arms_differ(tmp_path: Path) -> None:
    (tmp_path / "counter.py").write_text(
        "import torch\nsteps = 0\n"
        "def f(x):\n    global steps\n    steps += 1\n    return x * steps\n"
        "def make():\n    return f, (torch.ones(2),), {}\n"
    )
    sides = [Side("after", "counter.py:make", tmp_path)]
    report = verify_sides("counter", sides, Options("eager", speed=False))
    assert report.equality.verdict == "identical"
    assert report.after.probe is not None
    assert len(report.after.probe.recompiles) == 2


def test_without_a_compiler_the_rest_is_still_measured(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(
        "import torch\ndef make():\n    return torch.nn.ReLU(), (torch.ones(9),), {}\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.tclint]\n")
    environment = {**os.environ, "CXX": "no-such-compiler", "PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", RUN_CLI, "plain.py:make", "--output-format", "json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (arm,) = json.loads(done.stdout)["targets"][0]["arms"]
    assert arm["breaks"] == []
    assert arm["times"] is None
    assert "compile" in arm["no_speed"]


def test_forks_and_threads_do_not_confuse_the_parent(tmp_path: Path) -> None:
    body = (
        "import os, threading, time\n"
        "    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(600)"
    )
    report = verify(tmp_path, body)
    assert report.after.failure is None
    assert report.equality.verdict == "identical"


@pytest.mark.usefixtures("copied_children")
def test_a_collective_that_nccl_gives_up_on_is_a_time_out(tmp_path: Path) -> None:
    words = (
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, "
        "NumelIn=9, NumelOut=9, Timeout(ms)=16000) ran for 16004 milliseconds before timing out."
    )
    body = f"import os, sys; sys.stderr.write({words!r}); sys.stderr.flush(); os.abort()"
    found = failure(verify(tmp_path, body))
    assert found.kind == "timeout"
    assert found.message == "NCCL gave up on ALLREDUCE after 16 s: not every rank reached it"


@pytest.mark.usefixtures("copied_children")
def test_one_arm_runs_though_the_other_does_not(tmp_path: Path) -> None:
    (tmp_path / "drill.py").write_text(f"import torch\n\ndef make():\n    broken(){RETURN}")
    fixed = f"import torch\n\ndef make():{RETURN}"

    def fix(files: Sequence[Path]) -> Fixing:
        return Fixing({str(file.resolve()): fixed for file in files}, (REPAIR,))

    sides = [Side("before", "drill.py:make", tmp_path)]
    sides.append(Side("after", "drill.py:make", tmp_path, fix=fix))
    report = verify_sides("drill", sides, Options("eager", speed=False))
    assert report.arms[0].failure is not None
    assert report.after.probe is not None
    assert report.equality.detail == "the target did not run (before)"
    assert exit_code([report]) == 2


@pytest.mark.usefixtures("copied_children")
def test_the_arm_that_runs_has_times(tmp_path: Path) -> None:
    (tmp_path / "drill.py").write_text(f"import torch\n\ndef make():\n    broken(){RETURN}")
    fixed = {str((tmp_path / "drill.py").resolve()): f"import torch\n\ndef make():{RETURN}"}
    sides = [Side("before", "drill.py:make", tmp_path)]
    fixing = Fixing(fixed, (REPAIR,))
    sides.append(Side("after", "drill.py:make", tmp_path, fix=lambda _files: fixing))
    report = verify_sides("drill", sides, Options(backend="eager"))
    assert report.arms[0].speed is None
    assert report.after.speed is not None
    assert report.speedups[0].ratio is None
    assert report.speedups[0].note.startswith("no speed: before: ")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_child_does_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    (tmp_path / "hang.py").write_text(
        f"import os, pathlib, time\ndef make():\n"
        f"    pathlib.Path({str(mark)!r}).write_text(str(os.getpid()))\n    time.sleep(600)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", RUN_CLI, "hang.py:make"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: mark.exists() and mark.read_text() != "")
    child = int(mark.read_text())
    running.kill()
    running.wait()
    until(lambda: gone(child))
    assert gone(child)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true() and time.monotonic() < deadline:
        time.sleep(0.1)


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    # Nobody may be left to collect what it ended with.
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().split()[2] == "Z"


@pytest.mark.slow(15)
@pytest.mark.usefixtures("copied_children")
def test_a_compiler_that_gets_it_wrong_is_named(tmp_path: Path) -> None:
    # What Dynamo is known to get wrong without a word: a float64 of numpy is a float.
    (tmp_path / "wrong.py").write_text(
        "import numpy as np\nimport torch\n"
        "def f(x):\n    return x * 2 if isinstance(np.float64(1.0), float) else x * 3\n"
        "def make():\n    return f, (torch.ones(3),), {}\n"
    )
    scripts = tmp_path / "scripts"
    options = Options("eager", speed=False, repro=scripts)
    report = verify_sides("wrong", [Side("after", "wrong.py:make", tmp_path)], options)
    assert report.equality.verdict == "different"
    assert report.diagnosis is not None
    assert report.diagnosis.layer == "Dynamo (tracing)"
    assert [rung.fine for rung in report.diagnosis.rungs] == [False]
    assert "TORCHDYNAMO_REPRO_AFTER=dynamo" in report.diagnosis.minifier
    (script,) = scripts.glob("repro_*.py")
    done = subprocess.run(
        [sys.executable, script], cwd=scripts, capture_output=True, text=True, check=False
    )
    assert "output 0: off by at most 1" in done.stdout, done.stderr
    (graph,) = scripts.glob("*_graph_0.py")
    compile(graph.read_text(), str(graph), "exec")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_an_interrupt_leaves_no_child_and_no_trace(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.tclint]\n")
    (tmp_path / "hang.py").write_text(
        "import os, pathlib, time\n"
        "def make():\n    pathlib.Path(os.environ['MARK']).write_text(str(os.getpid()))\n"
        "    time.sleep(600)\n"
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    mark, scratch = tmp_path.parent / f"{tmp_path.name}.pid", tmp_path.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    running = subprocess.Popen(
        [sys.executable, "-c", RUN_CLI, "hang.py:make"],
        cwd=tmp_path,
        env={**os.environ, "MARK": str(mark), "TMPDIR": str(scratch), **NO_BYTECODE},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    child = int(mark.read_text())
    mark.unlink()
    running.send_signal(how)
    assert running.wait(timeout=120) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert list(scratch.iterdir()) == []


NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
RUN_CLI = (
    "import sys; sys.path.insert(0, " + repr(str(Path(__file__).parents[1])) + ")\n"
    "import typer; from tclint.cli.verify import verify; typer.run(verify)"
)
