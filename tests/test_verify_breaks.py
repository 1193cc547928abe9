"""The oracles: each break is seen once, with its id, at the user's line."""

from __future__ import annotations

import linecache
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from benchmarks.verify.expected import expected  # noqa: E402
from benchmarks.verify.more_programs import MORE_BREAKING, MORE_CLEAN  # noqa: E402
from benchmarks.verify.programs import BREAKING, CLEAN  # noqa: E402
from tclint.verify import oracles  # noqa: E402
from tclint.verify.breaks import read_break  # noqa: E402
from tclint.verify.events import Break, Frame  # noqa: E402
from tclint.verify.measure import merge_syncs  # noqa: E402
from tests.dynamo import RELEASE  # noqa: E402

HEAD = """\
import logging, time
import numpy as np
import torch
log = logging.getLogger('quiet')
"""

PROGRAMS = {
    "item": (
        """
        def f(x):
            return x * x.max().item()  # GB0124
        """,
        2,
    ),
    "branch on data": (
        """
        def f(x):
            if x.sum() > 0:  # GB0170
                x = x + 1
            return x
        """,
        2,
    ),
    "helper that prints": (
        """
        def g(x):
            print('', end='')  # GB0059
            return x + 1

        def f(x):
            return g(x * 2) * 3
        """,
        3,
    ),
    "print inside a loop": (
        """
        def f(x):
            for _ in range(2):
                print('', end='')  # GB0059
                x = x + 1
            return x
        """,
        0,
    ),
    "logger": (
        """
        def f(x):
            x = x + 1
            log.debug('x')  # GB0291
            return x + 1
        """,
        2,
    ),
    "mask": (
        """
        def f(x):
            return x[x > 0].sum()  # GB0036
        """,
        2,
    ),
    "assert with a message": (
        """
        def f(x):
            assert (x < 9).all(), f'{x.shape}'  # GB0170
            return x + 1
        """,
        2,
    ),
    "clock": (
        """
        def f(x):
            t = time.time()  # GB0007
            return x + 1
        """,
        1,
    ),
    "two items": (
        """
        def f(x):
            x = x + x.max().item()  # GB0124
            return x * x.min().item()  # GB0124
        """,
        3,
    ),
    "assert without a message": (
        """
        def f(x):
            assert torch.all(x >= 0)
            return x + 1
        """,
        1,
    ),
    "numpy's arange in arithmetic": (
        """
        def f(x):
            for i in np.arange(2):
                x = x + i
            return x
        """,
        1,
    ),
}


def text(name: str) -> str:
    return HEAD + dedent(PROGRAMS[name][0])


def load(path: Path, source: str) -> Any:
    path.write_text(source)
    linecache.checkcache()
    names: dict[str, Any] = {}
    exec(compile(source, str(path), "exec"), names)
    return names["f"]


