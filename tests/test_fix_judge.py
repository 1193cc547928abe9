"""What speaks for and against a trial of fixes, told from what compiling showed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.confirm.judge import Judge
from tclint.confirm.rows import RowMap, Sources, rows_of
from tclint.fix.apply import fix_files
from tclint.fix.results import FixKey, FixRun
from tclint.lint.rewrite import Import, Insert, Repair, Replace
from tclint.report.fixes.outcome import Ground
from tclint.verify.events import Break, Equality, Recompile
from tclint.verify.results import Arm, Failure, Probe
from tests.test_fix_apply import checker

PATH = Path("/nowhere/m.py")
TEXT = """\
def f(x):
    a = slow(x)
    b = slow(
        a,
    )
    return a + b


def g(x):
    return x
"""
EQUAL = Equality("identical")
PROBE = Probe(
    torch="2.13", device="cpu", itself=False, gate="whole", breaks=(), ops=(1,), recompiles=(),
    eager_frames=(), syncs=None, like_eager=EQUAL, like_before=EQUAL, loaded=(str(PATH),),
)  # fmt: skip


def _break(row: int, gb_id: str = "GB0001", *, drops: bool = False, path: Path = PATH) -> Break:
    return Break(gb_id, (gb_id,), "a reason", "", str(path), row, (), drops_frame=drops)


def _speed_up(node: ast.AST) -> tuple[str, Repair] | None:
    """Replaces `slow` by `fast`, with a line above and an import."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return None
    if not isinstance(node.value.func, ast.Name) or node.value.func.id != "slow":
        return None
    above = Insert(node, "# quick")
    return "XYZ1", Repair("m", (Replace(node.value.func, "fast"), above, Import("speed")))


def _fixed() -> FixRun:
    return fix_files(
        [PATH], Config(PATH.parent), unsafe=True, overlay={PATH: TEXT}, check=checker(_speed_up)
    )


def _judge(before: Sequence[Break]) -> tuple[Judge, FixRun, dict[int, FixKey]]:
    fixed = _fixed()
    sources = Sources({PATH: TEXT})
    keys = {fix.key.span.start.row: fix.key for fix in fixed.fixes}
    findings = {fix.key: rows_of(fix, sources) for fix in fixed.fixes}
    return Judge(replace(PROBE, breaks=tuple(before)), sources, findings), fixed, keys


def _grounds(before: Sequence[Break], after: Sequence[Break]) -> dict[Ground, set[int]]:
    """The rows of the fixes that are blamed, by ground."""
    judge, fixed, _ = _judge(before)
    arm = Arm("after", replace(PROBE, breaks=tuple(after)))
    problems = judge.problems(arm, fixed)
    return {one.reason.ground: {key.span.start.row for key in one.blamed} for one in problems}


def test_rows_lead_back_to_the_unfixed_file() -> None:
    (file,) = _fixed().changed
    rows = RowMap(file)
    lines, old = file.after.splitlines(), TEXT.splitlines()
    for number, line in enumerate(lines, start=1):
        origin = rows.origin(number)
        if old.count(line) == 1:
            assert old.index(line) + 1 in origin.rows
    assert rows.origin(lines.index("    a = fast(x)") + 1).writers
    assert not rows.origin(lines.index("def g(x):") + 1).writers


def test_no_break_is_no_problem() -> None:
    assert _grounds([_break(2), _break(3)], []) == {}


def test_break_that_stays_is_blamed_on_the_fix_at_its_line() -> None:
    fixed = _fixed().changed[0].after.splitlines()
    row = fixed.index("    a = fast(x)") + 1
    assert _grounds([_break(2), _break(3)], [_break(row)]) == {Ground.STILL_BREAKS: {2}}


def test_break_of_another_kind_at_the_line_is_new() -> None:
    row = _fixed().changed[0].after.splitlines().index("    a = fast(x)") + 1
    assert _grounds([_break(2)], [_break(row, "GB0002")]) == {Ground.NEW_BREAK: {2}}


def test_break_elsewhere_that_was_there_before_is_nobodys() -> None:
    row = _fixed().changed[0].after.splitlines().index("    return a + b") + 1
    assert _grounds([_break(6)], [_break(row)]) == {}
    other = Path("/nowhere/other.py")
    assert _grounds([_break(6, path=other)], [_break(6, path=other)]) == {}


def test_new_break_elsewhere_has_no_culprit() -> None:
    row = _fixed().changed[0].after.splitlines().index("    return a + b") + 1
    assert _grounds([_break(2)], [_break(row)]) == {Ground.NEW_BREAK: set()}


def test_break_that_comes_to_light_is_no_new_one() -> None:
    lines = _fixed().changed[0].after.splitlines()
    shown = [_break(lines.index("    return a + b") + 1, "GB0009")]
    assert _grounds([_break(2, drops=True)], shown) == {}
    elsewhere = [_break(lines.index("    return x") + 1, "GB0009")]
    assert _grounds([_break(2, drops=True)], elsewhere) == {Ground.NEW_BREAK: set()}


def test_break_inside_a_statement_of_several_rows_belongs_to_it() -> None:
    judge, _, keys = _judge([_break(4)])
    assert [one.name for one in judge.at(keys[3], judge.breaks)] == ["GB0001"]
    assert judge.at(keys[2], judge.breaks) == []


AGAIN = Recompile("0/1", "tensor 'x'\n size mismatch", str(PATH), 1)


@pytest.mark.parametrize(
    ("after", "ground", "said"),
    [
        (replace(PROBE, recompiles=(AGAIN,)), Ground.RECOMPILES, "tensor 'x' size mismatch"),
        (
            replace(PROBE, like_before=Equality("different", "call 1: 1.0, then ValueError: no")),
            Ground.DIFFERENT,
            "results differ: call 1: 1.0, then ValueError: no",
        ),
        (
            replace(PROBE, like_before=Equality("unknown", "the weights do not fit")),
            Ground.DIFFERENT,
            "cannot be compared: the weights do not fit",
        ),
        (
            replace(PROBE, like_eager=Equality("different", "state.count: 1, then 2")),
            Ground.DIFFERENT,
            "compiled results differ from eager ones: state.count",
        ),
        (None, Ground.FAILS, "timeout: took longer"),
    ],
)
def test_everything_but_breaks_has_to_stay(after: Probe | None, ground: Ground, said: str) -> None:
    judge, fixed, _ = _judge([])
    failure = None if after else Failure("timeout", "took longer than 5 s")
    (problem,) = judge.problems(Arm("after", after, failure=failure), fixed)
    assert problem.reason.ground is ground
    assert said in problem.reason.text
    assert problem.blamed == frozenset()


def test_what_was_wrong_before_is_no_ones_fault() -> None:
    wrong = Equality("different", "compiled by a compiler with a bug")
    before = replace(PROBE, like_eager=wrong, recompiles=(AGAIN,))
    judge = Judge(before, Sources({PATH: TEXT}), {})
    assert judge.problems(Arm("after", before), FixRun((), _fixed().remaining)) == []
