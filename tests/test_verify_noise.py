"""A step in mixed precision whose optimizer makes much of rounding: what is equal, and what is not.

The bias of an attention's keys has no gradient but rounding, and AdamW moves it by the whole
learning rate for that. Each change below but the first is a real one, and has to be seen.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from textwrap import dedent

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader  # noqa: E402

from tclint.verify.draws import Draws  # noqa: E402
from tclint.verify.equality import compare  # noqa: E402
from tclint.verify.probe import Judge, Run, run  # noqa: E402
from tclint.verify.snapshot import take  # noqa: E402
from tclint.verify.subject import Making, Workshop, seed  # noqa: E402
from tclint.verify.targets import parse_target  # noqa: E402

PROGRAM = """
    import copy
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy, dropout, gelu
    from torch.utils.data import DataLoader, TensorDataset

    WIDTH, BATCHES = 64, 4

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
            self.first, self.last = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
            self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x):
            y = self.before(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            return x + self.last(gelu(self.first(self.after(x))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(*[Block() for _ in range(3)])
            self.head = nn.Linear(WIDTH, 10)

        def forward(self, x):
            return self.head(self.body(x).mean(1))

    def averaged(average, model, decay=0.99):
        for kept, new in zip(average.parameters(), model.parameters()):
            kept.data.mul_(decay).add_(new.data, alpha=1 - decay)

    def train_step(model, inputs, targets):
        average = copy.deepcopy(model)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        total = 0
        for x, y in DataLoader(TensorDataset(inputs, targets), batch_size=8, shuffle=True):
            with torch.autocast("cpu", torch.bfloat16):
                logits = model(x)
                loss = cross_entropy(logits, y)
            total = total + loss.detach()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            averaged(average, model)
            optimizer.zero_grad()
        return total / BATCHES, [*average.parameters()]

    def make():
        torch.manual_seed(0)
        inputs = torch.randn(8 * BATCHES, 16, WIDTH)
        return {
            "model": Net(),
            "inputs": (inputs, torch.randint(10, (8 * BATCHES,))),
            "train_step": train_step,
        }
"""
HONEST = {
    "softmax by hand": [("need_weights=False)[0]", "need_weights=True)[0]")],
    "a loss in thirds": [
        ("loss.backward()", "(loss * 3).backward(); [p.grad.div_(3) for p in model.parameters()]")
    ],
}
STEP, AVERAGE = "        optimizer.step()\n", "        averaged(average, model)\n"
WRONG = {
    "another rate": [("lr=1e-4", "lr=1.1e-4")],
    "another decay of weights": [("lr=1e-4", "lr=1e-4, weight_decay=0.5")],
    "another decay of the average": [("decay=0.99)", "decay=0.999)")],
    "an average of gradients": [("new.data, alpha", "new.grad, alpha")],
    "an average of the weights before": [(STEP + AVERAGE, AVERAGE + STEP)],
    "a bias that stays": [(STEP, "        model.body[1].first.bias.grad = None\n" + STEP)],
    "a bias of a norm that stays": [
        (STEP, "        model.body[1].after.bias.grad = None\n" + STEP)
    ],
    "a small bias that stays": [(STEP, "        model.head.bias.grad = None\n" + STEP)],
    "a third of a bias that stays": [
        (STEP, "        model.body[1].attention.in_proj_bias.grad[128:] = 0\n" + STEP)
    ],
    "gradients as long as they are": [
        ("nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "pass")
    ],
    "gradients that add up": [("        optimizer.zero_grad()\n", "")],
    "other rows": [("targets), batch_size=8", "targets), drop_last=True, batch_size=7")],
    "a loss of one batch less": [("total / BATCHES", "(total - loss.detach()) / BATCHES")],
    "another seed": [("average = copy", "torch.manual_seed(1)\n    average = copy")],
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for programs."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module", autouse=True)
def _here(desk: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(desk)
        yield


def shop(desk: Path, changes: list[tuple[str, str]]) -> Workshop:
    """The program, changed."""
    text = dedent(PROGRAM)
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    name = f"noisy_{sha256(text.encode()).hexdigest()[:12]}"
    (desk / f"{name}.py").write_text(text)
    return Workshop(Making(parse_target(f"{name}.py:make"), desk, phase="step"), None)


def trained(made: Workshop) -> Run:
    """What the program gives, and leaves."""
    subject = made.make()
    return run(subject, subject.call_eager)


@pytest.fixture(scope="module")
def old(desk: Path, _here: None) -> Run:
    """What the program gives as it is."""
    return trained(shop(desk, []))


@pytest.fixture(scope="module")
def judge(desk: Path, old: Run) -> Judge:
    """Compares with that, and runs the program in float64 once for all tests."""
    return Judge(shop(desk, []), None, old)


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_rounding_that_an_optimizer_makes_much_of_is_no_difference(
    desk: Path, old: Run, judge: Judge, name: str
) -> None:
    after = shop(desk, HONEST[name])
    new = trained(after)
    as_compiled = judge(new)
    as_fixed = Judge(after, None, new)(new, old)
    assert (as_compiled.verdict, as_fixed.verdict) == ("close", "close")
    assert as_fixed.max_rel > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_noise_hides_no_change(desk: Path, old: Run, judge: Judge, name: str) -> None:
    after = shop(desk, WRONG[name])
    new = trained(after)
    assert Judge(after, None, new)(new, old).equal is False
    assert judge(new).equal is False


def digest(draw: Callable[[torch.Tensor], object], kind: torch.dtype) -> str:
    """What is drawn where a model has this type."""
    seed()
    draws, x = Draws(), torch.ones(100, dtype=kind)
    draws.watched(lambda: draw(x))()
    return draws.digest


def forked(x: torch.Tensor) -> None:
    """Draw, and leave the generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.nn.functional.dropout(x)


def from_one_of_its_own(x: torch.Tensor) -> torch.Tensor:
    """Noise of a generator."""
    return torch.empty_like(x).normal_(generator=torch.Generator().manual_seed(1))


SAME = {
    "nothing": lambda x: x * 2,
    "an order": lambda x: x[torch.randperm(100)],
    "noise in a type of its own": lambda x: x + torch.randn(100, dtype=torch.float32),
    "rows of a loader": lambda x: [*DataLoader([1, 2, 3], shuffle=True)],
    "numbers of Python": lambda x: x * random.random(),
}
OTHER = {
    "dropout": torch.nn.functional.dropout,
    "noise of its type": torch.randn_like,
    "noise of a generator": from_one_of_its_own,
    "dropout that is put back": forked,
}


@pytest.mark.parametrize("name", SAME)
def test_draws_are_the_same_where_no_type_matters(name: str) -> None:
    one, other = (digest(SAME[name], kind) for kind in (torch.float32, torch.float64))
    assert one == other != ""


@pytest.mark.parametrize("name", OTHER)
def test_draws_of_a_models_type_are_not(name: str) -> None:
    one, other = (digest(OTHER[name], kind) for kind in (torch.float32, torch.float64))
    assert one != other or one == ""


def test_a_draw_that_no_operator_shows_is_not_known() -> None:
    def unseen(x: torch.Tensor) -> None:
        with torch.utils._python_dispatch._disable_current_modes():
            torch.rand(3)

    assert digest(unseen, torch.float32) == ""


def judged(eager: list[float], other: list[float], true: list[float]) -> str:
    """Single numbers of a step that draws the same in float64."""
    runs = ({"call 1": take(one)} for one in (eager, other, true))
    return compare(*runs, same_draws=True).verdict


def test_single_numbers_err_as_those_of_their_run_do() -> None:
    true, eager = [2.31, 1.17, 0.52], [2.3101, 1.1703, 0.5199]
    assert judged(eager, [2.3112, 1.1701, 0.5202], true) == "close"
    assert judged(eager, [2.33, 1.1701, 0.5202], true) == "different"
    exact = [2.31 + 1e-7, 1.17 - 1e-7, 0.52]
    assert judged(exact, [2.3112, 1.17, 0.52], true) == "different"


def test_a_number_of_half_precision_may_be_its_neighbour() -> None:
    half = float(torch.tensor(1.0234375).bfloat16())
    near, far = half + 2**-7, half + 2**-5
    assert judged([half, 2.31], [near, 2.31], [half + 1e-4, 2.31]) == "close"
    assert judged([half, 2.31], [far, 2.31], [half + 1e-4, 2.31]) == "different"
    assert judged([200.0, 2.31], [201.0, 2.31], [200.0, 2.31]) == "different"
