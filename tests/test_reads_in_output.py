"""A read of a tensor that is put out is told, by the rule about output or by its own.

Every way to read is crossed with every way to put out, as the line of a function that Dynamo
compiles: each of these lines breaks the graph, so that none of them may go unreported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.diagnostics import Confidence
from tclint.lint.engine import check_files
from tclint.lint.registry import load_rules
from tclint.lint.rule import Finding
from tests.dynamo import MEASURED, breaks

HEAD = """\
import logging
import math
import sys
import warnings

import torch
from tqdm import tqdm

logger = logging.getLogger("programs")
bar = tqdm(total=1, disable=True)


class Keeper:
    def __init__(self):
        self.logger = logger
        self.seen = None

    def log(self, *given):
        self.seen = given

    info = debug = warn = write = log_metrics = log


keeper = Keeper()
wandb = Keeper()


"""
OUTPUTS = {
    "print": "print({})",
    "print of several": "print('step', 1, {})",
    "print to a stream": "print({}, file=sys.stderr)",
    "logger": "logger.debug('%s', {})",
    "logging": "logging.debug('%s', {})",
    "logger of an object": "keeper.logger.debug('%s', {})",
    "warning": "warnings.warn(str(({}, 1)))",
    "stream": "sys.stderr.write(str(({}, 1)))",
    "tqdm.write": "tqdm.write(str(({}, 1)))",
    "bar": "bar.set_postfix(loss={})",
}
METHODS = {
    "self.log": "keeper.log('loss', {})",
    "wandb.log": "wandb.log({{'loss': {}}})",
    "keyword": "keeper.log_metrics(dict(loss={}))",
    "info": "keeper.info({})",
    "debug": "keeper.debug(1, {})",
    "warn": "keeper.warn([{}])",
    "write": "keeper.write({})",
}
READS = {
    "item": "x.sum().item()",
    "item of a copy": "x.sum().detach().cpu().item()",
    "float": "float(x.sum())",
    "int": "int(x.sum())",
    "bool": "bool(x.sum())",
    "complex": "complex(x.sum())",
    "tolist": "x.tolist()",
    "math": "math.sqrt(x.sum())",
    "str": "str(x)",
    "percent": "'%s' % x",
    "index": "[1, 2, 3][x.sum().long()]",
    "equal": "torch.equal(x, x)",
    "branch": "(1 if x.sum() > 0 else 2)",
    "not": "(not x.sum())",
    "several": "(x.sum().item(), x.tolist(), float(x.mean()))",
}
PROGRAMS = {
    f"{read} in {sink}": f"{HEAD}def f(x):\n    {call.format(READS[read])}\n    return x + 1\n"
    for read, (sink, call) in product(READS, {**OUTPUTS, **METHODS}.items())
}
LINE = HEAD.count("\n") + 2


def findings(folder: Path, text: str, **chosen: Any) -> Counter[str]:
    """The codes of the findings on the line that puts something out."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, compiled=("*:f",), settings=MEASURED, **chosen)
    results = (result.diagnostic for result in check_files([path], config).results)
    return Counter(found.code for found in results if found.span.start.row == LINE)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_no_read_vanishes_in_what_puts_it_out(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text)


def test_a_read_in_output_is_told_once(tmp_path: Path) -> None:
    for call in OUTPUTS.values():
        text = f"{HEAD}def f(x):\n    {call.format('x.sum().item()')}\n    return x\n"
        assert findings(tmp_path, text).total() == 1


def test_a_rule_that_is_left_out_takes_no_read_with_it(tmp_path: Path) -> None:
    codes = {type(rule).code for rule in load_rules()}
    for sink, call in OUTPUTS.items():
        text = f"{HEAD}def f(x):\n    {call.format('x.sum().item()')}\n    return x\n"
        (told,) = findings(tmp_path, text)
        assert findings(tmp_path, text, ignore=(told,)) == {"TCL101": 1}, sink
        assert findings(tmp_path, text, select=tuple(codes - {told})) == {"TCL101": 1}, sink


def test_a_read_does_not_cede_to_output_that_a_comment_allows(tmp_path: Path) -> None:
    text = f"{HEAD}def f(x):\n    print(x.sum().item())  # tclint: ignore[TCL120]\n    return x\n"
    assert findings(tmp_path, text) == {"TCL101": 1}
    both = text.replace("[TCL120]", "[TCL120, TCL101]")
    assert not findings(tmp_path, both)


def test_a_read_does_not_cede_to_output_in_a_file_that_may_hold_it(tmp_path: Path) -> None:
    text = f"{HEAD}def f(x):\n    print(x.sum().item())\n    return x\n"
    ignores = (("program.py", ("TCL120",)),)
    assert findings(tmp_path, text, per_file_ignores=ignores) == {"TCL101": 1}


def test_a_read_does_not_cede_to_a_finding_that_is_too_unsure_to_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{HEAD}def f(x):\n    print(x.sum().item())\n    return x\n"
    rule = next(one for one in load_rules() if one.code == "TCL120")
    check = rule.check

    def unsure(event: object) -> Finding | None:
        found = check(event)
        return found and replace(found, confidence=Confidence.LOW)

    monkeypatch.setattr(type(rule), "check", staticmethod(unsure))
    assert findings(tmp_path, text, weak=True) == {"TCL120": 1}
    assert findings(tmp_path, text) == {"TCL101": 1}


@pytest.mark.slow
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_dynamo_breaks_where_a_read_is_put_out(text: str) -> None:
    torch = pytest.importorskip("torch")
    assert breaks(text, torch.full((3,), 0.5))
