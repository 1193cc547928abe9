"""What an editor's "Fix all" makes of a buffer is what ``tclint fix`` makes of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix import apply
from tclint.fix.apply import fix_files
from tclint.lint.pages import page_of
from tclint.lint.registry import known_rules
from tclint.lint.rule import PRELUDE
from tclint.server.engine import TclintEngine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

IN_TURN = """\
import torch
from torch import get_autocast_cpu_dtype


@torch.compile
def f(x: torch.Tensor):
    y = x * torch.tensor(0.1, dtype=get_autocast_cpu_dtype(), device=x.device)
    return y + torch.tensor(2).to(x.device)
"""
"""The first line is mended by the fixes of two rules, one after the other."""


def in_editor(path: Path, text: str, config: Config) -> str | None:
    """The buffer after "Fix all", None where that is not offered."""
    engine, texts = TclintEngine(), {path: text}
    paths = engine.around(path, [path], config, config.root, texts)
    return engine.fix_all(path, paths, config, texts, "")


def on_the_command_line(path: Path, config: Config) -> str | None:
    run = fix_files(sorted(config.root.glob("*.py")), config)
    return next((file.after for file in run.changed if file.path == path), None)


def test_the_editor_makes_of_all_examples_what_the_command_makes(tmp_path: Path) -> None:
    examples = [example for rule in known_rules() for example in page_of(rule).examples]
    assert len(examples) > 100
    changed = 0
    for number, example in enumerate(examples):
        folder = tmp_path / str(number)
        folder.mkdir()
        path, text = folder / "example.py", PRELUDE + example.code
        path.write_text(text, "utf-8")
        config = Config(folder, compiled=() if "compile(" in example.code else ("*:f",))
        after = in_editor(path, text, config)
        assert after == on_the_command_line(path, config), example.code
        changed += after is not None
    assert changed > 10


@pytest.mark.parametrize("other", ["", "from model import get_autocast_cpu_dtype\n"])
def test_the_editor_goes_on_until_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    passes = []
    real = apply._fix_file

    def fix_file(path: Path, results: Sequence[object], progress: object) -> bool:
        changed = real(path, results, progress)  # type: ignore[arg-type]
        passes.append(changed)
        return changed

    monkeypatch.setattr(apply, "_fix_file", fix_file)
    path, config = tmp_path / "model.py", Config(tmp_path)
    path.write_text(IN_TURN, "utf-8")
    (tmp_path / "other.py").write_text(other, "utf-8")
    after = in_editor(path, IN_TURN, config)
    assert after is not None
    assert sum(passes) > 1
    assert after == on_the_command_line(path, config)
    assert in_editor(path, after, config) is None
    assert ("from torch import get_autocast_cpu_dtype" in after) == bool(other)
