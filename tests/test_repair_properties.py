"""Programs made at random around each repair: eager code does the same, bit for bit, afterwards."""

from __future__ import annotations

import logging
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the programs run torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.fix.apply import fix_files

from .proof.equal import difference

HEAD = """\
import logging
import warnings

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("program")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = {rate}
        self.register_buffer("scale", torch.ones(3), persistent=False)
        self.short = self.scale

    def make(self, factor):
        return factor * torch.ones(3)

    def forward(self, x):
        y = x{start}
"""
TAIL = "        return x, y\n"

numbers = st.sampled_from(["-1.5", "0", "0.1", "1", "2.5"])
tests = st.one_of(
    st.builds("y.sum() {} {}".format, st.sampled_from([">", "<=", "=="]), numbers),
    st.sampled_from(
        [
            "torch.isfinite(y).all()",
            "not torch.isfinite(y).all()",
            "(torch.isinf(y).any() or torch.isnan(y).any())",
            "(y < 0).any()",
        ]
    ),
)
arms = st.one_of(
    st.builds("torch.clamp(y, min={}, max=3)".format, numbers),
    st.builds("y * {}".format, numbers),
    st.builds("{} - y".format, numbers),
    st.sampled_from(["y", "-y", "F.relu(y)", "y.clamp_min(0.5)", "y / 3"]),
)
flags = st.sampled_from(
    ["", "self.training and ", "y.is_floating_point() and ", "x.ndim == 2 and "]
)


def _lines(*lines: str) -> str:
    return "".join(f"        {line}\n" for line in lines)


one_way = st.builds(
    lambda flag, test, arm: _lines(f"if {flag}{test}:", f"    y = {arm}"), flags, tests, arms
)
both_ways = st.builds(
    lambda test, a, b: _lines(f"if {test}:", f"    y = {a}", "else:", f"    y = {b}"),
    tests, arms, arms,
)  # fmt: skip
expressions = st.builds(lambda test, a, b: _lines(f"y = {a} if {test} else {b}"), tests, arms, arms)
# The text of a tensor with gradients names the operation that made it: only values are shown.
checks = st.builds(
    lambda flag, test, message: _lines(f"if {flag}{test}:", f"    raise ValueError({message})"),
    flags, tests, st.sampled_from(['"bad"', 'f"bad {y.detach()}"', ""]),
)  # fmt: skip
asserts = st.builds(
    lambda sign, number, message: _lines(f"assert y.max().item() {sign} {number}{message}"),
    st.sampled_from([">=", "<", "!="]), numbers,
    st.sampled_from(["", ', "no"', ', f"{y.detach()}"']),
)  # fmt: skip
drops = st.builds(
    lambda drawn, flag: _lines(
        f"p = {drawn}", f"skip = {flag}p < self.rate", "if not skip:", "    y = y + 1"
    ),
    st.sampled_from(["torch.rand([])", "torch.rand(1)"]),
    st.sampled_from(["", "self.training and "]),
)
outputs = st.sampled_from(
    [
        _lines('logger.warning("seen %s", x.shape)'),
        _lines('warnings.warn("seen", UserWarning)'),
        _lines("if (y > 1).any():", '    logger.error("large")'),
    ]
)
stores = st.builds(
    lambda number: _lines(
        f"if torch.max(y) + 1 > {number}:",
        '    if not hasattr(self, "long"):',
        "        self.long = self.make(2.0)",
        '    self.register_buffer("scale", self.long, persistent=False)',
        "else:",
        "    self.short = self.short.to(x.device)",
        '    self.register_buffer("scale", self.short, persistent=False)',
        "y = y * self.scale",
    ),
    numbers,
)
masks = st.builds(
    "{} {} {}".format, st.sampled_from(["x", "{z}", "y"]), st.sampled_from([">", "<=", "=="]),
    numbers,
)  # fmt: skip
masked = st.builds(
    lambda number, *lines: _lines(
        *(line.format(z=f"z{number}", m=f"m{number}") for line in lines), f"y = z{number} + 0"
    ),
    st.integers(0, 10**6),
    st.sampled_from(["{z} = torch.zeros_like(x)", "{z} = x.clone()", "{z} = y * 1"]),
    st.builds("{{m}} = {}".format, masks),
    st.sampled_from(
        ["{z}[{m}] = x[{m}]", "{z}[{m}] *= 2", "{z}[{m}] = 1 - {z}[{m}]", "{z}[{m}] -= 0.1",
         "{z}[{m}] = torch.clamp({z}[{m}], max=1)", "{z}[{m}] = F.relu(-{z}[{m}]) * 3",
         "{z}[{m}] = x[{m}] / 3", "{z}[{m}] = y[{m}]"]
    ),
)  # fmt: skip
starts = st.sampled_from(["", " * 1", " * 1.5", ".float() * 1.5", ".float()"])
pieces = st.one_of(one_way, both_ways, expressions, checks, asserts, drops, outputs, stores, masked)
programs = st.builds(
    lambda rate, start, body: HEAD.format(rate=rate, start=start) + "".join(body) + TAIL,
    st.sampled_from(["0.0", "0.5", "1.0"]),
    starts,
    st.lists(pieces, min_size=1, max_size=4),
)
values = st.sampled_from(
    [-3.0, -1.5, -0.0, 0.1, 0.5, 1.0, 2.0, 7.0, float("inf"), float("-inf"), float("nan")]
)
inputs = st.builds(
    lambda rows, dtype: torch.tensor(rows).to(dtype),
    st.lists(st.tuples(values, values, values).map(list), min_size=1, max_size=2),
    st.sampled_from([torch.float32, torch.float64, torch.float16, torch.bfloat16]),
)


