"""What people read: ``full``, ``concise``, the summary, statistics and colours."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tclint import __version__
from tclint.diagnostics import (
    Applicability,
    ChainLink,
    Change,
    Confidence,
    Decline,
    Edit,
    Effect,
    Remedy,
)
from tclint.lint.repair import PlacedRepair
from tclint.printable import visible
from tclint.report import statistics
from tclint.report.colour import Paint, wants_colour, wants_links
from tclint.report.diff import coloured
from tclint.report.excerpt import excerpt
from tclint.report.formats import OutputFormat, render
from tclint.report.origin import origin
from tclint.report.painted import painted_diff
from tclint.report.settings import settings_lines
from tclint.report.summary import summary
from tclint.report.view import View, chain_text
from tclint.source.errors import FileError
from tclint.source.file import SourceFile
from tests.report_samples import WHY, item, run_of, span, unfixed, view_of, with_changes

ROOT = Path("/project")


def text(*results: object, **view: object) -> str:
    return render(OutputFormat.FULL, run_of(*results), view_of(ROOT, **view))  # type: ignore[arg-type]


def test_text_shows_place_source_effect_way_fix_and_page() -> None:
    assert (
        text(item(ROOT))
        == f"""\
model.py:7:17: TCL101 [*] `.item()` breaks the graph
  |
5 |     def forward(self, x):
6 |         if x.sum() > 0:
7 |             y = x.mean().item()
  |                 ^^^^^^^^^^^^^^^
8 |         return helper(x) * y
  |
  = effect: graph break (GB0124)
  = reached: Net.forward → mean (ops.py:12)
  = instead: Keep the tensor (`tclint fix`)
  = why: {WHY}
  = page: `tclint rule TCL101`, https://example.org/TCL101

"""
    )


def test_text_says_what_an_unsafe_fix_may_change_and_that_it_is_not_sure() -> None:
    result = item(
        ROOT,
        fixable=Applicability.UNSAFE,
        repair=PlacedRepair("Keep it", Change.BEHAVIOUR, "gradients flow"),
        confidence=Confidence.MEDIUM,
        url=None,
        chain=(),
    )
    shown = text(result)
    assert shown.startswith("model.py:7:17: TCL101 `.item()`")
    assert shown.endswith(
        f"""\
  = effect: graph break (GB0124), medium confidence
  = instead: Keep the tensor (`tclint fix --unsafe-fixes`: behaviour: gradients flow)
  = why: {WHY}
  = page: `tclint rule TCL101`

