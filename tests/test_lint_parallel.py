"""Shards, alone and in several processes: neither changes what is found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint import execution, parallel, shards
from tclint.lint.engine import Execution, Run, WorkerError, check_files
from tclint.lint.examine import Examiner
from tclint.lint.outcome import Outcome
from tclint.semantics.interpreter.analysis import Analysis
from tests.semantics_probe import put

NET = """\
import torch
from ops.shared import scale


class Net{number}(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        print(x)
        return scale(x)
"""
SHARED = """\
def scale(x):
    # tclint: ignore[TCL102]
    return x * x.mean().item()
"""


@pytest.fixture
def program(tmp_path: Path) -> list[Path]:
    files = {f"net{n}/net.py": NET.format(number=n) for n in range(9)}
    files |= {"ops/__init__.py": "", "ops/shared.py": SHARED, "broken.py": "def f(:\n"}
    return sorted(put(tmp_path, files), key=lambda path: path.parts)


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WHOLE", 1), ("SMALLEST", 1), ("LARGEST", 2), ("ONE_IN", 2)):
        monkeypatch.setattr(shards, name, value)
    monkeypatch.setattr(execution, "WORTH", 0)


def check(paths: list[Path], jobs: int) -> Run:
    return check_files(paths, Config(paths[0].parent), None, Execution(jobs))


def told(run: Run) -> list[tuple[str, int, str]]:
    found = (result.diagnostic for result in run.results)
    return [(d.path.name, d.span.start.row, d.code) for d in found]


def folders(count: int) -> list[Path]:
    return [Path(f"f{number // 5:04}/m{number}.py") for number in range(count)]


def test_a_small_program_is_one_shard() -> None:
    paths = folders(shards.WHOLE)
    assert shards.shards(paths) == (tuple(paths),)
    assert shards.shards([]) == ()


def test_shards_are_the_files_in_order_and_bounded() -> None:
    paths = folders(3000)
    parts = shards.shards(paths)
    assert [path for part in parts for path in part] == paths
    assert max(map(len, parts)) <= shards.LARGEST
    assert len({path.parent for part in parts for path in part[:1]}) == len(parts)


def test_a_folder_of_any_size_is_cut() -> None:
    parts = shards.shards([Path(f"m{number:05}.py") for number in range(3 * shards.LARGEST)])
    assert max(map(len, parts)) <= shards.LARGEST


def test_a_new_file_moves_few_shards() -> None:
    paths = folders(3000)
    before = set(shards.shards(paths))
    after = set(shards.shards(sorted([*paths, Path("f0300/new.py")])))
    assert len(after - before) <= 2


def test_shards_find_what_the_whole_finds(
    program: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = told(check(program, 1))
    for name, value in (("WHOLE", 1), ("SMALLEST", 1), ("LARGEST", 1)):
        monkeypatch.setattr(shards, name, value)
    assert told(check(program, 1)) == whole
    assert ("shared.py", 3, "TCL101") in whole  # once, though nine files lead there


def test_only_the_last_shard_of_a_process_that_ends_is_not_taken_apart(
    program: list[Path], small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[bool] = []
    release = Analysis.release

    def counted(self: Analysis) -> None:
        released.append(True)
        release(self)

    monkeypatch.setattr(Analysis, "release", counted)
    config, parts = Config(program[0].parent), len(shards.shards(program))
    stays = check_files(program, config, None, Execution(1))
    assert (len(released), parts > 1) == (parts, True)
    ends = check_files(program, config, None, Execution(1, ends=True))
    assert len(released) == 2 * parts - 1
    assert [r.diagnostic for r in ends.results] == [r.diagnostic for r in stays.results]


@pytest.mark.parametrize("jobs", [0, 2, 5])
def test_processes_find_the_same_in_the_same_order(
    program: list[Path], small_shards: None, jobs: int
) -> None:
    alone, together = check(program, 1), check(program, jobs)
    assert [r.diagnostic for r in together.results] == [r.diagnostic for r in alone.results]
    assert together.errors == alone.errors


def test_processes_that_would_save_nothing_are_not_started(
    program: list[Path], small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [path.stat().st_size for path in program]
    monkeypatch.setattr(execution, "WORTH", sum(sizes))

    def fork(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(os, "fork", fork)
    assert told(check(program, 2)) == told(check(program, 1))


def test_started_processes_find_the_same_as_forked_ones(
    program: list[Path], small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = check(program, 1)
    monkeypatch.setattr(parallel, "FORKS", False)
    together = check(program, 2)
    assert [r.diagnostic for r in together.results] == [r.diagnostic for r in alone.results]


def test_a_process_that_is_killed_is_one_clear_error(
    program: list[Path], small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(self: Examiner, shard: shards.Shard) -> Outcome:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    monkeypatch.setattr(Examiner, "examine", die)
    with pytest.raises(WorkerError, match=r"killed by signal 9 while it checked .*--jobs 1"):
        check(program, 2)


def test_what_goes_wrong_in_a_process_is_raised_here(
    program: list[Path], small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Examiner, shard: shards.Shard) -> Outcome:
        raise RuntimeError("a rule has a bug")

    monkeypatch.setattr(Examiner, "examine", fail)
    with pytest.raises(RuntimeError, match="a rule has a bug"):
        check(program, 2)


BUSY = """\
import os
import time
from pathlib import Path
from tclint.lint import parallel


class Busy:
    def __init__(self, program):
        pass

    def examine(self, shard):
        os.write(1, f"{os.getpid()}\\n".encode())
        while True:  # busy, not waiting for a line that ends
            time.sleep(0.001)


parallel.Examiner = Busy
parts = [(Path(f"{number}.py"),) for number in range(3)]
parallel.examine_in_processes(None, parts, None, 3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(how: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(3)]
        assert all(map(is_alive, workers))
        parent.send_signal(how)
        parent.wait()
        end = time.monotonic() + 20
        while any(map(is_alive, workers)) and time.monotonic() < end:
            time.sleep(0.02)
        assert not any(map(is_alive, workers))


def is_alive(number: int) -> bool:
    """Whether a process runs: one that has ended may wait for somebody to ask how."""
    with suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