def marked(source: str) -> list[tuple[str, int]]:
    lines = source.splitlines()
    return [
        (line.rpartition("# ")[2], row) for row, line in enumerate(lines, start=1) if "# GB" in line
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_breaks_are_seen_at_their_lines(name: str, tmp_path: Path) -> None:
    source, graphs = text(name), PROGRAMS[name][1]
    function = load(tmp_path / "program.py", source)
    counter = oracles.CountingBackend()
    torch._dynamo.reset()
    with oracles.watch() as trace:
        torch.compile(function, backend=counter)(torch.rand(3))
    assert [(b.gb_id, b.row) for b in trace.breaks] == marked(source)
    assert {b.filename for b in trace.breaks} <= {str(tmp_path / "program.py")}
    assert len(counter.ops) == graphs


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gate_agrees_with_the_log(name: str, tmp_path: Path) -> None:
    source = text(name)
    function = load(tmp_path / "program.py", source)
    torch._dynamo.reset()
    verdict, first = oracles.gate(lambda: torch.compile(function, backend="eager")(torch.rand(3)))
    if verdict == "unavailable":
        pytest.skip("this torch has no error_on_graph_break")
    expected = marked(source)
    assert verdict == ("breaks" if expected else "whole")
    if first is not None:
        assert (first.gb_id, first.row) == expected[0]


@pytest.mark.parametrize(
    "program", (*CLEAN, *MORE_CLEAN, *BREAKING, *MORE_BREAKING), ids=lambda one: one.__name__
)
def test_every_break_is_at_its_line_and_none_is_invented(program: Any) -> None:
    torch._dynamo.reset()
    with oracles.watch() as trace:
        torch.compile(program, backend="eager")(torch.rand(8, 8))
    found = sorted((one.gb_id, one.row) for one in trace.breaks)
    if RELEASE == (2, 13):  # the ids are those of one release
        assert found == expected(program)
    else:
        assert sorted(row for _, row in found) == sorted(row for _, row in expected(program))


def test_a_break_in_a_loop_drops_the_frame(tmp_path: Path) -> None:
    function = load(tmp_path / "program.py", text("print inside a loop"))
    torch._dynamo.reset()
    with oracles.watch() as trace:
        torch.compile(function, backend="eager")(torch.rand(3))
    (found,) = trace.breaks
    assert found.drops_frame
    assert found.gb_ids == ("GB0059", "GB7000")
    assert [frame.function for frame in trace.eager_frames] == ["f"]


def test_a_counter_recompiles_up_to_the_limit(tmp_path: Path) -> None:
    source = dedent(
        """\
        import torch
        class M(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.n = 0
            def forward(self, x):
                self.n += 1
                return x * self.n
        f = M()
        """
    )
    function = load(tmp_path / "program.py", source)
    torch._dynamo.reset()
    with oracles.watch() as trace, torch._dynamo.config.patch(recompile_limit=3):
        compiled = torch.compile(function, backend="eager")
        for _ in range(5):
            compiled(torch.rand(3))
    assert [again.limit_reached for again in trace.recompiles] == [False, False, True]
    assert {again.filename for again in trace.recompiles} == {str(tmp_path / "program.py")}
    assert "n == 0" in trace.recompiles[0].reason


def test_the_break_that_every_optimizer_step_asks_for_is_marked() -> None:
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.rand(1, 2)).sum().backward()

    def step() -> None:
        optimizer.step()

    torch._dynamo.reset()
    with oracles.watch() as trace:
        torch.compile(step, backend="eager")()
    (found,) = trace.breaks
    assert found.by_torch
    assert found.filename == __file__


def test_the_last_user_frame_gets_the_blame() -> None:
    payload = dedent(
        """\
        Graph break in user code at /env/site-packages/lib/a.py:7
        Graph Break Reason: Encountered graph break when attempting to trace CALL: a call:

        Some reason
          Explanation: Because.

         For more details about this graph break, please visit: https://x/gb/gb0123.html

        User code traceback:
          File "/home/me/model.py", line 3, in forward
            return lib.a(x)
                   ^^^^^^^^
          File "/env/site-packages/lib/a.py", line 7, in a
            hidden(x)

        Traceback (most recent call last):
          File "/env/site-packages/torch/x.py", line 1, in y
        """
    )
    found = read_break(payload)
    assert (found.filename, found.row) == ("/home/me/model.py", 3)
    assert found.stack[-1].row == 7
    assert (found.gb_id, found.reason, found.explanation) == ("GB0123", "Some reason", "Because.")


def test_text_without_a_stack_or_an_id_is_still_read() -> None:
    found = read_break("Graph break in user code at /a.py:4\nReason: odd\n")
    assert isinstance(found, Break)
    assert (found.gb_id, found.filename, found.row) == (None, "/a.py", 4)


def test_why_cuda_graphs_are_left_out_is_kept() -> None:
    from torch._inductor.cudagraph_utils import log_cudagraph_skip_and_bump_counter as skip

    with oracles.watch() as trace:
        skip("skipping cudagraphs due to mutated inputs (1 instances). Found from : \n  File")
    assert trace.cudagraph_skips == ("mutated inputs (1 instances)",)
    with oracles.watch() as other:
        pass
    assert other.cudagraph_skips == ()


def test_waits_at_one_line_are_counted_together_with_the_first_stack() -> None:
    user, inner = Frame("/project/model.py", 3, "forward"), Frame("<torch>", 9, "item")
    (sync,) = merge_syncs([(user, inner), (user,)])
    assert (sync.filename, sync.row, sync.count) == ("/project/model.py", 3, 2)
    assert sync.stack == (user, inner)
