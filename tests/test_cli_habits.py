"""What people type who come from other linters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from tclint.cli import verifying
from tclint.cli.app import COMMANDS, GROUPS
from tclint.config import Config
from tclint.config_verify import VerifyTarget
from tclint.lint.registry import load_rules
from tclint.verify.arms import Options
from tclint.verify.session import jobs_for
from tests.cli_runs import BREAKS, tclint


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(BREAKS)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["check", "--fix", "net.py"], "`tclint fix` applies fixes"),
        (["check", "--unsafe-fixes"], "`tclint fix --unsafe-fixes` applies them"),
        (["check", "--format", "json"], "`--output-format` names the format"),
        (["check", "-v"], "`--show-files` and `--show-settings` show more"),
        (["check", "--add-noqa"], "`--add-ignore` adds a comment to each finding"),
        (["fix", "--show-declined"], "each finding says what to do instead"),
        (["check", "--changed"], "`--diff-only HEAD` reports only findings on uncommitted lines"),
        (["check", "--diff"], "`tclint fix --diff` prints what the fixes would change"),
        (["fix", "--extend-select", "TCL1"], "enables a rule in addition"),
        (["fix", "--preset", "library"], "`--leave-out tests,benchmarks` leaves such findings out"),
        (["check", "--output-format=rdjson"], "(reviewdog reads `sarif`)"),
        (["fleet", "bisect", "FLEET.toml"], "`git bisect run tclint verify TARGET` finds"),
        (["review", "serve", "--app-id", "1"], "a CI job of each repository runs `tclint review`"),
        (["review", "--run-report", "run.json"], "`tclint run --output-format markdown` says"),
        (["review", "--verify-report", "v.json"], "`tclint verify --output-format github`"),
        (["review", "--mode", "check-run"], "(`annotations` shows them on the check of the job"),
        (["new-rule", "ABC101", "a-name"], "copy the rule of docs/rule-pack"),
        (["verify", "m:f", "--trace", "logs"], "`TORCH_TRACE=DIR tclint verify ...` keeps"),
        (["verify", "m:f", "--output-format=junit"], "(`json` says everything; the pytest plugin"),
        (["server", "--tcp", "host:1"], "talk to its standard streams"),
        (["fix", "--statistics"], "names the rule and status of each fix"),
        (["verify", "m:f", "--output-format=html"], "(`json` says everything; only"),
        (["check", "--output-format=html"], "(`json` says everything; only `tclint run` makes"),
        (["check", "--min-worth", "hint"], "`--weak` also reports weak findings"),
        (["check", "--config", "min-confidence = 'low'"], "it was removed: `weak = true` also"),
        (
            ["check", "--config", "side-effects = 'remove'"],
            "it was removed: fixes put output",
        ),
        (["."], "Write `tclint check .`."),
        (["net.py", "-q"], "Write `tclint check net.py -q`."),
        (["explain", "TCL101"], "Write `tclint rule CODE`."),
        (["version"], "Write `tclint --version`."),
        (["chekc"], "Did you mean 'check'?"),
    ],
)
def test_what_other_linters_call_otherwise_is_pointed_to(
    project: Path, typed: list[str], told: str
) -> None:
    done = tclint(*typed, cwd=project)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())


def test_a_rule_may_be_selected_by_its_name(project: Path) -> None:
    named = tclint(
        "check", "--select", "item-in-compiled-region", "--output-format=json", cwd=project
    )
    assert [each["code"] for each in json.loads(named.stdout)] == ["TCL101"]
    assert tclint("check", "--ignore", "item-in-compiled-region", cwd=project).returncode == 0


def test_a_configuration_may_name_rules(project: Path) -> None:
    table = {"ignore": '["item-in-compiled-region"]', "per-file-ignores": '{"*.py" = ["TCL101"]}'}
    for key, value in table.items():
        (project / "tclint.toml").write_text(f"{key} = {value}\n")
        assert tclint("check", cwd=project).returncode == 0
    (project / "tclint.toml").write_text('ignore = ["item-in-region"]\n')
    assert "no rule has the code 'item-in-region'" in tclint("check", cwd=project).stderr


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("TLC101", "did you mean 'TCL101'?"),
        ("tcl101", "did you mean 'TCL101'?"),
        ("TCL999", "`tclint rule` lists all"),
    ],
)
def test_a_hint_is_a_code_with_the_same_number(project: Path, code: str, hint: str) -> None:
    assert hint in tclint("check", "--select", code, cwd=project).stderr


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("TLC101", "did you mean TCL101?"),
        ("TCL999", "`tclint rule` lists all"),
        ("TCL60", "did you mean TCL606 or TCL607?"),
        ("item-in-compiled-regions", "did you mean TCL101"),
    ],
)
def test_a_page_that_is_not_there_leads_to_one_with_the_same_number(
    project: Path, given: str, hint: str
) -> None:
    assert hint in tclint("rule", given, cwd=project).stderr


def test_a_release_without_torch_compile_is_refused(project: Path) -> None:
    done = tclint("check", "--target-torch", "1.13", cwd=project)
    assert done.returncode == 2
    assert "torch 1.13 has no torch.compile; it came with 2.0" in done.stderr


def test_a_release_that_nobody_knows_yet_is_told(project: Path) -> None:
    done = tclint("check", "--target-torch", "9.9", cwd=project)
    assert done.returncode == 1
    assert "9.9 is treated as" in done.stderr


def test_a_reason_that_stands_apart_writes_nothing(project: Path) -> None:
    done = tclint("check", "net.py", "--add-ignore", "TODO", cwd=project)
    assert done.returncode == 2
    assert "`--add-ignore=reason`" in done.stderr
    assert (project / "net.py").read_text() == BREAKS


def test_verify_without_torch_names_the_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verifying, "find_spec", lambda name: None)
    with pytest.raises(typer.Exit) as ended:
        verifying.require_torch()
    assert ended.value.exit_code == 2
    assert "install `tclint-torch[verify]` there" in capsys.readouterr().err


def test_inputs_on_the_command_line_win_over_configured_ones(tmp_path: Path) -> None:
    target = VerifyTarget("net", "net.py:Net", inputs=("float32[2]",))
    config = Config(tmp_path, verify_targets=(target,))
    (configured,) = jobs_for(["net"], config, Options())
    (named,) = jobs_for(["net"], config, Options(inputs=("int64[3]<5",)))
    assert (configured.options.inputs, named.options.inputs) == (("float32[2]",), ("int64[3]<5",))


def test_a_rule_is_formatted_for_a_terminal_and_plain_in_a_pipe(project: Path) -> None:
    plain = tclint("rule", "TCL101", cwd=project).stdout
    shown = tclint("rule", "TCL101", cwd=project, FORCE_COLOR="1", NO_COLOR="").stdout
    assert plain.startswith("# item-in-compiled-region (TCL101)\n")
    assert "\x1b[" not in plain
    assert "## What it does" not in shown
    assert "\x1b[" in shown


def test_help_lists_each_command_under_one_heading() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


def test_help_lists_options_under_headings(project: Path) -> None:
    text = tclint("fix", "--help", cwd=project).stdout
    headings = ["Which findings:", "Which fixes:", "Proof of fixes:", "What is printed:"]
    assert all(heading in text for heading in headings)
    for command in COMMANDS:
        assert "range>" not in tclint(command, "--help", cwd=project).stdout


CODES = sorted(rule.code for rule in load_rules())


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tclint rule TCL14", [code for code in CODES if code.startswith("TCL14")]),
        ("tclint check --select TCL101,print-", ["TCL101,print-in-compiled-region"]),
    ],
)
def test_a_shell_completes_codes_and_names_of_rules(
    project: Path, typed: str, offered: list[str]
) -> None:
    asked = {
        "_TCLINT_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    assert tclint(cwd=project, **asked).stdout.split() == offered


def test_the_colour_of_a_code_tells_what_the_finding_costs(project: Path) -> None:
    (project / "net.py").write_text(
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    print(x)\n"
        "    return x + torch.tensor([1.0, 2.0]).cuda()\n"
    )
    colours = {"FORCE_COLOR": "1", "NO_COLOR": ""}
    shown = tclint("check", "--output-format=concise", cwd=project, **colours).stdout
    assert "\x1b[31;1mTCL120\x1b[0m" in shown
    assert "\x1b[33;1mTCL31" in shown
