"""What all tests share: no colours, no caches outside the test, no clock."""

from __future__ import annotations

import compileall
import fcntl
import gc
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from _pytest.runner import runtestprotocol
from hypothesis import settings

from tests.quiet_torch import quieten

REPOSITORY = Path(__file__).resolve().parent.parent
NUMBERS = itertools.count()
OFTEN = (20_000, 20, 20)
"""How many new objects the garbage collector waits for in tests."""
INSTALLABLE = ("pyproject.toml", "setup.py", "README.md", "LICENSE", ".pre-commit-hooks.yaml")

# Nothing of what is imported and collected is garbage.
gc.disable()
settings.register_profile("tclint", deadline=None, derandomize=True)
settings.load_profile("tclint")


# Else each process that compiles tries every instruction set of this machine first, with programs
# that take a compiler ten seconds. Set before torch is imported, and inherited.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
# Tests compute with small tensors, and the workers fill the cores: more threads would only wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Dynamo collects garbage after each compilation, which frees nothing that a test waits for.
os.environ.setdefault("TORCH_DYNAMO_RUN_GC_AFTER_COMPILE", "0")
# What pip installs for tests is compiled where it is imported, which is little of it.
os.environ.setdefault("PIP_COMPILE", "0")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background: what the tests interrupt would inherit that, and go on.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Compile what tests start hundreds of times, which Python would do each time.

    Where it may write bytecode, as it may not in many containers, the first start does it. Nor
    does pytest keep the tests with their rewritten asserts there, and each worker rewrites all.
    """
    if sys.dont_write_bytecode and "PYTEST_XDIST_WORKER" not in os.environ:
        for package in ("tclint", "rules", "benchmarks"):
            compileall.compile_dir(REPOSITORY / package, quiet=2)
    sys.dont_write_bytecode = False
    if "PYTEST_XDIST_WORKER" in os.environ:
        _rewrite_a_share(config)


def _rewrite_a_share(config: pytest.Config) -> None:
    """Rewrite the asserts of some test files, for all workers; else each would rewrite each file,
    since they come to it at the same time.
    """
    worker, of = (os.environ[f"PYTEST_XDIST_WORKER{what}"] for what in ("", "_COUNT"))
    state = config.stash[rewrite.assertstate_key]
    files = sorted((REPOSITORY / "tests").glob("test_*.py"))
    for file in files[int(worker.removeprefix("gw")) % int(of) :: int(of)]:
        folder = rewrite.get_cache_dir(file)
        kept = folder / f"{file.stem}{rewrite.PYC_TAIL}"
        if rewrite.try_makedirs(folder) and rewrite._read_pyc(file, kept) is None:
            stat, code = rewrite._rewrite_test(file, config)
            rewrite._write_pyc(state, code, stat, kept)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need more GPUs than there are: they can only run where there are.

    And those that run a part of what another one runs that was chosen too.
    """
    gpus = len(list(Path("/dev").glob("nvidia[0-9]*")))
    names = {(item.path, _function(item)) for item in items}
    out = {item for item in items if _gpus_needed(item) > gpus or _is_in(item, names)}
    if out:
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]
    # Workers take tests from the front and from each other's end: what is long is not to come last.
    items.sort(key=_seconds, reverse=True)


def _function(item: pytest.Item) -> str:
    """The test function's name, without the parameters."""
    return item.originalname if isinstance(item, pytest.Function) else item.name


def _is_in(item: pytest.Item, names: set[tuple[Path, str]]) -> bool:
    wholes = [mark.args[0] for mark in item.iter_markers("sample_of")]
    return any((item.path, name) in names for name in wholes)


def _seconds(item: pytest.Item) -> float:
    """About how long a slow test takes, and nothing for others."""
    slow = item.get_closest_marker("slow")
    return 0 if slow is None else slow.args[0] if slow.args else 5


def _gpus_needed(item: pytest.Item) -> int:
    counts = [mark.args[0] if mark.args else 1 for mark in item.iter_markers("cuda")]
    return max(counts, default=0)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what is there for good, modules and tests, and most of its runs:
    Dynamo makes so many objects that every eighth second went into them.
    """
    gc.enable()
    gc.freeze()
    gc.set_threshold(*OFTEN)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Spare xdist half of its messages: that a test begins, and is set up and taken down well.

    They cost more than many a test. Who asks for durations, a file of results or an early end
    needs them.
    """
    option = item.config.option
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if not is_worker or option.durations is not None or option.xmlpath or option.maxfail:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_runtest_setup() -> None:
    """See `tests/quiet_torch.py`; torch may be imported by now."""
    quieten()


def pytest_runtest_teardown() -> None:
    """Commands that run in the test's own process leave the collector off: theirs would end."""
    gc.enable()
    gc.set_threshold(*OFTEN)


def pytest_unconfigure() -> None:
    """Spare it all else, too: pytest and Python look for garbage when all is over."""
    gc.freeze()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own: pytest's, without a link to the newest folder of each name."""
    name = re.sub(r"\W", "_", request.node.name)[:28]
    return tmp_path_factory.mktemp(f"{name}{next(NUMBERS)}", numbered=False)


@pytest.fixture(autouse=True)
def plain_environment(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Make output independent of the terminal, and keep caches inside the test's folder.

    Most tests have none, and cache nothing: a folder for each would take longer than the test.
    """
    if "tmp_path" in request.fixturenames:
        cache = request.getfixturevalue("tmp_path") / "cache"
    else:
        cache = tmp_path_factory.getbasetemp() / f"cache{next(NUMBERS)}"
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@pytest.fixture
def copied_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children of ``tclint verify`` start with torch imported, which saves seconds each."""
    from tests.verify_children import copy_children

    copy_children(monkeypatch)


@pytest.fixture
def copied_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the attack runs are copies; not where it is about what a process imports."""
    from tests.attack_runs import copy_runs

    copy_runs(monkeypatch)


@pytest.fixture
def copied_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Language servers are copies of one that has everything imported."""
    from tests.server_copies import copy_servers

    copy_servers(monkeypatch)


@pytest.fixture
def process_group() -> Iterator[None]:
    """A group of this process alone, which no later test finds.

    Examples of rules make one where there is none, and leave it.
    """
    distributed = pytest.importorskip("torch.distributed")
    if distributed.is_initialized():
        distributed.destroy_process_group()
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout's root folder."""
    return REPOSITORY


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what an installation is made from, so that builds leave the checkout alone."""
    return _copied_sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of these sources, built once for all workers."""

    def build(made: Path) -> None:
        sources = _copied_sources(tmp_path_factory.mktemp("sources"))
        command = ["pip", "wheel", "-q", "--no-deps", "-w", str(made), str(sources)]
        subprocess.run([sys.executable, "-m", *command], check=True, cwd=made)

    (found,) = made_once(tmp_path_factory, "wheel", build).glob("*.whl")
    return found


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder for all workers, filled by the first that needs it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = factory.mktemp(name)
            make(made)
            made.rename(folder)
    return folder


def writing_bytecode(**more: str) -> dict[str, str]:
    """The environment for what is installed: else each of its starts would compile it anew."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | more


def _copied_sources(copy: Path) -> Path:
    for name in INSTALLABLE:
        shutil.copy(REPOSITORY / name, copy)
    for package in ("tclint", "rules"):
        shutil.copytree(
            REPOSITORY / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    return copy
