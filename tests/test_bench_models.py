"""The benchmark against real models: what it counts, and that it counts it once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.catalogues import CATALOGUES, MODELS, Model
from benchmarks.catalogues.shrink import shrink
from benchmarks.models import runner
from benchmarks.models.__main__ import main
from benchmarks.models.join import Joined, join
from benchmarks.models.lines import executed_lines
from benchmarks.models.record import BreakSite, DroppedFrame, Measured, failed
from benchmarks.models.report import page, source_of, summary
from benchmarks.models.static import Predicted, function_rows, predicted_breaks, statement_rows
from benchmarks.models.totals import total
from benchmarks.models.upgrade import differences, unseen

CODE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if (
            x.sum() > 0
        ):
            x = x + 1
        return x * x.max().item()
"""
FILE = "pkg/net.py"
BRANCH = BreakSite(FILE, 8, ("GB0170",), "Data-dependent branching")
READ = BreakSite(FILE, 11, ("GB0124",), "Unsupported Tensor.item() call")
COMPREHENSION = BreakSite(FILE, 10, ("GB4347",), "Missing tp_iternext")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / FILE).write_text(CODE)
    return tmp_path


def measured(
    *breaks: BreakSite,
    mode: str = "eval",
    ran: tuple[int, ...] = (7, 8, 10, 11),
    dropped: tuple[DroppedFrame, ...] = (),
    model: str = "net",
    cls: str = "Net",
) -> Measured:
    return Measured(model, cls, mode, "pkg", "", {"pkg": "1"}, 0.1, 1, breaks, dropped, {FILE: ran})


def finding(row: int, code: str = "TCL101", confidence: str = "high") -> Predicted:
    return Predicted(FILE, row, range(row, row + 1), code, confidence, "reads", ("GB0124",))


def outcomes(joined: Joined) -> dict[int, str]:
    return {verdict.finding.row: verdict.outcome for verdict in joined.verdicts}


def test_a_statement_is_its_header_and_a_function_all_of_it(package: Path) -> None:
    assert statement_rows(package / FILE, 8) == range(7, 10)
    assert statement_rows(package / FILE, 11) == range(11, 12)
    assert function_rows(package / FILE, 10) == range(6, 12)


def test_findings_are_joined_to_breaks_by_the_lines_of_their_statement(package: Path) -> None:
    predicted = predicted_breaks(package, {FILE})
    joined = join("tiny", [measured(BRANCH, READ)], predicted, package)
    assert [(line.row, bool(line.by)) for line in joined.lines] == [(8, True), (11, True)]
    assert set(outcomes(joined).values()) == {"confirmed"}
    assert not joined.whole


def test_a_break_without_a_finding_is_missed_and_the_reverse_a_false_alarm(package: Path) -> None:
    joined = join("tiny", [measured(READ)], [finding(10)], package)
    figures = total([joined])
    assert [seen.line.row for seen in figures.missed] == [11]
    assert str(figures.recall) == "0/1 (0.0%)"
    assert outcomes(joined) == {10: "false-alarm"}


def test_a_break_in_either_mode_confirms(package: Path) -> None:
    modes = [measured(), measured(READ, mode="train")]
    assert outcomes(join("tiny", modes, [finding(11)], package)) == {11: "confirmed"}


def test_a_finding_at_a_line_that_did_not_run_is_not_judged(package: Path) -> None:
    assert outcomes(join("tiny", [measured(ran=(7, 8))], [finding(11)], package)) == {}


def test_a_finding_in_a_dropped_frame_is_not_judged_by_it(package: Path) -> None:
    dropped = (DroppedFrame(FILE, 6, "forward"),)
    modes = [measured(), measured(BRANCH, mode="train", dropped=dropped)]
    joined = join("tiny", modes, [finding(11)], package)
    assert outcomes(joined) == {11: "behind"}
    assert str(total([joined]).precision) == "0/0"


def test_a_comprehension_that_breaks_after_an_earlier_break_does_not_count(package: Path) -> None:
    joined = join("tiny", [measured(READ, COMPREHENSION)], [finding(11)], package)
    assert str(total([joined]).recall) == "1/1 (100.0%)"


def test_the_same_line_in_two_models_counts_once(package: Path) -> None:
    models = [
        join("tiny", [measured(READ, model=name)], [finding(11)], package) for name in ("a", "b")
    ]
    figures = total(models)
    assert str(figures.recall) == str(figures.precision) == "1/1 (100.0%)"
    assert figures.lines[0].models == ("a", "b")


def test_low_confidence_is_counted_apart(package: Path) -> None:
    figures = total([join("tiny", [measured()], [finding(11, confidence="low")], package)])
    assert str(figures.precision) == "0/0"
    assert len(figures.judged("false-alarm", low=True)) == 1
    assert not figures.loud


def test_a_whole_model_with_a_sure_finding_is_named(package: Path) -> None:
    joined = join("tiny", [measured()], [finding(11)], package)
    figures = total([joined])
    assert [one.model for one, _ in figures.loud] == ["net"]
    text = page([joined], figures, {"torch": "2"}, source_of(package))
    assert "- net: TCL101 at `pkg/net.py:11`" in text
    assert "`return x * x.max().item()`" in text
    assert "silence     0/1" in summary([joined], figures)


def test_models_that_did_not_run_are_told(package: Path) -> None:
    joined = join("tiny", [failed("net", "Net", "eval", "ValueError: a | b")], [], package)
    text = page([joined], total([joined]), {}, source_of(package))
    assert "- net, eval: ValueError: a \\| b" in text


