"""The plugin of pytest: a test fails where its model compiles worse than it says.

``@pytest.mark.compiles(breaks=0, recompiles=0, graphs=1, syncs=0)`` limits what the compiled code
of a test may do, each at most. The fixture ``compiled`` compiles a model and calls it::

    @pytest.mark.compiles(graphs=1)
    def test_net(compiled):
        compiled(Net(), torch.ones(2, 8))

What is known to be worse is written to ``.tclint-budget.json`` by ``--tclint-update``, and may
only become less. Nothing here imports torch before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tclint.pytest_plugin.budget import FILE, Budget, BudgetError, read_budget, write_budget
from tclint.pytest_plugin.limits import NAMES, Counts, Limits, limits_of

if TYPE_CHECKING:
    from tclint.pytest_plugin.watching import Compiled

MARK = "compiles"
_PROPERTY = "tclint"
_USAGE = f"{MARK}(breaks=0, recompiles=0, graphs=None, syncs=None): limits for compiled code"
_BUDGET = pytest.StashKey[Budget]()
_ASKED = pytest.StashKey[bool]()
_SEEN = pytest.StashKey[dict[str, Counts]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--tclint-update``."""
    parser.getgroup("tclint").addoption(
        "--tclint-update",
        action="store_true",
        help=f"record in {FILE} what compiled tests do now; existing limits are only lowered",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark, and read the budget."""
    config.addinivalue_line("markers", _USAGE)
    config.stash[_SEEN] = {}
    try:
        config.stash[_BUDGET] = read_budget(config.rootpath / FILE)
    except BudgetError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.fixture
def compiled(request: pytest.FixtureRequest) -> Compiled:
    """Compile a model, and call it twice with the given arguments; returns the first result."""
    pytest.importorskip("torch")
    from tclint.pytest_plugin.watching import Compiled

    request.node.stash[_ASKED] = True
    return Compiled()


# Within what captures the log: that must not show what torch tells the one that watches.
@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Watch what Dynamo does in a test that asks for it, and hold it to its limits."""
    limits = _limits(item)
    if limits is None:
        yield
        return
    from tclint.pytest_plugin.watching import watched

    with watched(syncs=limits.syncs is not None) as seen:
        outcome: Any = yield
    if outcome.excinfo is not None:
        return
    counts = seen.counts()
    item.user_properties.append((_PROPERTY, counts.as_dict()))
    over = limits.exceeded(counts)
    if over:
        from tclint.pytest_plugin.words import explain

        outcome.force_exception(pytest.fail.Exception(explain(over, seen), pytrace=False))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the budget, if it was asked for; workers of pytest-xdist leave that to the others."""
    config = session.config
    if not config.getoption("tclint_update") or hasattr(config, "workerinput"):
        return
    seen = config.stash[_SEEN]
    write_budget(config.rootpath / FILE, config.stash[_BUDGET], seen)


class _Gathering:
    """Hears of all tests, those that ran in workers too."""

    def __init__(self, config: pytest.Config) -> None:
        self._seen = config.stash[_SEEN]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what a test's compiled code did."""
        for name, value in report.user_properties:
            if name == _PROPERTY and isinstance(value, dict):
                self._seen[report.nodeid] = Counts.from_dict(value)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to the reports."""
    session.config.pluginmanager.register(_Gathering(session.config), "tclint-gathering")


def _limits(item: pytest.Item) -> Limits | None:
    mark = item.get_closest_marker(MARK)
    if mark is None and not item.stash.get(_ASKED, False):
        return None
    given = {} if mark is None else mark.kwargs
    wrong = [name for name in given if name not in NAMES]
    if wrong or (mark is not None and mark.args):
        usage = _USAGE.partition(":")[0]
        raise pytest.UsageError(f"{item.nodeid}: write the mark as @pytest.mark.{usage}")
    known = item.config.stash[_BUDGET].tests.get(item.nodeid)
    return limits_of(given, known)
