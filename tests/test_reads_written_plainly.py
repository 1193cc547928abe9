"""What takes the place of a number that was read has no call that it does not need."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs are run and compiled")

import torch

from tclint.config import Config
from tclint.fix.apply import fix_files

from .dynamo import breaks, loaded

PLAIN = "def f(x: torch.Tensor):\n    n = {source}.item()\n    return x * n\n"
UNDER = (
    "def f(x: torch.Tensor):\n    with torch.no_grad():\n        n = {source}.item()\n"
    "    return x * n\n"
)
DECORATED = "@torch.no_grad()\n" + PLAIN
AGAIN = (
    "@torch.no_grad()\ndef f(x: torch.Tensor):\n    with torch.enable_grad():\n"
    "        n = {source}.item()\n    return x * n\n"
)
READS = (
    # A reduction of all elements has no dimensions, and whole numbers have no gradient.
    (PLAIN, "x.sum()", ".detach()"),
    (PLAIN, "torch.max(x)", ".detach()"),
    (PLAIN, "x.std(unbiased=False)", ".detach()"),
    (PLAIN, "x.sum(dtype=torch.float64)", ".detach()"),
    (PLAIN, "(x > 1).sum()", ""),
    (PLAIN, "(x > 1).sum(dtype=torch.int32)", ""),
    (PLAIN, "torch.sum(x > 1, dtype=torch.int64)", ""),
    (PLAIN, "x.argmax()", ""),
    (PLAIN, "torch.count_nonzero(x)", ""),
    (PLAIN, "x.long().max()", ""),
    # What may have dimensions is reshaped.
    (PLAIN, "x.amax(keepdim=True)[:1, :1]", ".detach().reshape(())"),
    (PLAIN, "x.std(dim=0)[:1]", ".detach().reshape(())"),
    # Nothing is recorded, but for what is switched on again, or may have been there before.
    (UNDER, "x.sum()", ""),
    (UNDER, "x.mean(dim=(0, 1))", ".reshape(())"),
    (DECORATED, "x.max()", ""),
    (DECORATED, "x[0, 0]", ".detach().reshape(()).clone()"),
    (AGAIN, "x.max()", ".detach()"),
)


@pytest.mark.parametrize(("program", "source", "written"), READS)
def test_a_read_is_written_with_what_it_needs(
    program: str, source: str, written: str, tmp_path: Path
) -> None:
    path, text = tmp_path / "program.py", "import torch\n\n\n" + program.format(source=source)
    path.write_text(text, encoding="utf-8")
    (file,) = fix_files([path], Config(tmp_path, compiled=("*:f",)), unsafe=True).changed
    assert f" n = {source}{written}\n" in file.after
    x = torch.arange(1.0, 10.0).reshape(3, 3).requires_grad_()
    if source.endswith("[:1]") or "keepdim" in source:
        x = x.detach()[:, :1].requires_grad_()
    before, after = (loaded(code)(x) for code in (text, file.after))
    torch.testing.assert_close(after, before)
    assert after.requires_grad == before.requires_grad
    assert not breaks(file.after, x)
