"""Breaks first met in packages that no rule was written against, as small programs.

``# X`` marks the line that breaks when ``f`` is compiled and called, and has a finding.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import MEASURED, breaks, skip_before

PROGRAMS = {
    "repeats whose length may be told and is not": """
        def repeated(x, times, length=None):
            return x.repeat_interleave(times, output_size=length)  # X

        def f(x):
            return repeated(x, torch.tensor([1, 2, 3]))
        """,
    "a hook on a layer that nobody knows": """
        def hook(layer, inputs, output):
            return None

        def hooked(layer):
            layer.register_forward_hook(hook)  # X

        layers = {"first": torch.nn.Linear(3, 3)}

        def f(x):
            hooked(layers["first"])
            return x + 1
        """,
    "a recurrent layer that is asked before it is called": """
        rnn = torch.nn.GRU(3, 3)

        def f(x):
            rnn.flatten_parameters()  # X
            if x is not None:
                x = rnn(x[None])[0]
            return x
        """,
    "a recurrent layer whose size is read": """
        rnn = torch.nn.LSTM(3, 3)

        def f(x):
            state = x.new_zeros(rnn.num_layers, 3)  # X
            return rnn(x[None], (state, state))[0]
        """,
    "a recurrent layer that is asked before a loop": """
        rnn = torch.nn.LSTM(3, 3)

        def f(x):
            x = x[None].repeat(rnn.num_layers, 1, 1)  # X
            for _ in range(2):
                x, _ = rnn(x)
            return x
        """,
}
WHOLE = {
    "repeats whose length is told": """
        def repeated(x, times, length=None):
            return x.repeat_interleave(times, output_size=length)

        def f(x):
            return repeated(x, torch.tensor([1, 2, 3]), 6)
        """,
    "an alignment that only another device asks for": """
        def f(x):
            if x.device.type == "tpu" and x.data_ptr() % 16 != 0:
                x = x.clone()
            return x + 1
        """,
}


def _text(program: str) -> str:
    lines = ["import torch", "", *(line[8:] for line in program.splitlines()), ""]
    return "\n".join(lines)


def _rows(folder: Path, text: str) -> list[int]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    run = check_files([path], Config(root=folder, compiled=("*:f",), settings=MEASURED))
    return [one.diagnostic.span.start.row for one in run.results]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_line_that_breaks_has_the_finding(tmp_path: Path, program: str) -> None:
    text = _text(program)
    marked = [row for row, line in enumerate(text.splitlines(), 1) if line.endswith("# X")]
    assert _rows(tmp_path, text) == marked


@pytest.mark.parametrize("program", WHOLE.values(), ids=WHOLE.keys())
def test_what_compiles_whole_has_no_finding(tmp_path: Path, program: str) -> None:
    assert not _rows(tmp_path, _text(program))


@pytest.mark.parametrize("program", [*PROGRAMS.values(), *WHOLE.values()])
def test_dynamo_agrees(program: str) -> None:
    skip_before((2, 13))
    torch = pytest.importorskip("torch")
    assert breaks(_text(program), torch.ones(3)) == (program in PROGRAMS.values())
