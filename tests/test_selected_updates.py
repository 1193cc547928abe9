"""Layers that are dropped at random: compiled code computes them, too, and chooses a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.rule import PRELUDE
from tests.fixed_nets import fixed_net, made_net

if TYPE_CHECKING:
    from pathlib import Path

CLASS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))
        self.rate = 0.5

    def forward(self, x, synced=False, attentions=False):
"""
CONTINUE = """
        for layer in self.layers:
            if self.training:
                p = torch.rand([])
                if p < self.rate:
                    continue
            x = layer(x)
        return x
"""
SYNCED = """
        hidden = nn.functional.dropout(x + 1, p=0.1, training=self.training)
        every = () if attentions else None
        for layer in self.layers:
            p = torch.rand([])

            skip = True if self.training and (p < self.rate) else False
            if not skip or synced:
                # all devices must run in step
                outputs = (layer(hidden), hidden)
                hidden = outputs[0]

            if skip:
                outputs = (None, None)

            if attentions:
                every = every + (outputs[1],)
        return hidden
"""
FLAG = """
        for layer in self.layers:
            to_drop = False
            if self.training:
                p = torch.rand([])
                if p < self.rate:  # skip the layer
                    to_drop = True

            if to_drop:
                outputs = (None, None)
            else:
                outputs = (layer(x),)
                x = outputs[0]
        return x
"""
LATER = """
        for i, layer in enumerate(self.layers):
            skip = False
            if self.training:
                p = torch.rand([])
                skip = i > 0 and p < self.rate
            if skip and not synced:
                continue
            x = layer(x)
            x = torch.tanh(x)
        return x
"""
KEEPS = """
        for layer in self.layers:
            p = torch.rand([])
            if not self.training or (p > self.rate):
                x = layer(x)
        return x
"""
WRITTEN_OUT = """
        for layer in self.layers:
            p = torch.rand([])
            if self.training and 0.3 > p:
                continue
            x = layer(x) * 2
        return x
"""
ELSE = """
        for layer in self.layers:
            p = torch.rand([])
            if not (self.training and p < self.rate):
                x = layer(x)
            else:
                skipped = None
        return x
"""
CHOSEN = {
    "continue": CONTINUE, "synced": SYNCED, "flag": FLAG, "later": LATER, "keeps": KEEPS,
    "written out": WRITTEN_OUT, "else": ELSE,
}  # fmt: skip

UPDATED_ANYWAY = """
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                x = x * 2
            else:
                x = layer(x)
        return x
"""
TWO_TENSORS = """
        y = x + 1
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            x, y = layer(x), layer(y)
        return x + y
"""
COUNTS = """
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            x = layer(x)
            self.rate = self.rate * 1.0
        return x
"""
KEEPS_A_LIST = """
        seen = []
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            x = layer(x)
            seen.append(x)
        return x, len(seen)
"""
DRAWN_AGAIN = """
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            p = torch.rand([])
            x = layer(x) * p
        return x
"""
OTHER_RATE = """
        rate = self.rate
        for layer in self.layers:
            p = torch.rand([])
            if p < rate:
                continue
            x = layer(x)
            rate = rate / 2
        return x
"""
IN_PLACE = """
        x = x + 0
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            x += layer(x)
        return x
"""
BY_METHOD = """
        x = x + 0
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            x.mul_(2)
            x = layer(x)
        return x
"""
STOPS = """
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                break
            x = layer(x)
        return x
"""
RETURNS = """
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                return x
            x = layer(x)
        return x
"""
ASKED_BESIDE = """
        for layer in self.layers:
            p = torch.rand([])
            if (p < self.rate) == synced:
                continue
            x = layer(x)
        return x
"""
NOT_A_TENSOR = """
        depth = 0
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            depth = depth + 1
        return x * depth
"""
OF_PYTHON = """
        import random
        for layer in self.layers:
            p = random.uniform(0, 1)
            if p < 0.5:
                continue
            x = layer(x)
        return x
"""
CLOSED_OVER = """
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                continue
            x = layer(x)
        return (lambda: x)()
"""
MAYBE_CONTINUES = """
        for layer in self.layers:
            p = torch.rand([])
            skip = p < self.rate
            if x.ndim > 2:
                continue
            if not skip:
                x = layer(x)
        return x
"""
COUNTS_THE_DROPPED = """
        dropped = 0
        for layer in self.layers:
            p = torch.rand([])
            if p < self.rate:
                dropped = dropped + 1
            else:
                x = layer(x)
        return x, dropped
"""
TELLS_THE_FLAG = """
        every = ()
        for layer in self.layers:
            drop = False
            p = torch.rand([])
            if p < self.rate:
                drop = True
            if not drop:
                x = layer(x)
            every = every + (drop,)
        return x, every
"""
LEFT = {
    "counts the dropped": COUNTS_THE_DROPPED, "tells the flag": TELLS_THE_FLAG,
    "updated anyway": UPDATED_ANYWAY, "two tensors": TWO_TENSORS, "counts": COUNTS,
    "keeps a list": KEEPS_A_LIST, "drawn again": DRAWN_AGAIN, "other rate": OTHER_RATE,
    "in place": IN_PLACE, "by a method": BY_METHOD, "stops": STOPS, "returns": RETURNS,
    "asked beside": ASKED_BESIDE, "not a tensor": NOT_A_TENSOR, "of Python": OF_PYTHON,
    "closed over": CLOSED_OVER, "maybe continues": MAYBE_CONTINUES,
}  # fmt: skip


