"""The recorder in a process of any program: it says what the process was, and changes nothing."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path

import pytest

from tclint.recorder.site.tclint_recorder.lines import Lines
from tclint.run.recorded import KINDS
from tests.recorded_runs import SITE, Ran, read, record, run

ENDS = {
    "returns": "print('bye')",
    "leaves with a status": "import sys; sys.exit(3)",
    "leaves with words": "raise SystemExit('no')",
    "fails": "def f(): return 1 / 0\n\nf()",
    "fails while it says so": "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E",
    "is interrupted": "raise KeyboardInterrupt",
    "leaves at once": "import os, sys; print('x', flush=True); os._exit(4)",
    "kills itself": "import os; os.kill(os.getpid(), 9)",
    "has no output any more": "import sys; sys.stdout = sys.stderr = None; 1 / 0",
    "hooks exceptions": "import sys; sys.excepthook = lambda *a: print('mine', a[1]); 1 / 0",
    "works at its end": "import atexit; atexit.register(print, 'late'); atexit.register(exit, 9)",
    "closes all its files": "import os; os.closerange(3, 256); f = open('x', 'w'); f.write('1')",
    "imports what is not there": "import torch.nothing_of_the_kind",
    "goes elsewhere": "import os; os.chdir('/')",
    "warns, and fails for it": "import warnings; warnings.simplefilter('error')",
    "prints in threads": "import threading\n"
    "threads = [threading.Thread(target=print, args=('t',)) for _ in range(9)]\n"
    "[(t.start(), t.join()) for t in threads]",
}


@pytest.mark.parametrize(
    "program",
    [pytest.param(text, marks=[pytest.mark.slow] * ("torch" in text)) for text in ENDS.values()],
    ids=ENDS,
)
def test_a_program_is_seen_to_do_what_it_does_without_the_recorder(
    program: str, tmp_path: Path
) -> None:
    plain, recorded = run(tmp_path, program), record(tmp_path, program)
    assert recorded.seen == plain.seen
    assert recorded.kinds()[0] == "process"


@pytest.mark.parametrize(
    ("program", "how"),
    [
        (ENDS["returns"], "exit"),
        (ENDS["leaves with a status"], "exit"),
        (ENDS["fails"], "ZeroDivisionError: division by zero"),
        (ENDS["hooks exceptions"], "ZeroDivisionError: division by zero"),
        (ENDS["is interrupted"], "KeyboardInterrupt: "),
        (ENDS["leaves at once"], "os._exit(4)"),
        (ENDS["kills itself"], None),
    ],
)
def test_how_a_process_ended_is_its_last_line(
    program: str, how: str | None, tmp_path: Path
) -> None:
    ends = [line["how"] for line in record(tmp_path, program).lines("end")]
    assert ends == ([] if how is None else [how])


def test_a_process_says_what_it_is(tmp_path: Path) -> None:
    ran = record(tmp_path, "", start=["-u", "main.py", "é\n"], RANK="1", WORLD_SIZE="2")
    (line,) = ran.lines("process")
    assert line["arguments"] == ["-u", "main.py", "é\n"]
    assert (line["folder"], line["executable"]) == (str(tmp_path), sys.executable)
    assert (line["rank"], line["world_size"]) == (1, 2)
    assert str(Path(os.__file__).parent) in line["libraries"]
    assert_follows_the_schema(ran)


def assert_follows_the_schema(ran: Ran) -> None:
    for process in ran.processes:
        for line in process:
            KINDS[line["kind"]](**{name: line[name] for name in line if name != "kind"})


def test_without_a_folder_nothing_is_recorded(tmp_path: Path) -> None:
    ran = record(tmp_path, "import sys; print('tclint_recorder' in sys.modules)", TCLINT_RECORD="")
    assert (ran.out, ran.processes) == ("False\n", ())


def test_what_is_imported_and_where_from_stays(tmp_path: Path) -> None:
    program = """
        import sys
        ours = [name for name in sys.modules if name.partition(".")[0] == "tclint_recorder"]
        print(sorted(sys.modules.keys() - {*ours, "__future__", "_json", "atexit"}))
        print(sys.path, sys.argv, sys.warnoptions, sys.flags)
    """
    assert record(tmp_path, program).out == run(tmp_path, program).out


def test_a_module_of_the_program_hides_one_of_python_as_ever(tmp_path: Path) -> None:
    for name in ("json", "logging", "typing", "contextlib", "inspect"):
        (tmp_path / f"{name}.py").write_text("mine = True\n", encoding="utf-8")
    program = "import json, logging, typing, contextlib, inspect\nprint(logging.mine, json.mine)"
    assert record(tmp_path, program).seen == (0, "True True\n", "")


@pytest.mark.parametrize("text", ["print('site')", "1 / 0", "import nothing_here", "import sys; x"])
def test_a_program_s_own_sitecustomize_and_usercustomize_run(text: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(text + "\n", encoding="utf-8")
    (site / "usercustomize.py").write_text("print('user')\n", encoding="utf-8")
    program = "import sys; print(getattr(sys.modules.get('sitecustomize'), '__file__', None))"
    base = {"PYTHONUSERBASE": str(tmp_path), "PYTHONNOUSERSITE": ""}
    plain = run(tmp_path, program, PYTHONPATH=str(site), **base)
    recorded = record(tmp_path, program, PYTHONPATH=str(site), **base)
    assert recorded.seen == plain.seen
    assert recorded.kinds() == ["process", "end"]


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_python_that_hears_of_nobody_is_not_recorded(option: str, tmp_path: Path) -> None:
    ran = record(tmp_path, "print('hello')", options=[option])
    assert (ran.seen, ran.processes) == ((0, "hello\n", ""), ())


def test_a_forked_process_has_lines_of_its_own(tmp_path: Path) -> None:
    program = """
        import os
        if os.fork() == 0:
            raise SystemExit(5)
        os.wait()
    """
    parent, child = record(tmp_path, program).processes
    assert [line["kind"] for line in (*parent, *child)] == ["process", "end"] * 2
    assert (child[0]["parent"], child[0]["forked"]) == (parent[0]["pid"], True)


def test_workers_and_other_pythons_are_recorded(tmp_path: Path) -> None:
    program = """
        import multiprocessing, subprocess, sys

        def work():
            print("work", flush=True)

        if __name__ == "__main__":
            for way in ("fork", "spawn", "forkserver"):
                worker = multiprocessing.get_context(way).Process(target=work)
                worker.start()
                worker.join()
            subprocess.run([sys.executable, "-c", "pass"], preexec_fn=lambda: None)
    """
    plain, recorded = run(tmp_path, program), record(tmp_path, program)
    assert recorded.seen == plain.seen
    ends = [process[-1]["kind"] for process in recorded.processes]
    assert len(ends) >= 5
    assert recorded.lines("note") == []


def test_a_process_that_becomes_another_has_two_files(tmp_path: Path) -> None:
    program = "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])"
    ran = record(tmp_path, program)
    assert (ran.out, len({line["pid"] for line in ran.lines("process")})) == ("1\n", 1)
    assert len(ran.processes) == 2


def test_a_folder_that_goes_or_is_full_is_nobody_s_business(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    program = f"import shutil; shutil.rmtree({str(gone)!r}); print('on')"
    assert record(tmp_path, program, TCLINT_RECORD=str(gone)).seen == (0, "on\n", "")
    assert read(gone) == ()
    for place in ("/dev/full", str(tmp_path / "main.py"), "/proc/none", "relative"):
        environment = {"TCLINT_RECORD": place, "PYTHONPATH": str(SITE)}
        assert run(tmp_path, "print('on')", **environment).seen == (0, "on\n", "")


def test_a_line_that_a_full_disk_cut_off_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = Lines(str(tmp_path))
    whole = os.write

    def some(file: int, text: bytes) -> int:
        if os.fstat(file).st_size:
            raise OSError(errno.ENOSPC, "full")
        return whole(file, text[:5])

    monkeypatch.setattr(os, "write", some)
    lines.write("end", at=1, how="é")
    monkeypatch.undo()
    lines.write("end", at=2, how=float("nan"))
    lost, path = sorted(tmp_path.iterdir())
    assert path.read_text("utf-8").splitlines() == ['{"kin', '{"kind":"end","at":2,"how":null}']
    assert (lost.name, lost.read_bytes()) == (f"lost-{os.getpid()}-{errno.ENOSPC}", b"")


def test_a_line_that_is_written_in_pieces_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = Lines(str(tmp_path))
    whole = os.write
    monkeypatch.setattr(os, "write", lambda file, text: whole(file, text[:5]))
    lines.write("end", at=1, how="é")
    monkeypatch.undo()
    (path,) = tmp_path.iterdir()
    assert path.read_text("utf-8") == '{"kind":"end","at":1,"how":"\\u00e9"}\n'


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_file_that_may_not_grow_is_nobody_s_business_and_is_told(tmp_path: Path) -> None:
    program = "import resource, sys\n"
    program += "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\nprint('on'); sys.exit(3)"
    ran = record(tmp_path, program)
    assert ran.seen == (3, "on\n", "")
    (lost,) = (tmp_path / "recorded").glob("lost-*")
    assert lost.name.endswith(f"-{errno.EFBIG}")


def test_a_signal_that_ends_a_program_does_so(tmp_path: Path) -> None:
    program = """
        import os, signal, sys
        signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))
        os.kill(os.getpid(), signal.SIGUSR1)
    """
    assert record(tmp_path, program).status == 7
    program = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert record(tmp_path, program).status == -signal.SIGTERM