"""
    )


def test_text_says_what_to_do_and_why_no_fix_does_it() -> None:
    result = unfixed(ROOT, instead="Return `y`", declined=Decline("`y` is used"))
    assert "  = instead: Return `y` (no fix: `y` is used)\n" in text(result)
    advice = unfixed(ROOT, instead="Return `y`", declined=Decline("return `y`"))
    assert "  = instead: Return `y`\n" in text(advice)


def test_text_says_once_why_the_findings_of_a_rule_matter() -> None:
    other = unfixed(ROOT, code="TCL102")
    labels = [
        line.partition(" = ")[2].partition(":")[0]
        for line in text(item(ROOT), item(ROOT), other).splitlines()
    ]
    below = [label for label in labels if label in ("instead", "why", "page")]
    assert below == ["instead", "why", "page", "instead", "instead", "why", "page"]


def test_settings_are_said_once_for_all_findings_that_they_remove() -> None:
    place = ChainLink("<module>", str(ROOT / "train.py"), 5)
    first = Remedy("Turn on `a`", "it leaks", ("a = True",), (place,))
    two = Remedy("Turn on `a` and `b`", "it creaks", ("a = True", "b = True"), (place,))
    elsewhere = Remedy("Turn on `a`", "it leaks", ("a = True",))
    found = [unfixed(ROOT, remedies=(each,)) for each in (elsewhere, first, two)]
    assert "a = True" not in text(*found)
    both, one = settings_lines(run_of(*found), view_of(ROOT))
    assert both == (
        "`a = True` and `b = True` before train.py:5 remove 2 findings"
        " (`tclint fix --remedies settings`); it leaks; it creaks."
    )
    assert one == "`a = True` before you call what you compile removes 1 finding; it leaks."


def test_concise_is_one_line_a_finding() -> None:
    run = run_of(item(ROOT), unfixed(ROOT))
    assert render(OutputFormat.CONCISE, run, view_of(ROOT)) == (
        "model.py:7:17: TCL101 [*] `.item()` breaks the graph\n"
        "model.py:7:17: TCL101 `.item()` breaks the graph\n"
    )


def test_links_go_to_the_rules_page_and_are_only_for_terminals() -> None:
    shown = render(OutputFormat.CONCISE, run_of(unfixed(ROOT)), view_of(ROOT, links=True))
    link = "\x1b]8;;https://example.org/TCL101\x1b\\TCL101\x1b]8;;\x1b\\"
    assert shown == f"model.py:7:17: {link} `.item()` breaks the graph\n"
    without = run_of(unfixed(ROOT, url=None))
    assert "\x1b" not in render(OutputFormat.CONCISE, without, view_of(ROOT, links=True))


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        pytest.param({}, False, id="a pipe"),
        pytest.param({"FORCE_HYPERLINK": "1"}, True, id="forced"),
        pytest.param({"FORCE_HYPERLINK": "0"}, False, id="forced off"),
    ],
)
def test_whether_to_link(environment: dict[str, str], wanted: bool) -> None:
    assert wants_links(io.StringIO(), environment) is wanted


def test_source_is_cut_to_the_width_of_the_terminal() -> None:
    source = "y = " + " + ".join(["x"] * 100)
    result = unfixed(ROOT, source=source, span=span(1, 201, 1, 202), chain=(), url=None)
    shown = render(OutputFormat.FULL, run_of(result), view_of(ROOT, width=60)).splitlines()
    assert max(map(len, shown[1:5])) <= 60
    assert shown[2][shown[3].index("^")] == "x"


def test_a_diff_is_painted_for_a_page() -> None:
    text = "import torch\n\n\n@torch.compile\ndef f(x):\n    print('<é', x)\n    return x\n"
    file = SourceFile.from_text(ROOT / "m.py", text)
    [edit] = [Edit(span(6, 5, 6, 19), "if not quiet:\n        print('<é', x)")]
    shown = painted_diff(file, [edit])
    assert '<span class="removed"><i>-</i>' in shown
    assert "&lt;é" in shown


def test_the_origin_of_a_report_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert origin(tmp_path) == f"tclint {__version__} · 1970-01-01 00:00 UTC"


def test_paths_outside_the_current_folder_stay_absolute() -> None:
    run = run_of(unfixed(Path("/projects")))
    assert render(OutputFormat.CONCISE, run, view_of(ROOT)).startswith("/projects/model.py:7")


def test_colours_wrap_the_same_text() -> None:
    shown = render(OutputFormat.CONCISE, run_of(unfixed(ROOT)), view_of(ROOT, colour=True))
    assert shown == (
        "\x1b[1mmodel.py\x1b[0m\x1b[36m:\x1b[0m7\x1b[36m:\x1b[0m17\x1b[36m:\x1b[0m"
        " \x1b[31;1mTCL101\x1b[0m `.item()` breaks the graph\n"
    )


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        pytest.param({}, False, id="a pipe"),
        pytest.param({"FORCE_COLOR": "1"}, True, id="a pipe, forced"),
        pytest.param({"FORCE_COLOR": "0"}, False, id="forced off"),
        pytest.param({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="forbidden wins"),
    ],
)
def test_whether_to_colour(environment: dict[str, str], coloured: bool) -> None:
    assert wants_colour(io.StringIO(), environment) is coloured


def lines(source: str, *place: int) -> list[str]:
    file = SourceFile.from_text(Path("a.py"), source)
    return list(excerpt(file, span(*place), Paint(enabled=False)).lines)


def test_carets_stand_below_tabs_and_wide_characters() -> None:
    assert lines("\t名 = f(x)\n", 1, 6, 1, 10) == [
        "  |",
        "1 |     名 = f(x)",
        "  |          ^^^^",
        "  |",
    ]


def test_of_a_span_of_several_lines_the_first_is_marked() -> None:
    assert lines("f(\n  x\n)\n", 1, 1, 3, 2) == [
        "  |",
        "1 | f(",
        "  | ^^",
        "2 |   x",
        "3 | )",
        "  |",
    ]


def test_a_place_behind_the_end_of_the_line_still_gets_a_caret() -> None:
    assert lines("x = (", 1, 6, 1, 6)[2] == "  |      ^"


def test_a_place_behind_the_end_of_the_file_shows_no_source() -> None:
    assert lines("", 1, 1, 1, 1) == []


def test_names_and_messages_cannot_move_the_cursor() -> None:
    odd = item(ROOT / "a\x1b[2Jb", message="`\x1b]0;t\x07` breaks", fix_message="Drop `\r`")
    for kind in (OutputFormat.FULL, OutputFormat.CONCISE):
        report = render(kind, run_of(odd), view_of(ROOT))
        assert report.replace("\n", "").isprintable()
        assert "a␛[2Jb/model.py" in report


def test_of_a_very_long_line_the_part_around_the_span_is_shown() -> None:
    source = "x = [" + "1, " * 500 + "y.item()]\n"
    column = source.index("y.item") + 1
    _, shown, carets, _ = lines(source, 1, column, 1, column + 8)
    assert len(shown) < 180
    start = carets.index("^")
    assert shown[start : start + 8] == "y.item()"
    assert carets.strip(" |") == "^" * 8


def test_control_characters_cannot_reach_the_terminal() -> None:
    assert visible("a\x1b[31mb\x9b\t") == "a␛[31mb\N{REPLACEMENT CHARACTER}    "


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        pytest.param([], "All checks passed!", id="none"),
        pytest.param(
            [{}], "Found 1 finding (1 graph break). [*] 1 fixable with `tclint fix`.", id="one"
        ),
        pytest.param(
            [{}, {"fixable": Applicability.UNSAFE}, {"fixable": None, "effect": Effect.HOST_SYNC}],
            "Found 3 findings (2 graph breaks)."
            " [*] 1 fixable with `tclint fix`, 1 more with `--unsafe-fixes`.",
            id="all kinds",
        ),
        pytest.param(
            [{"fixable": Applicability.UNSAFE, "effect": Effect.RECOMPILE}],
            "Found 1 finding. 1 fixable with `tclint fix --unsafe-fixes`.",
            id="unsafe only",
        ),
        pytest.param(
            [{"fixable": Applicability.DISPLAY, "effect": Effect.RECOMPILE}] * 2,
            "Found 2 findings.",
            id="suggestions are not counted as fixes",
        ),
    ],
)
def test_summary(findings: list[dict[str, object]], line: str) -> None:
    results = [with_changes(item(ROOT), **changes) for changes in findings]
    assert summary(run_of(*results)) == line


def test_the_summary_tells_what_is_not_shown() -> None:
    assert summary(replace(run_of(), hidden=2), known=1) == (
        "All checks passed! 1 known finding in the baseline. 2 weak findings not shown (`--weak`)."
    )


def test_a_run_with_unreadable_files_has_not_passed() -> None:
    errors = [FileError(ROOT / "a.py", "cannot read"), FileError(ROOT / "b.py", "cannot read")]
    assert summary(run_of(errors=errors)) == "No findings, but 2 files could not be checked."


def test_statistics_count_rules_the_most_frequent_first() -> None:
    other = unfixed(ROOT, code="TCL9", name="other")
    run = run_of(other, item(ROOT), item(ROOT))
    assert statistics.as_text(run) == (
        "2  TCL101  [*]  item-in-compiled-region\n1  TCL9    [ ]  other\n"
    )
    assert statistics.rows(run)[0] == {
        "code": "TCL101",
        "name": "item-in-compiled-region",
        "count": 2,
        "fixable": 2,
    }


def test_diffs_are_coloured_by_line() -> None:
    assert _coloured("--- a/m.py\n-x\r\n+y\n z\n") == (
        "\x1b[1m--- a/m.py\x1b[0m\n\x1b[31m-x\x1b[0m\n\x1b[32m+y\x1b[0m\n z\n"
    )


def test_diffs_for_people_show_what_stands_in_the_lines() -> None:
    assert _coloured(" x = '\x1b[31m\u202e'\n") == " x = '␛[31m\ufffd'\n"


def _coloured(diff: str) -> str:
    return coloured(diff, Paint(enabled=True))


def test_what_runs_at_the_top_of_the_file_is_no_step_of_the_way() -> None:
    here = str(ROOT / "model.py")
    top, main = ChainLink("<module>", here, 1), ChainLink("main", here, 3)
    elsewhere = ChainLink("<module>", str(ROOT / "train.py"), 9)

    def way(*chain: ChainLink) -> str:
        return chain_text(unfixed(ROOT, chain=chain).diagnostic, View(ROOT))

    assert (way(top), way(top, main)) == ("", "main")
    assert way(elsewhere, main) == "<module> (train.py:9) → main"
    assert "reached" not in text(unfixed(ROOT, chain=(top,)))


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_a_terminal_gets_prose_in_its_columns_and_a_pipe_gets_lines(columns: int) -> None:
    repair = PlacedRepair("Keep the tensor", Change.BEHAVIOUR, changes=" ".join(["and so on"] * 30))
    message = " ".join(["it breaks the graph"] * 12)
    found = item(ROOT, repair=repair, fixable=Applicability.UNSAFE, message=message)
    plain = text(found).splitlines()
    lines = text(found, fold=columns).splitlines()
    assert max(map(len, plain)) > 250
    assert max(map(len, lines)) <= columns
    assert lines[0].startswith("model.py:7:17: TCL101 it breaks")
    assert lines[1].startswith("    ") and lines[1][4] != " "
    coloured = text(found, fold=columns, colour=True, links=True)
    assert [*map(_bare, coloured.splitlines())] == lines
    first = next(n for n, line in enumerate(lines) if "= instead: " in line)
    beside = lines[first].index("Keep")
    assert lines[first + 1][:beside].isspace() and lines[first + 1][beside] != " "
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(plain).split())


def _bare(line: str) -> str:
    """A line without colours and links."""
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\", "", line)


def test_a_path_with_blanks_is_never_broken() -> None:
    found = unfixed(ROOT / ("a b " * 20), message="it breaks the graph")
    assert text(found, fold=40).splitlines()[0] == text(found).splitlines()[0]
