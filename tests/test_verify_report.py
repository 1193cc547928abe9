"""From measured arms to conclusions, joins, text and JSON: no child process here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.diagnostics import Confidence, Diagnostic, Effect, Position, Span
from tclint.verify.budgets import recompile_count
from tclint.verify.complaints import complaints
from tclint.verify.events import Break, Equality, Frame, Recompile, Sync
from tclint.verify.join import match_lines
from tclint.verify.report import as_github, as_json, text
from tclint.verify.results import (
    Arm,
    Compiled,
    Distributed,
    Failure,
    Probe,
    Rank,
    Scaling,
    TargetReport,
    Untimed,
)
from tclint.verify.session import exit_code
from tclint.verify.speed import Kernels, Memory, Speed, Timing
from tclint.verify.verdict import (
    judge_eager,
    judge_modes,
    judge_pair,
    judge_speed,
    timing,
    worth_repeating,
)

SAME = Equality("identical")
HERE = Path("/project")


def broken(row: int, *, by_torch: bool = False, library: bool = False) -> Break:
    user = Frame("/project/model.py", row, "forward")
    stack = (user, Frame("/env/site-packages/lib.py", 9, "inner")) if library else (user,)
    return Break(
        gb_id="GB0124",
        gb_ids=("GB0124", "GB7000"),
        reason="Unsupported Tensor.item()",
        explanation="",
        filename="/project/model.py",
        row=row,
        stack=stack,
        drops_frame=True,
        by_torch=by_torch,
    )


def probe(*breaks: Break, like_before: Equality | None = None) -> Probe:
    return Probe(
        torch="2.13.0",
        device="cpu",
        itself=False,
        gate="breaks" if breaks else "whole",
        breaks=breaks,
        ops=(3, 4) if breaks else (7,),
        recompiles=(Recompile("0/1", "self.n == 1", "/project/model.py", 3, limit_reached=True),),
        eager_frames=(),
        syncs=(Sync("/project/model.py", 5, 2),),
        like_eager=SAME,
        like_before=like_before,
        loaded=(),
    )


def speed(milliseconds: float, like_eager: Equality = SAME) -> Speed:
    around = Timing(milliseconds, milliseconds * 0.99, milliseconds * 1.01, 15)
    return Speed(1.5, Timing(10.0, 9.9, 10.1, 15), around, Memory(), None, (), like_eager)


def report(*arms: Arm, equality: Equality = SAME) -> TargetReport:
    return TargetReport("model.py:make", arms, equality, judge_modes(arms, equality, ["default"]))


def both(before: float, after: float, equality: Equality = SAME) -> TargetReport:
    return report(
        Arm("before", probe(broken(4)), (speed(before),)),
        Arm("after", probe(like_before=equality), (speed(after),)),
        equality=equality,
    )


def test_a_speedup_is_before_over_after() -> None:
    assert both(8.0, 2.0).speedup == 4.0


def test_a_difference_inside_the_noise_is_none() -> None:
    found = both(8.0, 7.95)
    assert found.speedup is None
    assert found.speed_note.startswith("no measurable difference")


def test_times_that_scatter_prove_nothing() -> None:
    wild = replace(speed(2.0), compiled=Timing(2.0, 0.1, 5.0, 15))
    found = report(Arm("before", probe(), (speed(8.0),)), Arm("after", probe(), (wild,)))
    assert found.speedup is None
    assert found.speed_note == (
        "no speedup: the times vary too much (half of them within 0.1 to 5 ms)"
    )


def test_arms_with_other_weights_are_not_raced() -> None:
    found = both(8.0, 2.0, Equality("unknown", "the weights do not fit: missing key"))
    assert found.speedup is None
    assert "the weights do not fit" in found.speed_note


def test_one_arm_alone_is_compared_with_eager() -> None:
    found = report(Arm("after", probe(), (speed(2.0),)))
    assert (found.speedup, found.speed_note) == (5.0, "eager / compiled")


def test_a_missing_speed_says_why() -> None:
    found = report(
        Arm("after", probe(), untimed=(Untimed("", "the compiled call raised X: no compiler"),))
    )
    assert found.speedup is None
    assert found.speed_note == "no speed: the compiled call raised X: no compiler"


def test_the_median_and_quartiles() -> None:
    assert timing([1.0, 2.0, 3.0, 4.0, 100.0]) == Timing(
        3.0, 2.0, 4.0, 5, (1.0, 2.0, 3.0, 4.0, 100.0)
    )


def test_exit_codes() -> None:
    assert exit_code([both(8.0, 2.0)]) == 0
    assert exit_code([report(Arm("after", probe(broken(4))))]) == 1
    assert exit_code([report(Arm("after", probe(broken(4, by_torch=True))))]) == 0
    assert exit_code([both(8.0, 2.0, Equality("different", "x"))]) == 1
    off = speed(2.0, Equality("different", "off"))
    assert exit_code([report(Arm("after", probe(), (off,)))]) == 1
    assert exit_code([report(Arm("after", None, failure=Failure("exit", "gone")))]) == 2


def test_the_text_shows_a_row_and_every_remaining_break() -> None:
    shown = text.render([report(Arm("after", probe(broken(4, library=True))))], HERE)
    assert "model.py:4: GB0124+GB7000 Unsupported Tensor.item()" in shown
    assert "(the whole function runs eagerly)" in shown
    assert "in /env/site-packages/lib.py:9 (inner)" in shown
    assert "model.py:3: recompiles: self.n == 1 (limit reached: runs eagerly)" in shown
    assert "model.py:5: 2 host syncs in each eager call" in shown


def test_one_target_has_a_line_for_each_number() -> None:
    numbers, _ = text.render([both(8.0, 2.0)], HERE).split("\n\n")
    cells = dict(line.split(maxsplit=1) for line in numbers.splitlines())
    assert cells["target"] == "model.py:make"
    assert cells["breaks"] == "1 → 0"


@pytest.mark.parametrize("width", [80, 100, 160])
def test_several_targets_fit_a_terminal_with_no_word_broken(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(text, "_UNBOUNDED", width)
    names = ("fixtures/programs/conv_net.py:make", "package.models.transformer.decoder:make_large")
    found = [replace(both(1034.2, 217.5), target=name) for name in names]
    shown = text.render(found, HERE)
    numbers = shown.split(f"\n\n{names[0]}", maxsplit=1)[0]
    assert max(map(len, numbers.splitlines())) <= width
    for words in (*names, "compiled ms", "identical", "217.5 ±2.2", "1.5 s → 1.5 s", "passed"):
        assert words in numbers


def test_what_did_not_run_has_no_line_in_the_table() -> None:
    failed = report(Arm("after", None, failure=Failure("crash", "crashed")))
    assert text.render([failed], HERE).startswith("model.py:make: did not run")
    ran = report(Arm("after", probe()))
    header, *_ = text.render([ran, failed, ran], HERE).splitlines()
    assert "graphs" in header
    assert "eager ms" not in header
    table, _, _ = text.render([ran, failed, ran], HERE).partition("\n\n")
    assert len(table.splitlines()) == 3


def test_the_text_sets_before_against_after() -> None:
    header, row, *_ = text.render([both(8.0, 2.0), both(8.0, 2.0)], HERE).splitlines()
    assert header.split()[:3] == ["target", "breaks", "graphs"]
    assert "1 → 0" in row
    assert "2 → 1" in row
    assert "8.000" in row
    assert "2.000" in row


def test_the_text_says_what_failed() -> None:
    shown = text.render([report(Arm("after", None, failure=Failure("crash", "crashed")))], HERE)
    assert "after: crash: crashed" in shown


def test_the_json_has_the_promised_keys() -> None:
    (target,) = json.loads(as_json.render([both(8.0, 2.0)], HERE))["targets"]
    assert {"target", "arms", "equal", "speedup", "joined"} <= target.keys()
    before, after = target["arms"]
    assert {"breaks", "graphs", "recompiles", "syncs", "times", "memory"} <= before.keys()
    assert {"gb_id", "reason", "filename", "row", "stack"} <= before["breaks"][0].keys()
    assert (before["graphs"], after["graphs"]) == (2, 1)
    assert target["equal"] is True


def test_the_json_of_a_failed_arm_has_the_same_keys() -> None:
    found = report(
        Arm("after", None, failure=Failure("exit", "gone")), equality=Equality("unknown")
    )
    (target,) = json.loads(as_json.render([found], HERE))["targets"]
    assert target["equal"] is None
    assert {"breaks", "graphs", "recompiles", "syncs", "times", "memory"} <= target["arms"][
        0
    ].keys()


def finding(row: int, code: str = "TCL101", effect: Effect = Effect.GRAPH_BREAK) -> Diagnostic:
    return Diagnostic(
        code=code,
        name="a-rule",
        message="breaks here",
        effect=effect,
        confidence=Confidence.HIGH,
        path=Path("/project/model.py"),
        span=Span(Position(row, 5), Position(row + 1, 9)),
    )


def test_breaks_and_findings_are_joined_by_line() -> None:
    joined = match_lines("after", [broken(4), broken(20)], [finding(3), finding(40)])
    assert [(entry.status, entry.row, entry.code) for entry in joined] == [
        ("confirmed", 4, "TCL101"),
        ("missed", 20, None),
        ("not-seen", 40, "TCL101"),
    ]


def test_findings_that_predict_no_break_are_left_out() -> None:
    assert match_lines("after", [], [finding(3, effect=Effect.HOST_SYNC)]) == ()


def samples(*values: float) -> Timing:
    return timing(values * 2 if len(values) == 1 else values)


def timed(eager: Timing, compiled: Timing, mode: str = "default") -> Speed:
    return replace(speed(1.0), eager=eager, compiled=compiled, mode=mode)


def test_the_ratio_comes_with_bounds() -> None:
    quick = timed(samples(10.0, 10.1, 9.9, 10.2), samples(5.0, 5.1, 4.9, 5.0))
    (found,) = report(Arm("after", probe(), (quick,))).speedups
    assert found.low is not None
    assert found.high is not None
    assert found.ratio is not None
    assert 1.9 < found.low <= found.ratio <= found.high < 2.1


def test_a_ratio_whose_bounds_hold_one_is_no_speedup() -> None:
    even = timed(samples(10.0, 11.0, 10.5, 12.0), samples(11.0, 10.0, 11.5, 10.4))
    (found,) = report(Arm("after", probe(), (even,))).speedups
    assert found.ratio is None
    assert found.note.startswith("no measurable difference")


def test_each_mode_has_its_verdict() -> None:
    quick = timed(samples(4.0, 4.1, 4.0), samples(1.0, 1.1, 1.0), "reduce-overhead")
    arm = Arm("after", probe(), (speed(2.0), quick), (Untimed("max-autotune", "no compiler"),))
    verdicts = judge_modes((arm,), SAME, ["default", "reduce-overhead", "max-autotune"])
    assert [verdict.ratio for verdict in verdicts] == [5.0, 4.0, None]
    assert verdicts[2].note == "no speed: no compiler"


def test_the_json_lists_modes_and_complaints() -> None:
    (target,) = json.loads(as_json.render([report(Arm("after", probe(broken(4))))], HERE))[
        "targets"
    ]
    assert target["passed"] is False
    assert target["complaints"] == ["1 graph break, allowed: 0"]
    (target,) = json.loads(as_json.render([both(8.0, 2.0)], HERE))["targets"]
    assert target["passed"] is True
    assert set(target["arms"][1]["modes"]) == {"default"}


def test_github_is_told_each_break_at_its_line() -> None:
    lines = as_github.render([report(Arm("after", probe(broken(4))))], HERE).splitlines()
    assert lines[0] == "::error title=tclint verify::model.py:make: 1 graph break, allowed: 0"
    assert lines[1].startswith("::error title=tclint verify,file=model.py,line=4::")


def test_a_small_difference_must_be_seen_in_a_second_pair_of_processes() -> None:
    def arms(once: Timing, twice: Timing) -> tuple[Arm, ...]:
        old = replace(timed(samples(9.0), samples(6.0, 6.1, 6.0)), again=once)
        new = replace(timed(samples(9.0), samples(5.0, 5.1, 5.0)), again=twice)
        return (Arm("before", probe(), (old,)), Arm("after", probe(), (new,)))

    slow, quick = samples(6.0, 6.2, 6.1), samples(5.1, 5.0, 5.0)
    assert worth_repeating(arms(slow, quick), "default")
    assert judge_speed(arms(slow, quick), SAME).ratio == 1.2
    for unlike in (arms(quick, quick), arms(quick, slow)):
        found = judge_speed(unlike, SAME)
        assert found.ratio is None
        assert "not seen again" in found.note


def test_ranks_are_shown_with_their_times_and_who_went_astray() -> None:
    def rank(number: int) -> Rank:
        times = {"eager": timing([4.0, 4.0, 4.0]), "compiled": timing([2.0, 2.0, 2.0])}
        return Rank(number, graphs=2, like_eager=SAME, digest=str(number), tied=True, **times)

    scaling = (Scaling("eager", 3.0, 4.0, 0.75), Scaling("compiled", 1.0, 2.0, 0.5))
    spread = Distributed(2, "nccl", "ddp", (rank(0), rank(1)), scaling, diverged=(1,))
    report = TargetReport("m:f", (Arm("after", probe()),), SAME, distributed=spread)
    shown = text.render([report], HERE)
    assert "eager: 75% scaling efficiency (alone 3.000 ms, slowest rank 4.000 ms)" in shown
    assert "compiled 2.000 ±0.000 ms, in step" in shown
    assert "compiled 2.000 ±0.000 ms, other weights than rank 0" in shown
    assert exit_code([report]) == 1
    (found,) = json.loads(as_json.render([report], HERE))["targets"]
    assert found["distributed"]["scaling"][1]["efficiency"] == 0.5


def test_code_that_fails_only_when_compiled_does_not_pass() -> None:
    faulty = Untimed("max-autotune", "the compiled call raised LoweringException: x", fault=True)
    report = TargetReport("m:f", (Arm("after", probe(), untimed=(faulty,)),), SAME)
    assert exit_code([report]) == 1
    assert "compiled code fails (max-autotune)" in text.render([report], HERE)


def test_launches_are_told_where_cuda_graphs_make_them_fewer() -> None:
    graphs = replace(speed(1.0), kernels=Kernels(20, 1), eager_kernels=Kernels(50, 50))
    report = TargetReport("m:f", (Arm("after", probe(), (graphs,)),), SAME)
    shown = text.render([report], HERE)
    assert "one call: eager 50 kernels, compiled 20 kernels by 1 launch" in shown


def test_what_torch_asks_for_itself_is_no_missed_finding() -> None:
    assert match_lines("after", [broken(3, by_torch=True)], []) == ()


def eager(before: float, after: float, *, again: float | None = None) -> TargetReport:
    """Both arms with eager code at so many milliseconds, in a second pair of processes too."""
    compiled = at(1.0)
    speeds = [
        Speed(1.0, at(ms), compiled, Memory(), None, (), SAME, eager_again=at(second))
        for ms, second in ((before, before), (after, after if again is None else again))
    ]
    both = (Arm("before", probe(), (speeds[0],)), Arm("after", probe(), (speeds[1],)))
    return TargetReport("m", both, SAME, eager=judge_eager(both, ("default",)))


def at(milliseconds: float) -> Timing:
    return timing([milliseconds * (1 + n / 1000) for n in range(15)])


def test_eager_code_fails_the_run_only_where_it_is_slower_by_more_than_the_noise() -> None:
    (said,) = complaints(eager(0.15, 0.18))
    assert said.startswith("eager code is slower: 1.20 times what it was (0.151 → 0.181 ms, 95%: ")
    assert complaints(eager(0.15, 2.5))[0].startswith("eager code is slower: 16.67 times")
    assert complaints(eager(0.18, 0.15)) == ()
    assert complaints(eager(0.15, 0.152)) == ()  # two processes of one program
    assert complaints(eager(0.002, 0.0024)) == ()  # a few guards
    assert complaints(eager(0.15, 0.18, again=0.15)) == ()


def test_eager_times_that_scatter_tell_only_what_is_plain() -> None:
    def scattered(milliseconds: float) -> Timing:
        return timing([milliseconds * (1 + n / 5) for n in range(15)])

    assert judge_pair(scattered(1.0), scattered(1.7), None, None).ratio is None
    assert judge_pair(scattered(1.0), scattered(9.0), None, None).ratio == 9.0


def test_a_loss_that_one_pair_of_processes_does_not_show_again_is_none() -> None:
    def steady(milliseconds: float) -> Timing:
        return timing([milliseconds * (1 + n / 100) for n in range(15)])

    once = judge_pair(steady(1.0), steady(3.0), steady(1.0), steady(1.0))
    assert (once.ratio, once.note) == (None, "not seen again in fresh processes (1.07 → 3.21 ms)")
    assert judge_pair(steady(1.0), steady(3.0), steady(1.0), steady(2.0)).ratio == 3.0


@pytest.mark.parametrize(
    ("factor", "repeated"), [(3.0, True), (1.2, True), (1.0, False), (0.3, False)]
)
def test_only_what_is_plainly_faster_is_not_measured_again(
    factor: float, *, repeated: bool
) -> None:
    def arm(factor: float) -> Arm:
        quick = timing([5.0 * factor * (1 + n / 100) for n in range(15)])
        return Arm("arm", probe(), (Speed(1.0, quick, quick, Memory(), None, (), SAME),))

    assert worth_repeating((arm(1.0), arm(factor)), "default") is repeated


def test_what_the_time_limit_left_out_fails_the_run() -> None:
    whole = TargetReport("m", (Arm("after", probe()),), SAME)
    assert complaints(whole) == ()
    cut = replace(whole, unfinished=("compiled code, max-autotune",))
    assert complaints(cut) == ("the time limit was reached before: compiled code, max-autotune",)


def test_an_arm_that_time_ran_out_on_keeps_what_was_compiled_again() -> None:
    again = (Recompile("2/1", "lr == 0.1", "/project/model.py", 3),) * 8
    known = Compiled("default", "inductor", SAME, 12.5, again)
    arm = Arm(
        "after", probe(), untimed=(Untimed("default", "time", fault=True),), compiled=(known,)
    )
    report = TargetReport("m", (arm,), SAME)
    assert recompile_count(arm) == 8
    assert "model.py:3: recompiles: lr == 0.1" in text.render([report], HERE)
    assert "compiled numbers (inductor): identical" in text.render([report], HERE)


def test_a_rank_that_compiles_nothing_fails_the_run() -> None:
    ranks = (Rank(0, nothing_compiled="a reason"),)
    found = Distributed(1, "gloo", "ddp", ranks)
    report = TargetReport("m", (Arm("after", probe()),), SAME, distributed=found)
    assert complaints(report) == ("rank 0: nothing was compiled: a reason",)
