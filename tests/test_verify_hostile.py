"""Drills without torch: what a program can do to the process that verifies it, and what is said."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from tclint.verify import keeper, process
from tclint.verify.answers import Done, EagerSample
from tclint.verify.process import Child, ChildError
from tclint.verify.results import Failure
from tclint.verify.wire import LONGEST_TEXT, WireError, plain, rebuild, shortened

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals")
linux = pytest.mark.skipif(sys.platform != "linux", reason="nobody adopts orphans")

BY_ITSELF = (
    "was killed (SIGKILL), by itself or from outside: the system killed nothing here to get "
    "memory back"
)
LEFT = "ended with status {} before it answered, as after os._exit()"
CLOSED = "user code closed or replaced the file in which its results are told"


@pytest.fixture(autouse=True)
def _stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_WORKER", (sys.executable, "-m", "tests.verify_stub"))


def drill(folder: Path, code: str, limit: float = 120, kind: type = Done) -> object:
    """Run a program in a child; what the verifier gets to know."""
    with Child(folder / "cache", "cpu", limit) as child:
        try:
            return child.ask("run", kind, code=dedent(code), file=str(folder / "drill.py"))
        except ChildError as failed:
            return failed.failure


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("import os; os._exit(7)", "exit", LEFT.format(7)),
        ("import os; os.execvp('true', ['true'])", "exit", LEFT.format(0)),
        (
            "import os; os.write(2, b'z' * 9000 + b'!'); os._exit(7)",
            "exit",
            f"{LEFT.format(7)}; the last on its standard error: {shortened('z' * 9000 + '!', 500)}",
        ),
        ("import sys; sys.exit('x' * 9000)", "exit", "the target called sys.exit("),
        ("import os; os.kill(os.getpid(), 9)", "crash", BY_ITSELF),
        ("import os; os.kill(os.getpid(), 15)", "crash", "was ended by SIGTERM, by itself or"),
        ("import os; os.abort()", "crash", "crashed with SIGABRT at "),
        ("raise KeyboardInterrupt", "exception", "KeyboardInterrupt (FOLDER/drill.py:1)"),
        ("raise GeneratorExit", "exception", "GeneratorExit ("),
        ("def f(): f()\nf()", "exception", "RecursionError: maximum recursion depth exceeded"),
        (
            "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
            "exception",
            "E: <a E that raises SystemExit when shown> (FOLDER/drill.py:3)",
        ),
        ("import os; os.closerange(3, 1000)", "answer", CLOSED),
        ("import os\nfor n in range(3, 40): os.dup2(2, n)", "answer", CLOSED),
        (
            "import json; json.JSONEncoder.encode = lambda *_, **__: '[[[['",
            "answer",
            "gave an answer that cannot be read: user code wrote where answers go: '[[[['",
        ),
        (
            "say({'ok': 1})",
            "answer",
            "gave an answer that cannot be read: Done has no 'ok'",
        ),
        ("answer = EagerSample('fast')", "answer", "gave an answer that cannot be read: Done has"),
        ("answer = 7", "answer", "gave an answer that cannot be read: Done is not an object"),
    ],
)
def test_each_way_to_end_or_to_lie_is_told(
    tmp_path: Path, code: str, kind: str, message: str
) -> None:
    found = drill(tmp_path, code)
    assert isinstance(found, Failure)
    assert found.kind == kind
    assert found.message.startswith(message.replace("FOLDER", str(tmp_path)))
    assert len(found.message) <= LONGEST_TEXT


@linux
def test_a_signal_without_a_name_is_told_by_its_number(tmp_path: Path) -> None:
    found = drill(tmp_path, "import os; os.kill(os.getpid(), 40)")
    assert found == Failure("crash", "was ended by signal 40, by itself or from outside")


@pytest.mark.parametrize("forged", [b'{"ok": {}}', b"x" * 100_000, b"[" * 100_000, b"9" * 9_999])
def test_what_user_code_writes_in_the_place_of_an_answer_is_no_answer(
    tmp_path: Path, forged: bytes
) -> None:
    code = f"""
        import os
        for file in range(3, 40):
            try:
                os.write(file, {forged!r} + b"\\n")
            except OSError:
                pass
    """
    found = drill(tmp_path, code)
    assert isinstance(found, Failure)
    assert found.kind == "answer"
    assert "user code wrote where answers go" in found.message
    assert len(found.message) < 300


def test_a_program_without_manners_is_measured_all_the_same(tmp_path: Path) -> None:
    code = """
        import atexit, json, os, signal, sys, threading, time, warnings

        for what in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(what, signal.SIG_IGN)
        os.chdir("/")
        os.umask(0o777)
        json.dumps = json.loads = None
        time.monotonic = time.sleep = time.time = None
        sys.stdout = sys.stderr = None
        sys.argv.append(sys.argv[1:])
        os.close(0)
        os.close(1)
        for number in range(50):
            os.write(2, b"y" * 100_000)
        atexit.register(threading.Event().wait)
        threading.Thread(target=threading.Event().wait).start()
        os.fork()
        answer = EagerSample(float("nan"))
    """
    found = drill(tmp_path, code, kind=EagerSample)
    assert isinstance(found, EagerSample)
    assert found.eager != found.eager


def test_a_text_of_megabytes_is_cut_and_the_rest_counted(tmp_path: Path) -> None:
    found = drill(tmp_path, "raise ValueError('x' * 6_000_000 + 'the end')")
    assert isinstance(found, Failure)
    assert found.message.startswith("ValueError: xxx")
    assert "[5,996,057 characters left out]" in found.message
    assert found.message.endswith(f"xthe end ({tmp_path / 'drill.py'}:1)")


def test_a_child_that_stops_itself_ends_at_the_time_limit(tmp_path: Path) -> None:
    code = """
        import os, signal
        os.kill(os.getppid(), signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
    """
    found = drill(tmp_path, code, limit=1)
    assert found == Failure("timeout", "took longer than the time limit of 1 s")


DAEMON = """
    import os, signal, time

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open({mark!r}, "w") as file:
                file.write(str(os.getpid()))
            os.closerange(0, 100)
            time.sleep(600)
        os._exit(0)
    while not os.path.exists({mark!r}) or not open({mark!r}).read():
        time.sleep(0.01)
"""
HOPPER = """
    import os, time

    for number in range(4):
        if os.fork() == 0:
            os.setsid()
            end = time.monotonic() + 60
            while time.monotonic() < end:
                if os.fork():
                    os._exit(0)
                with open({mark!r}, "w") as file:
                    file.write(str(os.getpid()))
            os._exit(0)
"""


@linux
@pytest.mark.parametrize("end", ["", "    time.sleep(600)", "    os._exit(3)"])
def test_a_daemon_ends_with_the_run(tmp_path: Path, end: str) -> None:
    mark = tmp_path / "pid"
    drill(tmp_path, DAEMON.format(mark=str(mark)) + end, limit=3 if "sleep" in end else 120)
    assert not lives(int(mark.read_text()))


@linux
def test_processes_that_change_their_number_all_the_time_end_with_the_run(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    drill(tmp_path, HOPPER.format(mark=str(mark)))
    seen = mark.read_text() if mark.exists() else ""
    time.sleep(0.2)
    assert (mark.read_text() if mark.exists() else "") == seen


@linux
def test_a_program_that_kills_what_watches_over_it_is_told(tmp_path: Path) -> None:
    found = drill(tmp_path, "import os, time; os.kill(os.getppid(), 9); time.sleep(600)")
    message = "the process that watches over it was ended by SIGKILL; what it started may still run"
    assert found == Failure("crash", message)


@linux
@pytest.mark.parametrize(
    ("counts", "kind", "words"),
    [
        ((3, 4), "out-of-memory", "was killed by the system, since memory ran out"),
        ((3, 3), "crash", BY_ITSELF),
        ((None, None), "out-of-memory", "was killed (SIGKILL): perhaps memory ran out"),
    ],
)
def test_the_system_s_own_count_tells_who_killed(
    counts: tuple[int | None, int | None], kind: str, words: str
) -> None:
    before, after = counts
    end = keeper.End(-9, keeper.ran_out(before, after))
    assert process.killed(end) == Failure(kind, words)


def test_the_count_is_read_where_the_system_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {
        "memory/box/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n",
        "box/memory.events": "low 0\noom 7\noom_kill 6\noom_group_kill 0\n",
        "memory.events": "oom_kill 1\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(keeper, "_CGROUPS", tmp_path)
    told = {"5:memory:/box": 5, "0::/box": 6, "0::/elsewhere": 1}
    for line, count in told.items():
        (tmp_path / "cgroup").write_text(f"9:cpu:/\n{line}\n")
        monkeypatch.setattr(keeper, "_OWN_CGROUPS", tmp_path / "cgroup")
        assert keeper.oom_kills() == count


def test_a_record_is_read_only_from_what_one_is_written_as() -> None:
    failure = Failure("crash", "x")
    assert rebuild(Failure, plain(failure)) == failure
    for lie in (None, [], {}, {"kind": "crash"}, {"kind": "crash", "message": 1}, {"kin": 1}):
        with pytest.raises(WireError, match="Failure"):
            rebuild(Failure, lie)


def lives(number: int) -> bool:
    """Whether a process runs; one that nobody has collected yet does not."""
    state = Path(f"/proc/{number}/stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_file_descriptor_that_is_free_again_leaks_nothing(tmp_path: Path) -> None:
    drill(tmp_path, "")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        drill(tmp_path, "import os; os._exit(1)")
    assert len(list(Path("/dev/fd").iterdir())) <= before


def test_a_link_in_the_place_of_what_verify_keeps_is_replaced_and_not_followed(
    tmp_path: Path,
) -> None:
    from tclint.verify.probe import _leave

    theirs = tmp_path / "theirs"
    theirs.write_text("mine", "utf-8")
    kept = tmp_path / "state.pt"
    kept.symlink_to(theirs)
    _leave({"state": 1}, kept)
    assert theirs.read_text("utf-8") == "mine"
    assert not kept.is_symlink()
