"""What lines of a review cost, by the report of a recorded run; and reports that tell nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tclint.diagnostics import Effect
from tclint.lint.engine import check_files
from tclint.report.repairs import fix_of
from tclint.review.compose import compose
from tclint.review.findings import Outcome, change_of, review_range
from tclint.review.git import Git
from tclint.review.plan import Review
from tclint.review.priced import missing, priced, read_run, run_paragraph
from tclint.review.reports import ReportError
from tclint.review.text import to_text
from tclint.run.report import as_json
from tests.cli_runs import tclint
from tests.report_samples import with_changes
from tests.review_repository import Repository, new_repository
from tests.run_recordings import SCRIPT, Recording

GPU = "NVIDIA H100 80GB HBM3"
PRINTS = SCRIPT.replace("    x[mask] += 1\n", '    x[mask] += 1\n    print("here")\n')
"""A line that breaks the graph, and one that costs nothing in the run."""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = new_repository(tmp_path / "repo")
    repository.commit({"train.py": SCRIPT.replace("    x[mask] += 1\n", "")})
    repository.git("checkout", "--quiet", "-b", "change")
    repository.commit({"train.py": PRINTS, ".gitignore": "recording*\nrun.json\n"})
    return repository


@pytest.fixture
def recording(repository: Repository) -> Recording:
    recording = Recording(repository.folder)
    recording.script.write_text(PRINTS)
    return recording


def recorded(recording: Recording, *, device: str | None = GPU, steps: bool = True) -> Path:
    """The JSON of a run in which line 12 broke the graph and took most of the time."""
    looked = (recording.steps(), recording.samples({12: 60, 5: 40})) if steps else ()
    lines = (recording.break_line(), recording.compiled(), *looked)
    recording.process(*lines, recording.end(), device=device)
    file = recording.script.parent / "run.json"
    file.write_text(as_json.render(recording.answer(), recording.script.parent), "utf-8")
    return file


def outcome_of(repository: Repository) -> Outcome:
    git = Git(repository.folder)
    return review_range(git, change_of(git, "main", "HEAD"), check_files)


def review_of(repository: Repository, report: Path) -> Review:
    run = read_run(report)
    outcome = priced(outcome_of(repository), run)
    return compose(outcome, fix_of, extra=(run_paragraph(outcome, run),))


def changed(report: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    data = json.loads(report.read_text("utf-8"))
    change(data)
    report.write_text(json.dumps(data), "utf-8")
    return report


def test_a_comment_says_what_its_line_costs_and_the_dearest_comes_first(
    repository: Repository, recording: Recording
) -> None:
    review = review_of(repository, recorded(recording))
    dear, cheap = review.comments
    assert (dear.line, cheap.line) == (12, 13)
    assert "\n\nCosts 6 ms a step (60%) in the recorded run.\n\n" in dear.text
    assert "\n\nWorth nothing in the recorded run.\n\n" in cheap.text
    assert "Costs 6 ms a step (60%) in the recorded run" in review.notes[0].message.splitlines()


def test_the_summary_says_which_run_it_is(repository: Repository, recording: Recording) -> None:
    commit = repository.git("rev-parse", "--short=10", "HEAD")
    assert (
        f"Prices are of the recorded run `run.json`: a step of 10 ms, torch `2.13.0`, `{GPU}`,"
        f" commit `{commit}`. 1 line with a finding costs 6 ms of it (60%)."
    ) in review_of(repository, recorded(recording)).summary


def test_findings_without_a_price_stand_between_the_dear_and_the_worthless(
    repository: Repository, recording: Recording
) -> None:
    repository.commit({"a.py": PRINTS.replace("for _", "def g():\n  for _")})
    review = review_of(repository, recorded(recording))
    found = [(comment.path, comment.line) for comment in review.comments]
    assert found == [("train.py", 12), ("a.py", 12), ("a.py", 13), ("train.py", 13)]
    assert "recorded run" not in "".join(c.text for c in review.comments if c.path == "a.py")


def test_what_has_no_comment_of_its_own_has_its_price_in_the_summary(
    repository: Repository, recording: Recording
) -> None:
    run = read_run(recorded(recording))
    told = compose(priced(outcome_of(repository), run), fix_of, most=0).summary
    dear, cheap = (line for line in told.splitlines() if line.startswith("- `train.py:"))
    assert dear.endswith(" (costs 6 ms a step (60%) in the recorded run)")
    assert cheap.endswith(" (worth nothing in the recorded run)")


def test_what_drowns_in_the_spread_of_the_steps_is_not_called_worth_nothing(
    repository: Repository, recording: Recording
) -> None:
    def drown(data: dict[str, Any]) -> None:
        for line in data["lines"]:
            line["rank"] = None

    review = review_of(repository, changed(recorded(recording), drown))
    dear, cheap = review.comments
    assert "\n\nCosts less than the steps of the recorded run vary by.\n\n" in dear.text
    assert "\n\nWorth nothing in the recorded run.\n\n" in cheap.text


@pytest.mark.parametrize(("device", "worth"), [(None, None), (GPU, False)])
def test_without_a_gpu_nothing_is_said_of_waits_for_one(
    repository: Repository, recording: Recording, device: str | None, worth: bool | None
) -> None:
    run = read_run(recorded(recording, device=device))
    _, cheap = outcome_of(repository).introduced
    waiting = replace(cheap, result=with_changes(cheap.result, effect=Effect.HOST_SYNC))
    cost = run.cost(waiting)
    assert (None if cost is None else cost.worth) is worth


def test_another_commit_has_prices_where_its_files_are_the_same(
    repository: Repository, recording: Recording
) -> None:
    report = recorded(recording)
    repository.commit({"other.py": "x = 1\n"})
    assert "Costs 6 ms" in review_of(repository, report).comments[0].text
    windows = PRINTS.replace("\n", "\r\n")
    repository.commit({"train.py": windows})
    assert "Costs 6 ms" in review_of(repository, report).comments[0].text


def test_a_file_that_is_not_as_in_the_run_has_no_prices(
    repository: Repository, recording: Recording
) -> None:
    report = recorded(recording)
    commit = repository.git("rev-parse", "--short=10", "HEAD")
    repository.commit({"train.py": "# one line more\n" + PRINTS})
    review = review_of(repository, report)
    assert f"`train.py` is not as in the run at commit `{commit}`: no price there" in review.summary
    assert "recorded run" not in "".join(comment.text for comment in review.comments)


def test_a_run_of_other_files_says_so(repository: Repository, recording: Recording) -> None:
    report = recorded(recording)
    repository.git("mv", "train.py", "moved.py")
    repository.commit({})
    assert "No file with a finding was recorded in the run." in (
        review_of(repository, report).summary
    )


def test_a_run_without_steps_says_so(repository: Repository, recording: Recording) -> None:
    review = review_of(repository, recorded(recording, steps=False))
    assert "no step, " in review.summary
    assert "The run made too few steps: no line has a price." in review.summary
    assert "recorded run" not in "".join(comment.text for comment in review.comments)


def test_nothing_is_missing_where_nothing_is_found(
    repository: Repository, recording: Recording
) -> None:
    run = read_run(recorded(recording))
    repository.git("checkout", "--quiet", "main")
    assert [*missing(outcome_of(repository), run)] == []


def replaced(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda data: data.update(fields)


BROKEN: tuple[tuple[Callable[[dict[str, Any]], object], str], ...] = (
    (lambda data: data.pop("schema"), "written by an older tclint: record the run again"),
    (replaced(schema=1), "written by an older tclint"),
    (replaced(schema=3), "written by another tclint"),
    (replaced(schema="x"), "written by another tclint"),
    (replaced(ranks={}), "not a report of tclint run: no `ranks`"),
    (replaced(ranks=[1]), "not a report of tclint run"),
    (replaced(lines=[{}]), "not a report of tclint run"),
    (replaced(lines=3), "not a report of tclint run"),
    (replaced(texts=[]), "not a report of tclint run"),
    (lambda data: data["lines"][0].update(row=1e400), "not JSON: Infinity is no number"),
    (lambda data: data["lines"][0]["ms"].update(value=-1), "not a report of tclint run"),
    (lambda data: data["lines"][0]["ms"].update(value=float("nan")), "not JSON: NaN is no"),
    (lambda data: data["ranks"][0]["step_ms"].update(value=1e99), "not a report of tclint run"),
)


@pytest.mark.parametrize(("change", "said"), BROKEN)
def test_what_is_no_report_of_a_run_is_one_clear_error(
    recording: Recording, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    report = changed(recorded(recording), change)
    with pytest.raises(ReportError) as told:
        read_run(report)
    assert str(told.value).startswith(f"{report}: {said}")


def test_a_statement_of_several_rows_has_the_price_of_the_row_that_happened(
    repository: Repository, recording: Recording
) -> None:
    several = PRINTS.replace("    x[mask] += 1\n", "    x[\n        mask\n    ] += 1\n")
    repository.commit({"train.py": several})
    recording.script.write_text(several)
    report = changed(recorded(recording), lambda data: data["lines"][0].update(row=13))
    costs = [one.cost for one in priced(outcome_of(repository), read_run(report)).introduced]
    assert [cost.worth for cost in costs if cost is not None][:1] == [True]


def test_what_the_report_says_is_text_like_any_other(
    repository: Repository, recording: Recording
) -> None:
    def hostile(data: dict[str, Any]) -> None:
        data["ranks"][0]["process"].update(device="`@all` <b>\x1b[31m", torch=["*x*"] * 999)
        data["commit"] = "](http://x.org)"

    review = review_of(repository, changed(recorded(recording), hostile))
    text = to_text(review)
    assert "\x1b" not in text
    assert "``@all` <b>" not in text.replace("`` `@all` <b>", "")
    assert max(map(len, text.splitlines())) < 1500


@pytest.fixture
def arguments(repository: Repository) -> Iterator[list[str]]:
    yield ["review", "--dry-run", "--base", "main", "--repo", str(repository.folder)]


def test_the_command_says_it_and_ends_as_ever(
    arguments: list[str], recording: Recording, tmp_path: Path
) -> None:
    done = tclint(*arguments, "--run-report", str(recorded(recording)), cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Costs 6 ms a step (60%) in the recorded run." in done.stdout


def test_the_command_warns_of_what_has_no_price_and_goes_on(
    arguments: list[str], repository: Repository, recording: Recording, tmp_path: Path
) -> None:
    report = recorded(recording)
    repository.commit({"train.py": "# one line more\n" + PRINTS})
    done = tclint(*arguments, "--run-report", str(report), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("warning: run.json: `train.py` is not as in the run at commit ")


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"targets": []}', "[" * 9999, '{"ranks": []}'])
def test_the_command_stops_at_a_broken_report(
    arguments: list[str], tmp_path: Path, text: str
) -> None:
    report = tmp_path / "run.json"
    report.write_text(text, "utf-8")
    done = tclint(*arguments, "--run-report", str(report), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: {report}: ")
