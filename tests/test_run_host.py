"""Where the host's time goes that no rule says anything of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.run.host import Part
from tests.run_recordings import MS, START, Recording, evenly

LOOP = """\
import torch


def batch(step):
    rows = []
    for row in range(64):
        rows.append(row)
        rows.append(step)
    return torch.tensor(rows)


def train(model, optimizer, average, loader):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        for name, one in average.items():
            one.append(name)
            one.sort()


train(None, None, None, None)
"""
TORCH = "/env/lib/site-packages/torch"
MODULE = [(f"{TORCH}/nn/modules/module.py", 1775, "_call_impl")]
BACKWARD = [(f"{TORCH}/_tensor.py", 600, "backward")]
BACKWARD += [(f"{TORCH}/autograd/graph.py", 820, "_engine_run_backward")]
OPTIMIZER = [(f"{TORCH}/optim/adamw.py", 200, "step")]
LOADER = [(f"{TORCH}/utils/data/dataloader.py", 700, "__next__")]


class Sampled(Recording):
    """A loop, and where its samples are."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.script.write_text(LOOP)
        self.stacks: list[tuple[list[dict[str, Any]], int]] = []

    def hit(self, times: int, *rows: tuple[int, str], inside: Any = ()) -> None:
        stack = [self.place(22, "<module>"), *(self.place(*row) for row in rows)]
        stack += [{"filename": f, "row": r, "function": name} for f, r, name in inside]
        self.stacks.append((stack, times))

    def sampled(self, at: tuple[float, ...] = (), more: tuple[dict[str, Any], ...] = ()) -> None:
        """Write what was seen, ``at`` which moments of each step; it ends at the optimizer's."""
        hits = evenly([n for n, (_, times) in enumerate(self.stacks) for _ in range(times)])
        if at:
            moments = [(step, *one) for step in range(19, 39) for one in enumerate(at)]
            hits = [[START + int((n + moment) * 10 * MS), one] for n, one, moment in moments]
        samples = {
            "kind": "samples", "interval": MS, "first": 20, "last": 40,
            "stacks": [stack for stack, _ in self.stacks], "hits": hits,
        }  # fmt: skip
        steps = {**self.steps(), "place": self.place(16, "train"), "marker": "optimizer.step"}
        libraries = ["/usr/lib/python3.11", "/env/lib/site-packages", TORCH]
        self.process(*more, steps, samples, self.end(), libraries=libraries)


@pytest.fixture
def sampled(tmp_path: Path) -> Sampled:
    return Sampled(tmp_path)


def test_what_costs_most_is_told_first_whether_or_not_a_rule_knows_it(sampled: Sampled) -> None:
    sampled.hit(60, (14, "train"), inside=MODULE)
    sampled.hit(20, (18, "train"))
    sampled.hit(20, (19, "train"))
    sampled.sampled()
    (dear,) = sampled.answer().dear
    assert (dear.line.row, dear.line.finding) == (17, None)
    assert dear.price.total.value == pytest.approx(4)
    told = sampled.told()
    assert "1.  4 ms  40%  train.py:17  host time: for name, one in average.items():" in told


def test_forward_backward_and_the_optimizers_step_are_no_lines_to_change(sampled: Sampled) -> None:
    sampled.hit(50, (14, "train"), inside=MODULE)
    sampled.hit(30, (15, "train"), inside=BACKWARD)
    sampled.hit(20, (16, "train"), inside=OPTIMIZER)
    sampled.sampled()
    found = sampled.answer()
    assert not found.dear
    assert [round(found.work.part(part), 6) for part in Part] == [5, 3, 2]
    told = "80% the model itself (forward 50%, backward 30%), 20% optimizer (train.py:16).\n"
    assert f"A step takes 10 ms: {told}" in sampled.told()


def test_a_loader_is_named_at_the_loop_over_it(sampled: Sampled) -> None:
    sampled.hit(50, (13, "train"), inside=LOADER)
    sampled.hit(50, (14, "train"), inside=MODULE)
    sampled.sampled()
    (dear,) = sampled.answer().dear
    assert dear.line.row == 13
    assert "loading, reading samples: for x in loader:" in sampled.told()


def test_the_line_that_most_of_the_time_goes_to_stands_for_its_caller(sampled: Sampled) -> None:
    sampled.hit(45, (13, "train"), (7, "batch"))
    sampled.hit(45, (13, "train"), (8, "batch"))
    sampled.hit(10, (13, "train"), (9, "batch"))
    sampled.sampled()
    rows = [(one.line.row, round(one.price.total.value)) for one in sampled.answer().dear]
    assert rows == [(6, 9), (13, 1)]


