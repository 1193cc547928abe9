"""Rows in groups whose sizes a tensor holds: compiled code computes all rows for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.lint.rule import PRELUDE
from tests.fixed_nets import fixed_net, made_net

if TYPE_CHECKING:
    from pathlib import Path

EXPERTS = """
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 5, 4))
        self.count = 3

    def forward(self, inputs, sizes):
        parts = inputs.split(sizes, dim=0)
        outs = []
        for i in range(self.count):
            outs.append(F.linear(parts[i], self.weight[i]))
        result = torch.cat(outs, dim=0)
        return result
"""
ROUTER = """
class Router(nn.Module):
    def forward(self, picked):
        gates = torch.zeros(picked.shape[0], 3).scatter(1, picked[:, None], 1)
        sizes = gates.long().sum(0)
        sizes = sizes.tolist()
        _, order = picked.sort(0)
        return order, sizes, gates
"""
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.router, self.experts = Router(), Experts()

    def forward(self, x: torch.Tensor, picked: torch.Tensor):
        order, sizes, _ = self.router(picked)
        return self.experts(x[order], sizes)
"""
IN_A_TUPLE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.router, self.experts = Router(), Experts()

    def map(self, x, picked):
        order, sizes, _ = self.router(picked)
        info = (order, sizes)
        return self.experts(x[order], sizes), info

    def reduce(self, x, info):
        order, sizes = info
        return self.experts(x, sizes=sizes)

    def forward(self, x: torch.Tensor, picked: torch.Tensor):
        y, info = self.map(x, picked)
        return y + self.reduce(x[info[0]], info)
"""
ALONE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 4, 5))

    def forward(self, x: torch.Tensor, picked: torch.Tensor):
        gates = torch.zeros(6, 3).scatter(1, picked[:, None], 1)
        sizes = gates.long().sum(0).tolist()
        pieces = x.split(sizes)
        made = []
        for number in range(3):
            made.append(pieces[number] @ self.weight[number])
        y = torch.cat(made)
        return y * 2
"""
PASSED_ON = ROUTER + EXPERTS + NET
FOLLOWED = {"passed on": PASSED_ON, "in a tuple": ROUTER + EXPERTS + IN_A_TUPLE, "alone": ALONE}


def _with(code: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in code
        code = code.replace(old, new)
    return code


CALL = "return self.experts(x[order], sizes)"
ROUTED = "self.router(picked)"
UNPACKED = f"order, sizes, _ = {ROUTED}"
AT = " " * 8
MADE = "        outs = []"
LEFT = {
    "counted too": _with(PASSED_ON, (CALL, f"{CALL}, len(sizes)")),
    "read in the loop": _with(PASSED_ON, ("self.weight[i]))", "self.weight[i]) * sizes[i])")),
    "rows mixed": _with(PASSED_ON, ("F.linear(parts[i], self.weight[i])", "parts[i].cumsum(0)")),
    "a bias of the part": _with(PASSED_ON, ("weight[i])", "weight[i], parts[i].mean(0)[:1])")),
    "parts kept": _with(PASSED_ON, ("return result", "return result, parts[0]")),
    "split by columns": _with(PASSED_ON, ("sizes, dim=0)", "sizes, dim=1)")),
    "joined otherwise": _with(PASSED_ON, ("torch.cat(outs, dim=0)", "torch.cat(outs, dim=1)")),
    "a list from elsewhere": _with(PASSED_ON, (CALL, f"{CALL} + self.experts(x, [2, 2, 2])")),
    "sizes of floats": _with(PASSED_ON, ("gates.long().sum(0)", "gates.sum(0)")),
    "names taken": _with(PASSED_ON, (MADE, f"        groups = 1\n{MADE}")),
    "assigned again": _with(PASSED_ON, (CALL, f"sizes = sizes if x.ndim < 3 else [6]\n{AT}{CALL}")),
    "starred": _with(PASSED_ON, (UNPACKED, f"order, *rest = {ROUTED}\n{AT}sizes = rest[0]")),
    "starred argument": _with(PASSED_ON, ("(x[order], sizes)", "(*(x[order], sizes))")),
    "from behind": _with(PASSED_ON, (UNPACKED, f"y = {ROUTED}\n{AT}order, sizes = y[0], y[-2]")),
    "given to the caller": ROUTER,
    "another order": _with(PASSED_ON, ("range(self.count)", "range(self.count - 1, -1, -1)")),
}  # fmt: skip


def _fixed(folder: Path, code: str, *, unsafe: bool = True) -> str:
    return fixed_net(folder, code, "TCL103", unsafe=unsafe)


@pytest.mark.parametrize("code", FOLLOWED.values(), ids=FOLLOWED)
def test_the_sizes_stay_on_the_device(code: str, tmp_path: Path) -> None:
    fixed = _fixed(tmp_path, code)
    assert fixed.count("if torch.compiler.is_compiling() else") == 1
    assert fixed.count("torch.searchsorted(") == 1
    assert "is_compiling" not in _fixed(tmp_path, code, unsafe=False)


@pytest.mark.parametrize("code", LEFT.values(), ids=LEFT)
def test_other_splits_are_left_alone(code: str, tmp_path: Path) -> None:
    assert "searchsorted" not in _fixed(tmp_path, code)


@pytest.mark.slow(20)
@pytest.mark.parametrize("code", FOLLOWED.values(), ids=FOLLOWED)
def test_one_graph_gives_what_eager_code_gave(code: str, tmp_path: Path) -> None:
    import torch

    before, after = made_net(PRELUDE + code), made_net(_fixed(tmp_path, code))
    torch._dynamo.reset()
    graphs: list[Any] = []
    whole = torch.compile(
        after, backend=lambda graph, _: graphs.append(graph) or graph, dynamic=False
    )
    for picked in ([0, 1, 2, 0, 1, 2], [2, 2, 2, 2, 2, 2], [1, 0, 0, 0, 0, 1], [0, 2, 0, 2, 2, 0]):
        x = torch.randn(6, 4)
        results = [one(x, torch.tensor(picked)) for one in (before, after, whole)]
        assert torch.equal(results[0], results[1])
        torch.testing.assert_close(results[2], results[0])
        gradients = [
            _gradients(net, y) for net, y in zip((before, after, after), results, strict=True)
        ]
        torch.testing.assert_close(gradients[1], gradients[0])
        torch.testing.assert_close(gradients[2], gradients[0])
    assert len(graphs) == 1


def _gradients(net: Any, result: Any) -> list[Any]:
    import torch

    return [*torch.autograd.grad(result.square().sum(), [*net.parameters()])]
