"""What a recording comes to: read, joined to findings, priced, told. No torch is needed."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.errors import UserError
from tclint.run.compare import compare, text
from tclint.run.events import Kind
from tclint.run.gpu import activity
from tclint.run.intervals import of_median, of_share
from tclint.run.price import quiet_steps
from tclint.run.proof import Wanted, fixes_for
from tclint.run.report import as_html, as_json, as_markdown, words
from tclint.run.spans import read_spans
from tests.cli_runs import tclint
from tests.run_recordings import BREAK, MS, SCRIPT, Recording


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path)


def test_a_break_is_told_at_its_line_with_the_rule_that_explains_it(recording: Recording) -> None:
    recording.process(recording.break_line(), recording.compiled(), recording.end())
    (line,) = [line for line in recording.answer().joined.lines if line.events]
    assert line.row == 12
    assert line.events[0].kind is Kind.BREAK
    assert line.finding is not None
    assert line.finding.code == "TCL170"
    assert recording.answer().joined.explained == (1, 1)


def test_a_break_that_no_rule_explains_is_kept(recording: Recording) -> None:
    text = BREAK.format(file=recording.script).replace("line 12", "line 13")
    entry = {**recording.break_line(), "text": text}
    recording.process(entry, recording.compiled(), recording.end())
    (row,) = [row for row in recording.told().splitlines() if "train.py:13" in row]
    assert row.startswith("1.  train.py:13  breaks the graph · Dynamic shape")
    assert row.endswith("no rule knows this")


def test_what_no_rule_explains_is_told_once_where_it_is_worth_nothing(recording: Recording) -> None:
    text = BREAK.format(file=recording.script).replace("line 12", "line 13")
    lines = ({**recording.break_line(), "text": text}, recording.compiled(), recording.steps())
    recording.process(*lines, recording.samples({13: 1, 5: 999}), recording.end())
    (row,) = [row for row in recording.told().splitlines() if "train.py:13" in row]
    assert row.startswith("    no rule knows, and it is worth nothing here: train.py:13  breaks")


def test_the_step_is_the_median_of_those_that_no_window_slowed(recording: Recording) -> None:
    steps = recording.steps(10, watched=[[20, 40]])
    steps["ends"] = [end + (n >= 30) * 50 * MS for n, end in enumerate(steps["ends"])]
    recording.process(steps, recording.end())
    first = recording.answer().first
    assert first is not None
    assert first.step.value == 10
    assert first.recorded.steps is not None
    assert len(quiet_steps(first.recorded.steps)) == 60 - 9 - 21


def test_lines_are_ranked_by_the_time_that_the_host_spends_there(recording: Recording) -> None:
    lines = (recording.break_line(), recording.compiled(), recording.steps())
    recording.process(*lines, recording.samples({12: 60, 5: 40}), recording.end())
    dear, other = recording.answer().dear
    assert dear.line.row == 12
    assert other.line.only_works
    assert dear.price.total.value == pytest.approx(6)
    assert dear.price.total.low < 6 < dear.price.total.high
    assert "1.  6 ms  60%  train.py:12  breaks the graph" in recording.told()


def test_what_costs_less_than_could_be_measured_is_worth_nothing_here(recording: Recording) -> None:
    lines = (recording.break_line(), recording.compiled(), recording.steps())
    recording.process(*lines, recording.samples({12: 1, 5: 999}), recording.end())
    (other,) = recording.answer().dear
    assert other.line.only_works
    assert "worth nothing here: 1 line (train.py:12 breaks the graph)" in recording.told()


def test_what_costs_less_than_steps_differ_by_is_not_said_to_be_worth_nothing(
    recording: Recording,
) -> None:
    steps = recording.steps(10)
    steps["ends"] = [end + (n % 2) * 4 * MS for n, end in enumerate(steps["ends"])]
    lines = (recording.break_line(), recording.compiled(), steps)
    recording.process(*lines, recording.samples({12: 60, 5: 940}), recording.end())
    answer = recording.answer()
    told = recording.told()
    price = words.milliseconds(answer.drowned[0])
    assert f"steps vary by anyway: 1 line (train.py:12 breaks the graph {price} ms)" in told
    assert "worth nothing here" not in told
    root = recording.script.parent
    for report in (as_markdown.render(answer, root), as_html.render(answer, root)):
        assert "Less than the steps vary by anyway" in report
        assert f"{price} ms: breaks the graph" in report
        assert "TCL170 setting" in report
        assert "Worth nothing here" not in report
    for report in (told, as_markdown.render(answer, root), as_html.render(answer, root)):
        assert "othing is worth a change" not in report


def test_what_costs_less_than_steps_differ_by_can_still_be_proved(recording: Recording) -> None:
    steps = recording.steps(10)
    steps["ends"] = [end + (n % 2) * 4 * MS for n, end in enumerate(steps["ends"])]
    lines = (recording.break_line(), recording.compiled(), steps)
    recording.process(*lines, recording.samples({12: 60, 5: 940}), recording.end())
    answer = recording.answer()
    assert not [one for one in answer.dear if one.line.finding]
    fixed = fixes_for(answer, Config(recording.script.parent), Wanted(settings=True))
    assert [file.path for file in fixed.changed] == [recording.script]


def test_what_did_not_happen_is_not_proved(recording: Recording) -> None:
    recording.process(recording.steps(), recording.samples({5: 1000}), recording.end())
    with pytest.raises(UserError, match="nothing to prove"):
        fixes_for(recording.answer(), Config(recording.script.parent), Wanted(settings=True))


def test_a_finding_whose_line_takes_time_is_not_said_not_to_have_happened(
    recording: Recording,
) -> None:
    recording.process(recording.steps(), recording.samples({12: 1, 5: 999}), recording.end())
    told = recording.told()
    assert "worth nothing here: 1 line (train.py:12 TCL170)" in told
    assert "did not happen" not in told


def test_what_cuda_graphs_skip_and_what_the_cache_held_is_told(recording: Recording) -> None:
    skip = {"kind": "cudagraph-skip", "at": 1, "reason": "mutated inputs (1 instances)"}
    lines = (recording.compiled(cache="hit"), recording.compiled("1/0", cache="miss"))
    recording.process(*lines, recording.compiled("2/0"), skip, skip, recording.end())
    told = recording.told()
    assert "note: CUDA graphs were skipped: mutated inputs (1 instances) (2 times)\n" in told
    assert "once: cold start 1.5 s, 1 of 2 graphs from Inductor's cache\n" in told
    page = as_html.render(recording.answer(), recording.script.parent)
    assert "compiling, 1 of 2 graphs from" in page
    assert "CUDA graphs were skipped: mutated inputs" in page


def test_a_recompile_is_told_with_its_guard_and_counted_once(recording: Recording) -> None:
    reason = f"0/0: tensor 'x' size mismatch at index 0  # {recording.script}:12 in masked"
    again = recording.compiled("0/1", recompile_reason=reason)
    recording.process(recording.compiled(), again, recording.end())
    (event,) = recording.answer().events
    assert (event.kind, event.row) == (Kind.RECOMPILE, 12)
    assert event.what == "tensor 'x' size mismatch at index 0"
    assert "once: cold start 0.5 s, 1 recompile 0.5 s" in recording.told()


def test_the_backward_of_a_recompile_is_no_cold_start(recording: Recording) -> None:
    reason = "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5"
    again = recording.compiled("0/1", recompile_reason=reason)
    backwards = [recording.compiled(name, backward=True, seconds=2.0) for name in ("0/0", "0/1")]
    recording.process(recording.compiled(), again, *backwards, recording.end())
    assert "once: cold start 2.5 s, 1 recompile 2.5 s" in recording.told()
    page = as_html.render(recording.answer(), recording.script.parent)
    recompiles, cold = page.split("<h2>Recompiles</h2>")[1].split("<h2>Cold start</h2>")
    assert "0/0 masked, its backward" in cold
    assert "0/1" not in cold
    assert "compiled 1 more time, 2.5 s" in recompiles


def test_breaks_of_torchs_own_code_are_counted_apart(recording: Recording) -> None:
    inside = "/env/lib/site-packages/torch/nn/parallel/distributed.py"
    line = recording.break_line()
    frame = f'  File "{inside}", line 1757, in forward\n    log()\n'
    head = line["text"].replace(f"{recording.script}:12", f"{inside}:1757")
    recording.process(recording.compiled(), {**line, "text": head + frame}, recording.end())
    assert "1 function compiled · 1 graph break, 1 of torch's own\n" in recording.told()


def test_the_page_counts_one_break_as_one(recording: Recording) -> None:
    recording.process(recording.break_line(), recording.compiled(), recording.end())
    page = as_html.render(recording.answer(), recording.script.parent)
    assert "<b>1</b><span>graph break</span>" in page
    assert "<span>recompiles</span>" not in page


def test_lines_that_cannot_be_read_are_counted_and_the_rest_is_told(recording: Recording) -> None:
    recording.process(recording.steps(), recording.end())
    file = recording.folder / "process-1-0.jsonl"
    file.write_text(file.read_text() + '{"kind": "loss", "st')
    (recording.folder / "process-9-0.jsonl").write_text("\0\n[1]\n")
    assert "note: 3 lines of the recording could not be read" in recording.told()
    assert "step 10 ms" in recording.told()


def test_a_frame_that_torch_leaves_to_eager_code_is_no_break_besides(recording: Recording) -> None:
    text = f"WON'T CONVERT masked {recording.script} line 11\n"
    entry = {**recording.break_line(), "text": text}
    failed = recording.compiled(fail_type="Unsupported", fail_reason="Dynamic shape operator")
    recording.process(entry, failed, recording.end())
    (event,) = recording.answer().events
    assert (event.kind, event.row) == (Kind.EAGER, 11)


def test_ranks_on_other_machines_are_said_to_be_missing(recording: Recording) -> None:
    for rank in (0, 1):
        recording.process(recording.steps(), recording.end(), pid=rank, rank=rank, world_size=4)
    assert "note: 2 of 4 ranks were recorded: processes on other machines" in recording.told()


def test_each_rank_is_told_and_what_only_some_ran_into_is_named(recording: Recording) -> None:
    recording.process(recording.steps(10), recording.end(), pid=1, rank=0, world_size=2)
    broken = (recording.break_line(), recording.compiled(), recording.steps(12))
    recording.process(*broken, recording.end(), pid=2, rank=1, world_size=2)
    told = recording.told()
    assert "rank 0: step 10 ms" in told
    assert "rank 1: step 12 ms" in told
    apart = "only rank 1: train.py:12 breaks the graph"
    assert apart in told
    answer, root = recording.answer(), recording.script.parent
    page = as_html.render(answer, root)
    assert f"<li>{apart}</li>" in page and "GPU idle" not in page
    assert f"- {apart}" in as_markdown.render(answer, root)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"torch": None}, "no process of the command imported torch"),
        ({}, "nothing was compiled and no step was made"),
    ],
)
def test_what_is_missing_is_told_with_its_reason(
    recording: Recording, given: dict[str, Any], words: str
) -> None:
    recording.process(recording.end(), **given)
    assert words in recording.told()


def test_a_command_without_python_is_told(recording: Recording) -> None:
    assert "no Python process of the command loaded the recorder" in recording.told()


def test_a_process_that_was_killed_is_told_with_what_it_wrote(recording: Recording) -> None:
    recording.process(recording.steps())
    assert "process 1 was killed" in recording.told()
    assert "step 10 ms" in recording.told()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_a_process_that_could_not_write_all_is_told_with_the_reason(
    recording: Recording, number: int
) -> None:
    recording.process(recording.steps(), recording.samples({12: 60}), pid=7)
    (recording.folder / f"lost-7-{number}").touch()
    (recording.folder / "lost-8-x").touch()
    reason = os.strerror(number).lower()
    assert f"process 7 could not write all of its recording: {reason}" in recording.told()
    assert "killed" not in recording.told()


def test_what_could_not_be_recorded_at_all_has_a_reason(recording: Recording) -> None:
    (recording.folder / f"lost-7-{errno.ENOSPC}").touch()
    assert "nothing could be recorded: no space left on device" in recording.told()
    shutil.rmtree(recording.folder)
    assert "the recording is gone" in recording.told()


def test_steps_that_nobody_looked_at_leave_lines_without_prices(recording: Recording) -> None:
    recording.process(
        recording.break_line(), recording.compiled(), recording.steps(), recording.end()
    )
    told = recording.told()
    assert "step 10 ms" in told and "train.py:12" in told
    assert "no line has a price: the recorder samples lines after 10 steps" in told
    assert not re.search(r"\d% |\d ms  |worth nothing", told)
    assert "| 0%" not in as_markdown.render(recording.answer(), recording.script.parent)


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_a_row_fits_the_terminal(
    recording: Recording, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    lines = (recording.break_line(), recording.compiled(), recording.steps())
    recording.process(*lines, recording.samples({12: 60, 5: 40}), recording.end())
    whole = next(line for line in recording.told().splitlines() if line.startswith("1. "))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    row = next(line for line in recording.told().splitlines() if line.startswith("1. "))
    assert len(row) <= columns
    assert len(whole) > 100
    assert row.split()[:4] == whole.split()[:4] and row.split()[-2:] == whole.split()[-2:]


def test_the_page_needs_nothing_else_and_escapes_what_it_shows(recording: Recording) -> None:
    recording.script.write_text(SCRIPT.replace("return x\n", "return x  # <script>\n"))
    lines = (recording.break_line(), recording.compiled(), recording.steps())
    recording.process(*lines, recording.samples({12: 60, 5: 40}), recording.end())
    page = as_html.render(recording.answer(), recording.script.parent)
    assert "train.py:12" in page
    assert "# &lt;script&gt;" in page
    assert "<script" not in page
    assert "src=" not in page


def test_markdown_has_a_row_for_each_line_that_costs_something(recording: Recording) -> None:
    lines = (recording.break_line(), recording.compiled(), recording.steps())
    recording.process(*lines, recording.samples({12: 60, 5: 40}), recording.end())
    told = as_markdown.render(recording.answer(), recording.script.parent)
    assert "| 60% | `train.py:12` | breaks the graph" in told


def report(recording: Recording, name: str, *lines: dict[str, Any]) -> Path:
    recording.process(*lines, recording.end())
    file = recording.script.parent / name
    file.write_text(as_json.render(recording.answer(), recording.script.parent))
    return file


def test_two_reports_tell_what_came_what_went_and_the_step(recording: Recording) -> None:
    broken = (recording.break_line(), recording.compiled())
    before = report(recording, "before.json", *broken, recording.steps(10))
    after = report(recording, "after.json", recording.compiled(), recording.steps(5))
    better, worse = compare(before, after), compare(after, before)
    assert (better.worse, worse.worse, worse.slower) == (False, True, True)
    told = text(better, recording.script.parent)
    assert "step 10 -> 5 ms (2x)" in told
    assert "went: train.py:12  graph-break  Dynamic shape operator" in told
    assert not compare(before, before).worse


def test_a_comparison_is_in_the_format_and_the_file_that_were_asked_for(
    recording: Recording,
) -> None:
    broken = (recording.break_line(), recording.compiled())
    report(recording, "before.json", recording.compiled(), recording.steps(5))
    report(recording, "after.json", *broken, recording.steps(10))
    folder = recording.script.parent
    command = ("run", "--compare", "before.json", "after.json")
    shown = tclint(*command, cwd=folder)
    told = tclint(*command, "--output-format", "json", cwd=folder)
    data = json.loads(told.stdout)
    assert (shown.returncode, told.returncode) == (1, 1)
    assert (data["worse"], data["slower"], data["went"]) == (True, True, [])
    assert data["step_ms"]["before"]["value"] == 5
    (came,) = data["came"]
    assert (came["kind"], came["row"], came["filename"]) == (
        "graph-break", 12, str(recording.script)
    )  # fmt: skip
    markdown = tclint(*command, "--output-format", "markdown", cwd=folder).stdout
    assert markdown == f"```text\n{shown.stdout}```\n"
    written = tclint(*command, "--output-format", "json", "--output-file", "c.json", cwd=folder)
    assert (written.returncode, written.stdout) == (1, "")
    assert (folder / "c.json").read_text() == told.stdout
    for wrong in (("--output-format", "html"), ("--output-file", "before.json")):
        done = tclint(*command, *wrong, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
    assert json.loads((folder / "before.json").read_text())["lines"] is not None


def test_what_is_no_report_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(UserError, match="not a report of `tclint run"):
        compare(tmp_path / "other.json", tmp_path / "other.json")
    with pytest.raises(UserError, match=r"missing\.json: no such file"):
        compare(tmp_path / "missing.json", tmp_path / "other.json")


def span(name: str, start: float, length: float, category: str) -> dict[str, Any]:
    return {"ph": "X", "name": name, "ts": start, "dur": length, "cat": category}


def test_the_gpu_idles_after_a_wait_until_its_next_kernel_starts() -> None:
    found = activity(
        [
            span("cudaLaunchKernel", 0, 10, "cuda_runtime"),
            span("add", 10, 90, "kernel"),
            span("cudaStreamSynchronize", 20, 80, "cuda_runtime"),
            span("cudaLaunchKernel", 140, 10, "cuda_runtime"),
            span("mul", 150, 50, "kernel"),
        ],
        1,
    )
    assert found is not None
    assert [(wait.waited, wait.idle_after) for wait in found.waits] == [(0.08, 0.05)]
    assert [wait.cost for wait in found.waits] == [0.05]
    assert found.launches == 2
    assert found.idle(0.2) == pytest.approx(0.06)


def test_a_wait_costs_no_more_than_it_took_where_the_host_is_what_the_gpu_waits_for() -> None:
    found = activity(
        [
            span("add", 10, 12, "kernel"),
            span("cudaStreamSynchronize", 20, 3, "cuda_runtime"),
            span("mul", 900, 50, "kernel"),
        ],
        1,
    )
    assert found is not None
    assert [wait.cost for wait in found.waits] == [0.003]


def launch(at: float, number: int, length: float, thread: int = 1) -> Iterator[dict[str, Any]]:
    about = {"correlation": number}
    yield {**span("cudaLaunchKernel", at, 1, "cuda_runtime"), "tid": thread, "args": about}
    yield {**span("kernel", at + 1000, length, "kernel"), "args": about}


def op(name: str, at: float, number: int, thread: int = 1) -> dict[str, Any]:
    about = {"Sequence number": number}
    return {**span(name, at, 10, "cpu_op"), "tid": thread, "args": about}


def test_what_a_frame_runs_outside_of_its_graphs_is_what_its_breaks_cost() -> None:
    region, graph, following = (
        {**span(name, at, length, "cpu_op"), "tid": 1}
        for name, at, length in (
            ("Torch-Compiled Region: 1/0", 0, 100),
            ("CompiledFunction", 10, 20),
            ("Torch-Compiled Region: 2/0", 200, 100),
        )
    )
    gradient = "autograd::engine::evaluate_function: IndexBackward0"
    events = [
        region, graph, following,
        *launch(15, 1, 5000),  # in the graph
        *launch(45, 2, 300), op("aten::index", 40, 7),  # outside of it
        op("aten::isnan", 60, 8), op("CompiledFunction", 205, 8),  # the next graph's number
        *launch(415, 3, 40, thread=2), op(gradient, 410, 7, thread=2),
        *launch(435, 4, 7000, thread=2), op(gradient, 430, 8, thread=2),
        *launch(500, 5, 900),  # after all of it
    ]  # fmt: skip
    found = activity(events, 1)
    assert found is not None
    assert [(one.frame, one.times, one.gpu) for one in found.outside] == [
        ("1", 1, pytest.approx(0.34)),
        ("2", 1, 0),
    ]


def test_the_optimizers_marks_count_the_steps_of_a_trace() -> None:
    marks = [span("Optimizer.step#AdamW.step", n, 1, "user_annotation") for n in range(4)]
    found = activity([*marks, *launch(0, 1, 100)], 3)
    assert found is not None
    assert found.steps == 4


def test_work_that_overlaps_on_the_gpu_is_counted_once() -> None:
    kernels = [span("a", 0, 100, "kernel"), span("b", 50, 100, "kernel")]
    found = activity(kernels, 1)
    assert found is not None
    assert found.busy == pytest.approx(0.15)


def test_what_only_collectives_do_is_told_apart(recording: Recording) -> None:
    kernels = [
        span("gemm", 0, 3000, "kernel"),
        span("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1000, 8000, "kernel"),
    ]
    found = activity(kernels, 1)
    assert found is not None
    assert (found.busy, found.collective) == (pytest.approx(9), pytest.approx(6))
    recording.process(recording.steps(), recording.end())
    told = recording.answer().ranks[0]
    alone = replace(told, activity=found)
    assert "GPU idle 10%, in collectives alone 60%" in words.head(alone, recording.answer())
    without = replace(told, activity=activity(kernels[:1], 1))
    assert "collectives" not in words.head(without, recording.answer())


def test_a_trace_without_a_gpu_says_nothing_of_one(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": [span("aten::add", 0, 1, "cpu_op")]}))
    assert activity(read_spans(file.parent, file.name), 3) is None
    file.write_text("[]")
    with pytest.raises(ValueError, match="not a trace"):
        read_spans(file.parent, file.name)


def test_intervals_hold_the_value_and_narrow_with_more_of_it() -> None:
    few, many = of_share(6, 10), of_share(600, 1000)
    assert few.low < many.low < 0.6 < many.high < few.high
    assert of_share(0, 100).low == 0
    assert of_share(0, 100).high > 0
    assert of_median([3.0, 1.0, 2.0]).value == 2
    assert of_median([]).value == 0