def test_time_that_many_lines_share_stays_with_the_line_that_calls_them(sampled: Sampled) -> None:
    sampled.hit(50, (13, "train"), (5, "batch"))
    sampled.hit(50, (13, "train"), (9, "batch"))
    sampled.sampled()
    rows = [(one.line.row, round(one.price.total.value)) for one in sampled.answer().dear]
    assert rows == [(13, 10)]


def test_an_optimizer_of_the_users_own_is_a_line_that_can_be_changed(sampled: Sampled) -> None:
    sampled.hit(100, (16, "train"), (8, "batch"), inside=())
    sampled.stacks[0][0].insert(2, {"filename": OPTIMIZER[0][0], "row": 5, "function": "wrapper"})
    sampled.sampled()
    (dear,) = sampled.answer().dear
    assert dear.line.row == 6


def test_a_compiled_graph_is_no_line_of_its_function(sampled: Sampled) -> None:
    graph = [(f"{TORCH}/_dynamo/eval_frame.py", 1200, "_fn")]
    graph += [(f"{TORCH}/_functorch/_aot_autograd/runtime_wrappers.py", 300, "runtime_wrapper")]
    graph += [("/tmp/torchinductor_you/yr/cyry.py", 90, "call")]
    sampled.hit(50, (16, "train"), (7, "batch"), inside=graph)
    sampled.stacks[0][0].insert(2, {"filename": OPTIMIZER[0][0], "row": 5, "function": "wrapper"})
    sampled.hit(50, (14, "train"), inside=[*MODULE, *graph])
    sampled.sampled()
    found = sampled.answer()
    assert not found.dear
    assert [round(found.work.part(part), 6) for part in Part] == [5, 0, 5]


def test_what_a_closure_of_the_optimizer_calls_is_not_the_optimizers_work(sampled: Sampled) -> None:
    sampled.hit(50, (16, "train"), (14, "closure"), inside=MODULE)
    sampled.hit(50, (16, "train"), (15, "closure"), inside=BACKWARD)
    for stack, _ in sampled.stacks:
        stack.insert(2, {"filename": OPTIMIZER[0][0], "row": 5, "function": "step"})
    sampled.sampled()
    work = sampled.answer().work
    assert [round(work.part(part), 6) for part in Part] == [5, 5, 0]


def test_what_dynamo_calls_for_torch_without_compiling_it_is_no_forward_pass(
    sampled: Sampled,
) -> None:
    """A method of an optimizer runs through the same function as what is compiled."""
    dynamo = [(f"{TORCH}/_dynamo/eval_frame.py", 1200, "_fn")]
    sampled.hit(50, (14, "train"), inside=dynamo)
    sampled.hit(50, (18, "train"), inside=[(f"{TORCH}/_compile.py", 54, "inner"), *dynamo])
    sampled.sampled()
    found = sampled.answer()
    assert [round(found.work.part(part), 6) for part in Part] == [5, 0, 0]
    (dear,) = found.dear
    assert (dear.line.row, round(dear.price.total.value)) == (17, 5)


def test_a_usual_step_is_drawn_from_its_start_to_its_end(sampled: Sampled) -> None:
    sampled.hit(1, (14, "train"), inside=MODULE)
    sampled.hit(1, (15, "train"), inside=BACKWARD)
    sampled.hit(1, (18, "train"))
    sampled.sampled(at=(0.1, 0.5, 0.9))
    found = sampled.answer().timeline
    assert found is not None
    drawn = [(span.kind, round(span.start, 1), round(span.end, 1)) for span in found.host]
    assert drawn == [("forward", 0.0, 0.5), ("backward", 0.5, 0.9), ("line", 0.9, 1.0)]


def test_a_break_in_a_library_costs_what_is_spent_there_not_all_that_its_caller_does(
    sampled: Sampled,
) -> None:
    library = "/env/lib/site-packages/pkg/layers.py"
    text = (
        f"Graph break in user code at {library}:5\nGraph Break Reason: Data-dependent branching\n"
        f'User code traceback:\n  File "{sampled.script}", line 22, in <module>\n    train()\n'
        f'  File "{library}", line 5, in forward\n    if random() < p:\n'
    )
    told = {"kind": "break", "at": START, "compile_id": "2/0", "text": text}
    failed = sampled.compiled("2/0", fail_type="Unsupported", fail_reason="Data-dependent")
    sampled.hit(70, (14, "train"), inside=MODULE)
    sampled.hit(30, (14, "train"), inside=[*MODULE, (library, 5, "forward")])
    sampled.sampled(more=(told, failed))
    (dear,) = sampled.answer().dear
    assert (dear.line.row, round(dear.price.total.value)) == (22, 3)
    lines = sampled.told()
    assert "breaks the graph in pkg/layers.py:5" in lines
    assert "runs eagerly" not in lines