def test_a_configuration_is_shrunk_with_those_inside_it() -> None:
    inner: Any = SimpleNamespace(hidden_size=768, num_heads=12, to_dict=dict)
    config = SimpleNamespace(
        vocab_size=30000, d_model=512, num_hidden_layers=12, layer_types=["a"] * 11 + ["b"],
        dropout=0.1, use_cache=True, sep_token_id=29999, pad_token_id=0, vision_config=inner,
        max_length=20,
    )  # fmt: skip
    shrink(config, {"max_length": 7, "vision_config": {"num_heads": 2}})
    assert (config.vocab_size, config.d_model, config.num_hidden_layers) == (128, 32, 2)
    assert config.layer_types == ["a", "b"]
    assert (config.dropout, config.use_cache, config.pad_token_id) == (0.1, True, 0)
    assert config.sep_token_id < 128
    assert (inner.hidden_size, inner.num_heads, config.max_length) == (32, 2, 7)


def test_executed_lines_are_those_of_the_files_that_count(package: Path) -> None:
    file = package / "pkg" / "double.py"
    file.write_text("def double(x):\n    if x:\n        return 2 * x\n    return 0\n")
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    (ran,) = executed_lines(lambda: names["double"](1), str(file).__eq__).values()
    assert set(ran.rows) >= {2, 3}
    assert 4 not in ran.rows


def test_a_finding_behind_an_operand_that_decides_is_not_judged(package: Path) -> None:
    file = package / FILE
    file.write_text(
        "def choose(a, b):\n    if (\n        a\n        and b > 0\n    ):\n        return 1\n"
    )
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    (ran,) = executed_lines(lambda: names["choose"](0, 1), str(file).__eq__).values()
    assert (4, 12, 4, 17) in ran.unreached
    one = replace(measured(), unreached={FILE: ran.unreached})
    found = replace(finding(8), place=(4, 12, 4, 17))
    assert outcomes(join("tiny", [measured()], [found], package)) == {8: "false-alarm"}
    assert not outcomes(join("tiny", [one], [found], package))


def test_what_was_refused_before_is_a_consequence_where_it_comes_again(package: Path) -> None:
    made = BreakSite(FILE, 8, ("GB0374",), "Sparse tensor creation not supported")
    again = BreakSite(FILE, 11, ("GB0015",), "Attempted to wrap sparse Tensor")
    for sites, told in (((made, again), [False, True]), ((again,), [False])):
        joined = join("tiny", [measured(*sites)], [], package)
        assert [line.consequence for line in joined.lines] == told


def test_records_survive_the_file_and_failures_are_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resume = tmp_path / "records.jsonl"
    first, second = MODELS[:2]
    good = measured(READ, model=first.name, cls=first.cls)
    bad = failed(second.name, second.cls, "eval", "crashed")
    resume.write_text("".join(json.dumps(one.to_json()) + "\n" for one in (good, bad)))
    asked: list[tuple[Model, str]] = []

    def run(jobs: list[tuple[Model, str]], workers: int, limit: float) -> list[Measured]:
        asked.extend(jobs)
        return [measured(model=model.name, cls=model.cls) for model, _ in jobs]

    monkeypatch.setattr(runner, "_run", run)
    records = runner.measure_all([(first, "eval"), (second, "eval")], 1, 1.0, resume)
    assert asked == [(second, "eval")]
    assert records == [good, measured(model=second.name, cls=second.cls)]
    assert len(resume.read_text().splitlines()) == 3


def test_types_that_are_not_in_the_catalogue_are_refused() -> None:
    with pytest.raises(SystemExit, match="unknown model types: no-such"):
        main(["--types", "bert,no-such"])


def test_the_catalogue_names_each_model_once_and_covers_the_families() -> None:
    for models in CATALOGUES.values():
        names = [model.name for model in models]
        assert len(names) == len(set(names)) >= 40
    wanted = {
        "encoder", "decoder", "encoder-decoder", "mixture of experts", "vision", "audio",
        "multimodal",
    }  # fmt: skip
    assert wanted <= {model.family for model in MODELS}


@pytest.mark.slow
def test_a_model_is_measured_checked_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    report, data = tmp_path / "report.md", tmp_path / "data.json"
    options = ["--types", "longformer", "--mode", "eval", "--jobs", "1"]
    assert main([*options, "--markdown", str(report), "--json", str(data)]) == 0
    (joined,) = json.loads(data.read_text())
    assert joined["lines"]
    assert all(line["by"] for line in joined["lines"])
    assert "longformer (`LongformerForMaskedLM`)" in report.read_text()


def test_a_line_differs_that_breaks_with_one_release_and_not_as_a_consequence(
    package: Path,
) -> None:
    predicted = {((f"{package}/{FILE}", 8), "solved"): "TCL160"}
    old = [measured(BRANCH, replace(COMPREHENSION, gb_ids=("GB0156",)))]
    [found] = differences(old, [measured(COMPREHENSION)], predicted)
    assert (found.line, found.kind, found.by) == ((FILE, 8), "solved", ("TCL160",))
    assert not differences([measured()], [measured(COMPREHENSION)], predicted)


def test_what_was_predicted_and_does_not_differ_is_told_where_it_ran(package: Path) -> None:
    predicted = {((f"{package}/{FILE}", row), "solved"): "TCL101" for row in (8, 11)}
    runs = [measured(BRANCH, READ)], [measured(READ)]
    assert unseen(*runs, predicted) == [((FILE, 11), "solved", "TCL101")]
    assert unseen([measured(ran=(10,))], [measured(ran=(10,))], predicted) == []