def _fixed(folder: Path, code: str, *, unsafe: bool = True) -> str:
    return fixed_net(folder, CLASS + code, "TCL161", unsafe=unsafe)


@pytest.mark.parametrize("code", CHOSEN.values(), ids=CHOSEN)
def test_the_loop_goes_on_with_what_is_chosen(code: str, tmp_path: Path) -> None:
    fixed = _fixed(tmp_path, code)
    assert fixed.count("torch.where(") == 1
    assert fixed.count("is_compiling()") == 2
    assert "torch.where(" not in _fixed(tmp_path, code, unsafe=False)


def test_an_unsafe_fix_stands_in_for_the_safe_one(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    code = PRELUDE + CLASS.replace("self.rate = 0.5", "self.rate = 0.0") + CONTINUE
    path.write_text(code, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL161",))
    told = [fix_files([path], config, unsafe=unsafe).fixes for unsafe in (False, True)]
    assert [[one.applicability.value for one in some] for some in told] == [["safe"], ["unsafe"]]
    assert "gradients of zero" in told[1][0].changes


@pytest.mark.parametrize("code", LEFT.values(), ids=LEFT)
def test_other_loops_are_left_alone(code: str, tmp_path: Path) -> None:
    assert "torch.where(" not in _fixed(tmp_path, code)


@pytest.mark.slow(20)
@pytest.mark.parametrize("synced", [False, True])
@pytest.mark.parametrize("code", CHOSEN.values(), ids=CHOSEN)
def test_eager_and_whole_graphs_do_what_the_loop_did(
    code: str, synced: bool, tmp_path: Path
) -> None:
    import torch

    before, after = made_net(PRELUDE + CLASS + code), made_net(_fixed(tmp_path, code))
    torch._dynamo.reset()
    whole = torch.compile(after, backend="eager", fullgraph=True)
    seen = set()
    for training in (True, False):
        before.train(training)
        after.train(training)
        for number in range(12):
            results = [_call(one, number, synced) for one in (before, after, whole)]
            assert results[0] == results[1] == results[2]
            seen.add(results[0][0])
    assert synced or len(seen) > 2  # some layers were dropped, and others were not


def _call(net: Any, number: int, synced: bool) -> tuple[tuple[float, ...], bytes]:
    import torch

    torch.manual_seed(number)
    result = net(torch.ones(2, 3), synced)
    return tuple(result.flatten().tolist()), torch.get_rng_state().numpy().tobytes()


@pytest.mark.slow
def test_a_dropped_layer_has_gradients_of_zero(tmp_path: Path) -> None:
    import torch

    net = made_net(_fixed(tmp_path, CONTINUE)).train()
    net.rate = 1.1
    torch._dynamo.reset()
    torch.compile(net, backend="eager")(torch.ones(2, 3, requires_grad=True)).sum().backward()
    assert all((one.grad == 0).all() for one in net.parameters())
