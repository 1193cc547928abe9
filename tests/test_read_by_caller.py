"""A read in an inner module is done by its caller: fewer graphs, the same results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.confirm.confirm import Plan, confirm
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files
from tclint.report.fixes.outcome import Status
from tclint.verify.arms import Options
from tclint.verify.session import jobs_for

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tclint.fix.results import FixKey, FixRun, Remedies

CODE = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(
        self,
        hidden,
        mask=None,
        scale=1.0,
    ):
        masked = mask > 0
        # any of them
        any_masked = masked.flatten().any().item()
        hidden = self.linear(hidden) * scale
        return hidden.masked_fill(masked, 0.0) if any_masked else hidden


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, mask):
        negative = -mask
        y = self.encoder(
            x,
            mask=negative,
        )
        return y + 1
"""
FIXED = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(
        self,
        hidden,
        mask=None,
        scale=1.0,
        any_masked=None,
    ):
        masked = mask > 0
        # any of them
        if any_masked is None:
            any_masked = masked.flatten().any().item()
        hidden = self.linear(hidden) * scale
        return hidden.masked_fill(masked, 0.0) if any_masked else hidden


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, mask):
        negative = -mask
        any_masked = (negative > 0).flatten().any().item()
        y = self.encoder(
            x,
            mask=negative,
            any_masked=any_masked,
        )
        return y + 1
"""


def test_the_caller_reads(tmp_path: Path) -> None:
    assert _fixed(tmp_path, CODE) == FIXED
    assert _fixed(tmp_path, FIXED) == FIXED


@pytest.mark.parametrize("sign", [1, -1])
def test_fewer_graphs_and_the_same_results(sign: int, tmp_path: Path) -> None:
    (before, graphs), (after, fewer) = (_run(code, sign) for code in (CODE, FIXED))
    assert fewer < graphs
    assert torch.equal(before, after)


def test_who_calls_the_inner_module_alone_need_not_know() -> None:
    names: dict[str, Any] = {}
    exec(FIXED, names)
    encoder, x = names["Encoder"](), torch.ones(2, 3)
    assert torch.equal(encoder(x, x), torch.zeros(2, 3))


def test_a_safe_fix_leaves_the_signature_of_a_module(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(CODE, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL101",))
    assert not fix_files([path], config).changed
    (found,) = check_files([path], config).results
    assert found.repair is not None
    assert "has to take it too" in found.repair.changes


CALL = """\
y = self.encoder(
            x,
            mask=negative,
        )
"""
FORWARD = "    def forward(\n        self,\n        hidden,"
MADE = "self.encoder = Encoder()"
MASKED = "masked = mask > 0"
NEGATIVE = "negative = -mask"
MODEL = "class Model"
SWAP = """\
    def swap(self):
        self.encoder = nn.Identity()

    def forward(self, x, mask):
"""
IN_A_LOOP = """\
y = x
        for _ in range(2):
            y = self.encoder(y, mask=negative)
"""
IN_A_TRY = """\
try:
            y = self.encoder(x, mask=negative)
        except ValueError:
            y = x
"""
CALLED = f"""\
    def __call__(self, hidden, mask=None):
        return super().__call__(hidden, mask)

{FORWARD}"""
SMALLER = """\
class Small(Encoder):
    def forward(self, hidden, mask):
        return hidden