def test_the_librarys_function_that_most_of_the_time_goes_to_is_named(sampled: Sampled) -> None:
    trainer = [("/env/lib/site-packages/pkg/trainer.py", n, f"call_{n}") for n in range(3)]
    sampled.hit(50, (13, "train"), inside=[*trainer, *LOADER])
    sampled.hit(30, (13, "train"), inside=[*trainer, trainer[0]])
    sampled.hit(20, (13, "train"), inside=trainer[:1])
    sampled.sampled()
    assert "host time in pkg.trainer call_2: for x in loader:" in sampled.told()


def test_a_loop_that_calls_the_function_of_the_step_is_not_one_piece_of_work(
    sampled: Sampled,
) -> None:
    sampled.script.write_text(LOOP + "for epoch in range(9):\n    train()\n    test()\n")
    sampled.hit(50, (14, "train"), inside=MODULE)
    sampled.hit(50)
    for stack, _ in sampled.stacks:
        stack[0] = sampled.place(24, "<module>")
    sampled.stacks[1][0][0] = sampled.place(25, "<module>")
    sampled.sampled()
    (dear,) = sampled.answer().dear
    assert dear.line.row == 25


def test_what_a_line_that_waits_calls_works_for_itself(sampled: Sampled) -> None:
    # As in `x = batch(step).to(device)`: the copy waits, which says nothing of the batch.
    stack = [sampled.place(22, "<module>"), sampled.place(13, "train")]
    sync = {"kind": "syncs", "first": 12, "last": 14, "stacks": [stack], "events": [[12, 0]] * 3}
    sampled.hit(50, (13, "train"), (7, "batch"))
    sampled.hit(10, (13, "train"))
    sampled.hit(40, (14, "train"), inside=MODULE)
    sampled.sampled(more=(sync,))
    answer = sampled.answer()
    (line,) = answer.dear
    assert (line.line.row, line.line.only_works) == (6, True)
    assert line.price.total.value == pytest.approx(5, rel=0.05)
    assert [one.line.row for one in answer.cheap] == [13]


def test_what_a_line_that_waits_calls_here_and_there_is_its_own_price(sampled: Sampled) -> None:
    stack = [sampled.place(22, "<module>"), sampled.place(13, "train")]
    sync = {"kind": "syncs", "first": 12, "last": 14, "stacks": [stack], "events": [[12, 0]] * 3}
    for row in (5, 9):
        sampled.hit(25, (13, "train"), (row, "batch"))
    sampled.hit(50, (14, "train"), inside=MODULE)
    sampled.sampled(more=(sync,))
    (line,) = sampled.answer().dear
    assert (line.line.row, line.line.only_works) == (13, False)
    assert line.price.total.value == pytest.approx(5, rel=0.05)
    assert "5 ms  50%  train.py:13  waits for the GPU · host time" in sampled.told()


def test_what_backward_does_before_its_engine_runs_is_the_backward_pass(sampled: Sampled) -> None:
    gradients = [*BACKWARD[:1], (f"{TORCH}/autograd/__init__.py", 140, "_make_grads")]
    sampled.hit(50, (15, "train"), inside=gradients)
    sampled.hit(50, (15, "train"), inside=BACKWARD)
    sampled.sampled()
    found = sampled.answer()
    assert not found.dear
    assert found.work.part(Part.BACKWARD) == pytest.approx(10)


def test_a_method_of_a_module_that_runs_nothing_is_no_forward_pass(sampled: Sampled) -> None:
    zero = [(f"{TORCH}/nn/modules/module.py", 2900, "zero_grad")]
    sampled.hit(50, (14, "train"), inside=zero)
    sampled.hit(50, (15, "train"), inside=BACKWARD)
    sampled.sampled()
    found = sampled.answer()
    assert [one.line.row for one in found.dear] == [14]
    assert found.work.part(Part.FORWARD) == 0


def test_beside_the_function_that_steps_its_callers_loop_is_told_by_its_lines(
    sampled: Sampled,
) -> None:
    """The step is made in ``train``, which ``play`` calls after it has played."""
    play = "\n\ndef play():\n    while True:\n        act()\n        look()\n        train()\n"
    sampled.script.write_text(f"{LOOP}{play}\n\nplay()\n")
    for row, ms in ((27, 40), (28, 20)):
        sampled.hit(ms, (27 + 5, "<module>"), (row, "play"))
    sampled.hit(40, (32, "<module>"), (29, "play"), (15, "train"), inside=BACKWARD)
    sampled.sampled()
    found = sampled.answer()
    rows = [(one.line.row, round(one.price.total.value)) for one in found.dear]
    assert rows == [(27, 4), (28, 2)]
    groups = [(one.kind, one.place and one.place[1]) for one in found.account.groups]
    assert groups == [("line", 27), ("backward", 15), ("line", 28)]
