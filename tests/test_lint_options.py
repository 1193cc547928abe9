"""Options of single rules, from the configuration to the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.cli.explaining import explain_rules
from tclint.config import Config, ConfigError, effective, load_config, with_overrides
from tclint.lint.engine import check_files
from tclint.lint.options import check_options
from tclint.lint.registry import known_rules, rule_by_code
from tests.semantics_probe import put

MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return x + torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(8)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


model = torch.compile(Net())
"""


def config(folder: Path, text: str) -> Config:
    (folder / "tclint.toml").write_text(text, encoding="utf-8")
    return load_config(folder)


def codes(folder: Path, settings: Config) -> list[str]:
    paths = put(folder, {"model.py": MODEL})
    return [result.diagnostic.code for result in check_files(paths, settings).results]


def test_an_option_changes_what_its_rule_reports(tmp_path: Path) -> None:
    assert "TCL410" not in codes(tmp_path, Config(tmp_path))
    settings = config(tmp_path, "[rules.TCL410]\nminimum-blocks = 8\n")
    assert "TCL410" in codes(tmp_path, settings)


def test_the_nearest_value_counts_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text("[rules.TCL410]\nminimum-blocks = 8\n", encoding="utf-8")
    settings = config(tmp_path, 'extend = "base.toml"\n')
    assert settings.settings.option("TCL410", "minimum-blocks", 16) == 8
    settings = with_overrides(settings, rules={"TCL410": {"minimum-blocks": 9}})
    assert settings.settings.option("TCL410", "minimum-blocks", 16) == 9
    assert effective(settings)["rules"] == {"TCL410": {"minimum-blocks": 9}}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"TCL9999": {"x": 1}}, "no rule has the code 'TCL9999'"),
        ({"TCL410": {"minimum-block": 1}}, "did you mean 'minimum-blocks'"),
        ({"TCL101": {"x": 1}}, "TCL101 has no option 'x' (it has none)"),
        ({"TCL410": {"minimum-blocks": "8"}}, "minimum-blocks: expected int, got '8'"),
        ({"TCL410": {"minimum-blocks": True}}, "expected int, got True"),
        ({"TCL410": 8}, "expected a table of options, got the number 8"),
        ({"TCL410": {"minimum-blocks": {}}}, "not a value of an option"),
    ],
)
def test_what_no_rule_understands_is_refused(
    tmp_path: Path, rules: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_options(with_overrides(Config(tmp_path), rules=rules), known_rules())
    assert message in str(caught.value)


def test_a_rule_s_page_tells_its_options() -> None:
    page = explain_rules([rule_by_code("TCL410")], as_json=False, single=True)
    assert "- Option `minimum-blocks` (int, `16` if not set): How many" in page