class Model"""
# What is put in the place of what in the program, and why it then stays as it is.
LEFT_ALONE = {
    "another module is put there": ("    def forward(self, x, mask):\n", SWAP),
    "its name stands in a string": (NEGATIVE, "negative, _ = -mask, getattr(self, 'encoder')"),
    "it is deleted": (NEGATIVE, f"{NEGATIVE}\n        del self.encoder"),
    "it is compiled apart": (MADE, "self.encoder = torch.compile(Encoder())"),
    "it is wrapped": (MADE, "self.encoder = nn.Sequential(Encoder())"),
    "it is one of two": (MADE, "self.encoder = Encoder() if True else None"),
    "the call takes one argument": ("            x,\n            mask=", "            "),
    "the call is in a loop": (CALL, IN_A_LOOP),
    "the call is in a try": (CALL, IN_A_TRY),
    "the call computes its arguments": ("mask=negative", "mask=negative.add_(1)"),
    "the call is part of a formula": (CALL, "y = 1 + self.encoder(x, mask=negative)\n"),
    "the mask is a default": ("            mask=negative,\n", "            scale=2.0,\n"),
    "the caller has the name": (NEGATIVE, f"any_masked = {NEGATIVE}"),
    "the caller means something else by torch": (NEGATIVE, f"torch = {NEGATIVE}"),
    "the mask is changed before": (MASKED, "masked = mask.add_(1) > 0"),
    "the mask is another one by then": (MASKED, f"mask = hidden\n        {MASKED}"),
    "something is drawn before": (MASKED, "masked = mask > torch.rand(())"),
    "something is asked before": (
        MASKED, f"if mask is None:\n            return hidden\n        {MASKED}",
    ),
    "it rests on the module": (MASKED, "masked = self.linear(mask) > 0"),
    "the name is bound again": ("* scale", "* scale\n        any_masked = bool(scale)"),
    "forward takes any keywords": ("scale=1.0,\n", "scale=1.0,\n        **rest,\n"),
    "forward is decorated": (FORWARD, f"    @torch.autocast('cpu')\n{FORWARD}"),
    "forward is patched": (MODEL, f"Encoder.forward = Encoder.forward\n\n\n{MODEL}"),
    "a call goes another way": (FORWARD, CALLED),
    "a class derives from it": (MODEL, SMALLER),
    "its base may go another way": ("class Encoder(nn.Module)", "class Encoder(Base)"),
    "it is scripted": (MODEL, f"scripted = torch.jit.script(Encoder())\n\n\n{MODEL}"),
    "it is no call of the module": ("self.encoder(", "self.encoder.forward("),
}  # fmt: skip


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_left_alone_where_the_call_may_not_reach_it(why: str, tmp_path: Path) -> None:
    old, new = LEFT_ALONE[why]
    assert CODE.count(old) == 1
    code = CODE.replace("import nn\n", "import nn\n\nfrom base import Base\n")
    assert "any_masked=None" in _fixed(tmp_path, code)
    assert "any_masked=None" not in _fixed(tmp_path, code.replace(old, new))


def test_two_calls_read_for_themselves(tmp_path: Path) -> None:
    twice = CODE.replace("        return y + 1\n", "        return self.encoder(y, mask)\n")
    fixed = _fixed(tmp_path, twice)
    assert fixed.count("any_masked=any_masked") == 2
    for sign in (1, -1):
        assert torch.equal(_run(twice, sign)[0], _run(fixed, sign)[0])


def test_what_is_moved_is_still_told(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(FIXED, encoding="utf-8")
    (found,) = check_files([path], Config(root=tmp_path, select=("TCL101",))).results
    assert FIXED.splitlines()[found.diagnostic.span.start.row - 1].startswith(
        "        any_masked = "
    )
    assert found.diagnostic.fixable is None


@pytest.mark.slow
@pytest.mark.usefixtures("copied_children")
def test_a_run_keeps_it_where_it_leaves_fewer_graphs(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    make = "\n\ndef make():\n    return Model(), (torch.ones(2, 3), torch.ones(2, 3)), {}\n"
    path.write_text(CODE + make, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL101",))

    def fix(allow: Callable[[FixKey], bool], remedies: Remedies) -> FixRun:
        return fix_files([path], config, unsafe=True, remedies=remedies, allow=allow)

    jobs = jobs_for(["model.py:make"], config, Options(speed=False))
    outcome = confirm(Plan(fix, jobs, tmp_path, 40, loaded_only=False), Status.APPLIED)
    (told,) = outcome.fixes
    assert told.reason is not None
    assert (told.status, told.reason.text) == (Status.APPLIED, "GB0124 splits fewer frames")
    assert outcome.changed[0].after == FIXED + make
    assert outcome.verification is not None
    (worth,) = outcome.verification.worth
    assert worth.graphs_after < worth.graphs_before


def _fixed(folder: Path, code: str) -> str:
    path = folder / "model.py"
    path.write_text(code, encoding="utf-8")
    run = fix_files([path], Config(root=folder, select=("TCL101",)), unsafe=True)
    return run.changed[0].after if run.changed else code


def _run(code: str, sign: int) -> tuple[torch.Tensor, int]:
    graphs: list[object] = []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    names: dict[str, Any] = {}
    exec(code, names)
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = torch.compile(names["Model"](), backend=backend)
    return model(torch.ones(2, 3), sign * torch.ones(2, 3)).detach(), len(graphs)
