"""Looking again after a fix finds what looking at everything would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix import recheck
from tclint.fix.recheck import Recheck
from tclint.lint import shards as cuts
from tclint.lint.engine import IN_PROCESS, Run, check_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tclint.lint.execution import Program
    from tclint.lint.shards import Shard

HELPER = "import torch\n\n\ndef read(x):\n    return x.float() * {}\n"
MODEL = """\
import torch

from {package} import read


class Model(torch.nn.Module):
    def forward(self, x):
        y = x * x.float().sum().item()
        return read(y)
"""


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """More files than fit into one shard; each model calls a helper of its folder."""
    for name, value in (("WHOLE", 20), ("SMALLEST", 5), ("LARGEST", 20), ("ONE_IN", 1)):
        monkeypatch.setattr(cuts, name, value)
    found = []
    for folder in range(4):
        package = tmp_path / f"package_{folder}"
        package.mkdir()
        (package / "__init__.py").write_text(HELPER.format("2"))
        found.append(package / "__init__.py")
        for number in range(10):
            path = package / f"model_{number}.py"
            path.write_text(MODEL.format(package=package.name))
            found.append(path)
    assert len(cuts.shards(found)) > 1
    return found


def test_the_same_findings_as_from_scratch(paths: list[Path], tmp_path: Path) -> None:
    config, again = Config(root=tmp_path), Recheck()
    texts: dict[Path, str] = {}
    for changed in ([], [paths[0]], [paths[1], paths[-1]]):
        for path in changed:
            texts[path] = HELPER.format("x.sum().item()")
        assert _told(again(paths, config, texts)) == _told(check_files(paths, config, texts))


def test_only_what_rests_on_a_changed_file_is_examined(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = recheck.examined

    def examined(program: Program, parts: Sequence[Shard], execution: object) -> object:
        asked.append(len(parts))
        return real(program, parts, IN_PROCESS)

    monkeypatch.setattr(recheck, "examined", examined)
    config, again = Config(root=tmp_path), Recheck()
    again(paths, config, {})
    again(paths, config, {})
    again(paths, config, {paths[1]: MODEL.format(package="package_0")})
    assert asked == [len(cuts.shards(paths)), 1]


def _told(run: Run) -> list[object]:
    return [(result.diagnostic, result.repair is None) for result in run.results]
