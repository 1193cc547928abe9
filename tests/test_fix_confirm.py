"""Fixes are kept when the compiled run confirms them, whatever the rules promised."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.confirm.confirm import Plan, confirm
from tclint.diagnostics import Change, Confidence, Diagnostic, Effect
from tclint.fix.apply import fix_files
from tclint.fix.results import FixKey, FixRun, Remedies
from tclint.lint.repair import PlacedRepair, placed
from tclint.lint.rewrite import Repair, Replace
from tclint.report.fixes.outcome import Outcome, Status
from tclint.source.decode import read_source
from tclint.source.errors import FileError
from tclint.source.file import SourceFile
from tclint.torch_facts.dynamo_settings import SETTINGS
from tclint.verify.arms import Options, Side
from tclint.verify.errors import TargetError
from tclint.verify.race import race_eager
from tclint.verify.session import jobs_for
from tclint.verify.speed import Speedup

pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("copied_children")]

HEAD = "import torch\n\n\n"
MAKE = "\n\ndef make():\n    return f, (torch.arange(4.0),), {}\n"
LOW = Confidence.LOW
BREAK = "    print('', end='')\n"


@dataclass(frozen=True)
class Result:
    diagnostic: Diagnostic
    repair: PlacedRepair | None
    file: SourceFile


@dataclass(frozen=True)
class Run:
    results: tuple[Result, ...]
    errors: tuple[FileError, ...] = ()
    files: int = 1


@dataclass(frozen=True)
class Fake:
    """A rule that claims that ``old``, a statement, is a break, and that ``new`` is better."""

    old: str
    new: str
    change: Change = Change.SAME_BITS
    effect: Effect = Effect.GRAPH_BREAK
    confidence: Confidence = Confidence.HIGH

    def results(self, file: SourceFile, tree: ast.Module) -> Iterator[Result]:
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt) and ast.unparse(node) == self.old:
                changes = "" if self.change is Change.SAME_BITS else "things"
                repair = Repair("Do it", (Replace(node, self.new),), self.change, changes)
                diagnostic = Diagnostic(
                    "XYZ100", "fake", "message", self.effect, self.confidence, file.path,
                    file.span(node), fixable=repair.applicability,
                )  # fmt: skip
                yield Result(diagnostic, placed(repair), file)


def _plan(
    path: Path,
    fakes: Sequence[Fake],
    most_runs: int = 40,
    *,
    speed: bool = False,
    vary: tuple[str, ...] = (),
) -> Plan:
    def check(
        paths: Sequence[Path], config: Config, texts: Mapping[Path, str] | None = None
    ) -> Run:
        files = [
            SourceFile.from_text(one, texts[one]) if texts and one in texts else read_source(one)
            for one in paths
        ]
        found = (r for file in files for fake in fakes for r in _results(fake, file))
        return Run(tuple(r for r in found if config.weak or r.diagnostic.confidence is not LOW))

    def fix(allow: Callable[[FixKey], bool], remedies: Remedies) -> FixRun:
        config = Config(path.parent)
        return fix_files([path], config, unsafe=True, remedies=remedies, check=check, allow=allow)

    options = Options(speed=speed, vary=vary)
    jobs = jobs_for([f"{path.name}:make"], Config(path.parent), options)
    return Plan(fix, jobs, path.parent, most_runs, False, Remedies(frozenset(SETTINGS)))


def _results(fake: Fake, file: SourceFile) -> Iterator[Result]:
    yield from fake.results(file, ast.parse(file.text))


def _confirm(
    folder: Path,
    body: str,
    *fakes: Fake,
    most_runs: int = 40,
    speed: bool = False,
    vary: tuple[str, ...] = (),
) -> Outcome:
    path = folder / "program.py"
    text = f"{HEAD}def f(x):\n{body}{MAKE}"
    path.write_text(text)
    outcome = confirm(_plan(path, fakes, most_runs, speed=speed, vary=vary), Status.APPLIED)
    assert path.read_text() == text  # whoever asked writes, not the trials
    return outcome


def _grounds(outcome: Outcome) -> dict[int, tuple[str, str]]:
    """Status and ground by row."""
    return {
        one.fix.diagnostic.span.start.row: (one.status.value, one.reason.ground.value)
        for one in outcome.fixes
        if one.reason is not None
    }


def _kinds(outcome: Outcome) -> list[str]:
    assert outcome.verification is not None
    return [one.kind for one in outcome.verification.worth]


PRINT = Fake("print('', end='')", "pass")


def test_what_eager_code_pays_for_is_dropped_and_the_rest_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(sides: Sequence[Side], options: Options, desk: Path) -> Speedup:
        timed = race_eager(sides, options, desk)
        assert "ms" in timed.note or "scatter" in timed.note
        dear = any("range(400)" in text for text in sides[-1].overlay.values())
        return replace(timed, ratio=9.0 if dear else None)  # no test depends on time

    monkeypatch.setattr("tclint.confirm.bench.race_eager", told)
    body = BREAK + "    y = x + 1\n    y = y * 2\n    return y\n"
    dear = Fake("y = y * 2", "y = sum((y * 0 for _ in range(400)), y * 2)", effect=Effect.HOST_SYNC)
    outcome = _confirm(tmp_path, body, PRINT, dear, speed=True)
    assert _grounds(outcome) == {5: ("applied", "confirmed"), 7: ("dropped", "slower")}
    (slow,) = outcome.dropped
    assert slow.reason is not None
    assert slow.reason.text.startswith("eager code is slower: ")


def test_break_that_is_gone_confirms_the_fix(tmp_path: Path) -> None:
    outcome = _confirm(tmp_path, f"    y = x + 1\n{BREAK}    return y\n", PRINT)
    assert _grounds(outcome) == {6: ("applied", "confirmed")}
    assert outcome.kept[0].reason is not None
    assert outcome.kept[0].reason.text == "GB0059 is gone"
    assert outcome.verification is not None
    (target,) = outcome.verification.targets
    assert (target.breaks_before, target.breaks_after, target.results) == (1, 0, "identical")
    assert outcome.verification.runs == 2
    assert outcome.changed[0].after.count("print") == 0


def test_fix_that_changes_results_is_found_and_dropped(tmp_path: Path) -> None:
    body = f"    y = x + 1\n{BREAK}    y = y * 2\n    return y\n"
    wrong = Fake("y = y * 2", "y = y * 3", effect=Effect.HOST_SYNC)
    outcome = _confirm(tmp_path, body, PRINT, wrong)
    assert _grounds(outcome) == {6: ("applied", "confirmed"), 7: ("dropped", "different")}
    assert outcome.dropped[0].reason is not None
    assert "results differ: call 1" in outcome.dropped[0].reason.text
    assert "y * 2" in outcome.changed[0].after


def test_fix_that_changes_state_is_dropped(tmp_path: Path) -> None:
    body = f"    y = x + 1\n{BREAK}    return y + x\n"
    outcome = _confirm(tmp_path, body, Fake(PRINT.old, "x.add_(1)"))
    assert _grounds(outcome) == {6: ("dropped", "different")}
    assert outcome.changed == ()


def test_what_the_target_never_runs_is_kept_only_if_safe(tmp_path: Path) -> None:
    body = (
        "    if x.dim() > 5:\n        print('a')\n    if x.dim() > 6:\n        print('b')\n"
        "    return x + 1\n"
    )
    unsafe = Fake("print('b')", "pass", Change.BEHAVIOUR)
    outcome = _confirm(tmp_path, body, Fake("print('a')", "pass"), unsafe)
    assert _grounds(outcome) == {6: ("applied", "not-executed"), 8: ("dropped", "not-executed")}
    assert "print('a')" not in outcome.changed[0].after
    assert "print('b')" in outcome.changed[0].after


def test_lines_of_what_only_the_factory_imports_are_executed(tmp_path: Path) -> None:
    factory = "def make():\n    import program\n\n    return program.f, (torch.arange(4.0),), {}\n"
    (tmp_path / "factory.py").write_text(f"{HEAD}{factory}")
    path = tmp_path / "program.py"
    path.write_text(f"{HEAD}def f(x):\n    y = x.sum().item()\n    return x + y\n")
    unsafe = Fake("y = x.sum().item()", "y = x.sum()", Change.BEHAVIOUR)
    jobs = jobs_for(["factory.py:make"], Config(tmp_path), Options(speed=False))
    outcome = confirm(replace(_plan(path, [unsafe]), jobs=jobs), Status.APPLIED)
    assert _grounds(outcome) == {5: ("applied", "confirmed")}


def test_line_that_runs_without_a_break_is_left_alone(tmp_path: Path) -> None:
    outcome = _confirm(tmp_path, "    y = x + 1\n    return y\n", Fake("y = x + 1", "y = 1 + x"))
    assert _grounds(outcome) == {5: ("dropped", "no-break")}


def test_break_that_an_earlier_one_hid_counts(tmp_path: Path) -> None:
    loop = "    for i in range(2):\n        x = x + 1\n        print('a', end='')\n"
    body = f"{loop}    print('b', end='')\n    return x\n"
    fakes = [Fake(f"print('{name}', end='')", "pass") for name in "ab"]
    outcome = _confirm(tmp_path, body, *fakes)
    assert _grounds(outcome) == {7: ("applied", "confirmed"), 8: ("applied", "confirmed")}
    assert outcome.verification is not None
    assert outcome.verification.targets[0].breaks_after == 0


def test_other_effects_are_kept_where_all_stays_equal_within_the_bound(tmp_path: Path) -> None:
    better = Fake("y = x + 1", "y = 1 + x", Change.BEHAVIOUR, Effect.HOST_SYNC)
    worse = Fake("z = x * 2", "z = x * 3", effect=Effect.HOST_SYNC)
    body = "    y = x + 1\n    z = x * 2\n    return y + z\n"
    outcome = _confirm(tmp_path, body, better, worse, most_runs=3)
    assert _grounds(outcome) == {5: ("applied", "equal"), 6: ("dropped", "different")}
    assert outcome.verification is not None
    assert outcome.verification.runs == 3


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    import os\n    os._exit(3)\n", "ended with status 3"),
        ("    import time\n    return x + time.time_ns() % 1000003\n", "make it deterministic"),
    ],
)
def test_target_that_cannot_judge_is_an_error(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        _confirm(tmp_path, body, PRINT)


def test_file_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(f"{HEAD}def f(x):\n{BREAK}    return x + 1\n{MAKE}")
    plan = _plan(path, [PRINT])

    def meddle(allow: Callable[[FixKey], bool], remedies: Remedies) -> FixRun:
        run = plan.fix(allow, remedies)
        path.write_text(path.read_text() + "# hello\n")
        return run

    meddling = Plan(meddle, plan.jobs, plan.root, plan.most_runs, plan.loaded_only)
    with pytest.raises(TargetError, match=r"program\.py has changed"):
        confirm(meddling, Status.APPLIED)


SELECTED = "    y = x[x > 1].sum()\n"
"""What breaks the graph unless Dynamo captures lengths that depend on data."""


def _worth(outcome: Outcome) -> list[tuple[str, int, int, tuple[str, ...]]]:
    assert outcome.verification is not None
    return [
        (one.kind, one.breaks_before, one.breaks_after, one.lines)
        for one in outcome.verification.worth
    ]


def test_the_settings_that_remove_what_fixes_leave_are_told(tmp_path: Path) -> None:
    outcome = _confirm(tmp_path, f"{SELECTED}{BREAK}    return y + 1\n", PRINT)
    lines = tuple(
        f"torch._dynamo.config.{name} = True"
        for name in ("capture_scalar_outputs", "capture_dynamic_output_shape_ops")
    )
    assert _worth(outcome) == [("safe fixes", 2, 1, ()), ("settings", 1, 0, lines)]
    assert _grounds(outcome) == {6: ("applied", "confirmed")}
    assert outcome.verification is not None
    assert outcome.verification.targets[0].breaks_after == 0


def test_settings_with_which_compiling_fails_are_not_kept(tmp_path: Path) -> None:
    body = "    n = x.argmax().item()\n    return [x, x + 1, x + 2, x + 3][n]\n"
    outcome = _confirm(tmp_path, body, PRINT)
    assert outcome.verification is not None
    assert outcome.verification.runs > 1, "they were tried"
    assert _worth(outcome) == []


def test_an_unsafe_fix_is_kept_for_what_safe_ones_leave(tmp_path: Path) -> None:
    unsafe = Fake("y = x.sum().item()", "y = x.sum()", Change.BEHAVIOUR)
    body = f"{BREAK}    y = x.sum().item()\n    return x + y\n"
    outcome = _confirm(tmp_path, body, PRINT, unsafe)
    assert [(kind, before, after) for kind, before, after, _ in _worth(outcome)] == [
        ("safe fixes", 2, 1),
        ("unsafe fixes", 1, 0),
    ]
    assert _grounds(outcome) == {5: ("applied", "confirmed"), 6: ("applied", "confirmed")}


def test_an_unsafe_fix_is_left_out_where_safe_ones_make_it_whole(tmp_path: Path) -> None:
    body = "    n = x.sum().item()\n    y = n if n > 0 else 0.0\n    return x + y\n"
    safe = Fake("n = x.sum().item()", "n = x.sum()")
    choosing = Fake("y = n if n > 0 else 0.0", "y = torch.where(x.sum() > 0, x.sum(), 0.0)")
    unsafe = Fake("return x + y", "return y + x", Change.BEHAVIOUR)
    outcome = _confirm(tmp_path, body, safe, choosing, unsafe)
    assert _grounds(outcome)[7] == ("dropped", "no-break")
    assert _worth(outcome) == []


ONCE = "torch._assert_async(x.sum() == 6, 'this code was compiled for another number')"


def test_a_fix_that_raises_for_the_next_inputs_is_dropped(tmp_path: Path) -> None:
    once = Fake(PRINT.old, ONCE, Change.BEHAVIOUR)
    outcome = _confirm(tmp_path, f"{BREAK}    return x + 1\n", once, vary=("x",))
    assert _grounds(outcome) == {5: ("dropped", "different")}
    [dropped] = outcome.dropped
    assert dropped.reason is not None
    assert dropped.reason.text.startswith("does not hold for other inputs: ")
    assert "this code was compiled for another number" in dropped.reason.text
    assert outcome.changed == ()


@pytest.mark.parametrize("shape", ["x: 7", "x: 2x3"])
def test_a_fix_that_holds_for_inputs_of_another_shape_is_kept(shape: str, tmp_path: Path) -> None:
    outcome = _confirm(tmp_path, f"{BREAK}    return x + 1\n", PRINT, vary=(shape,))
    assert _grounds(outcome) == {5: ("applied", "confirmed")}
    assert [one.fix.follows for one in outcome.kept] == [False]


@pytest.mark.parametrize(
    ("vary", "told"),
    [
        (("y: 3",), "--vary names 'y', and the inputs are x"),
        (("x: three",), "'three' is not a shape such as 3x8"),
        (("x: 3x8",), "the other inputs raise RuntimeError: The size of tensor a"),
    ],
)
def test_other_inputs_are_what_the_target_takes(
    vary: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    with pytest.raises(TargetError, match=told):
        _confirm(tmp_path, f"{BREAK}    return x + torch.ones(4)\n", PRINT, vary=vary)


def test_a_factory_may_give_the_other_inputs(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    inputs = "'inputs': (torch.arange(4.0),), 'vary': [(torch.ones(4),), {'x': torch.zeros(2)}]"
    make = f"\n\ndef make():\n    return {{'model': f, {inputs}}}\n"
    path.write_text(f"{HEAD}def f(x):\n{BREAK}    return x + 1\n{make}")
    for new, kept in ((ONCE, []), ("pass", ["XYZ100"])):
        plan = _plan(path, [Fake(PRINT.old, new, Change.BEHAVIOUR)])
        outcome = confirm(plan, Status.APPLIED)
        assert [one.fix.diagnostic.code for one in outcome.kept] == kept


def test_fix_of_a_break_that_may_not_happen_is_kept_where_it_happens(tmp_path: Path) -> None:
    unsure = Fake("print('', end='')", "pass", confidence=LOW)
    outcome = _confirm(tmp_path, f"    y = x + 1\n{BREAK}    return y\n", unsure)
    assert _grounds(outcome) == {6: ("applied", "confirmed")}
    assert _kinds(outcome) == ["safe fixes of low confidence"]
    assert "print" not in outcome.changed[0].after


def test_nothing_is_said_of_unsure_fixes_where_nothing_breaks(tmp_path: Path) -> None:
    body = f"    y = x + 1\n{BREAK}    z = y * 2\n    return z\n"
    for how in (Change.SAME_BITS, Change.BEHAVIOUR):
        idle = Fake("z = y * 2", "z = y * 2.0", how, confidence=LOW)
        outcome = _confirm(tmp_path, body, PRINT, idle)
        assert _grounds(outcome) == {6: ("applied", "confirmed")}
        assert "z = y * 2\n" in outcome.changed[0].after


def test_unsure_fix_that_the_target_does_not_execute_is_dropped(tmp_path: Path) -> None:
    body = f"{BREAK}    if x.dim() > 5:\n        x = x * 2\n    return x\n"
    outcome = _confirm(tmp_path, body, Fake("x = x * 2", "x = x * 2.0", confidence=LOW))
    assert (outcome.changed, outcome.fixes) == ((), ())


def test_unsure_fix_that_changes_the_results_is_dropped_and_told(tmp_path: Path) -> None:
    wrong = Fake("print('', end='')", "x = x + 1", confidence=LOW)
    outcome = _confirm(tmp_path, f"{BREAK}    return x * 2\n", wrong)
    assert _grounds(outcome) == {5: ("dropped", "different")}
    assert not outcome.changed


def test_unsure_fix_that_is_not_about_a_break_is_left_alone(tmp_path: Path) -> None:
    sync = Fake("y = x + 1", "y = x + 1.0", effect=Effect.HOST_SYNC, confidence=LOW)
    outcome = _confirm(tmp_path, f"    y = x + 1\n{BREAK}    return y\n", PRINT, sync)
    assert _grounds(outcome) == {6: ("applied", "confirmed")}
    assert "x + 1\n" in outcome.changed[0].after


def test_unsure_safe_fix_goes_with_an_unsafe_one(tmp_path: Path) -> None:
    unsure = Fake("print('', end='')", "pass", confidence=LOW)
    sure = Fake("print('!', end='')", "pass", Change.BEHAVIOUR)
    body = f"{BREAK}    y = x + 1\n    print('!', end='')\n    return y\n"
    outcome = _confirm(tmp_path, body, unsure, sure)
    assert _grounds(outcome) == {5: ("applied", "confirmed"), 7: ("applied", "confirmed")}
    assert _kinds(outcome) == ["unsafe fixes"]


def test_what_a_safe_fix_leaves_unsure_does_not_take_its_place(tmp_path: Path) -> None:
    body = f"    y = x + 1\n    if y.dim() > 5:\n        y = y * 2\n{BREAK}    return y\n"
    first = Fake("y = y * 2", "y = y * 2.0")
    left = Fake("y = y * 2.0", "y = y * 3.0", Change.BEHAVIOUR, confidence=LOW)
    outcome = _confirm(tmp_path, body, PRINT, first, left)
    assert _grounds(outcome) == {7: ("applied", "not-executed"), 8: ("applied", "confirmed")}
    assert "y = y * 2.0\n" in outcome.changed[0].after