@dataclass(slots=True)
class Trail:
    """Everything that a caller of the program can tell about a run."""

    results: list[Any]
    said: list[str]
    gradient: Any
    random: Any
    buffers: dict[str, Any]
    shared: list[bool]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(programs, inputs, st.booleans())
def test_eager_code_stays_the_same(program: str, x: torch.Tensor, training: bool) -> None:
    fixed = _fixed(program)
    before, after = (_run(code, x, training) for code in (program, fixed))
    for name in Trail.__slots__:
        assert difference(getattr(before, name), getattr(after, name), name) is None, fixed


@settings(max_examples=30, deadline=None)
@given(programs)
def test_fixing_twice_changes_nothing_more(program: str) -> None:
    once = _fixed(program)
    assert _fixed(once) == once


def _fixed(program: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(program, encoding="utf-8")
        run = fix_files([path], Config(root=Path(folder)))
    return run.changed[0].after if run.changed else program


def _run(code: str, x: torch.Tensor, training: bool) -> Trail:
    names: dict[str, Any] = {}
    exec(code, names)
    net, leaf = names["Net"]().train(training), x.clone().requires_grad_()
    torch.manual_seed(0)
    trail = Trail([], [], None, None, {}, [])
    handler = _Listener(trail.said)
    logging.getLogger("program").addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                trail.results.append(_called(net, leaf, trail))
    finally:
        logging.getLogger("program").removeHandler(handler)
    trail.said += [f"{one.category.__name__}: {one.message}" for one in caught]
    trail.gradient, trail.random = leaf.grad, torch.get_rng_state()
    trail.buffers = dict(net.named_buffers())
    return trail


def _called(net: Any, leaf: torch.Tensor, trail: Trail) -> object:
    try:
        same, y = net(leaf)
        # The caller may see which results are one tensor, and write into them.
        trail.shared.append(y is same)
        if y.requires_grad:
            y.nan_to_num(0.0, 1.0, -1.0).sum().backward()
    except Exception as error:  # noqa: BLE001 (what the program raises is compared, too)
        return error
    return y.detach()


class _Listener(logging.Handler):
    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(record.getMessage())
