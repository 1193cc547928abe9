"""More examples for tensors as bounds of slices that numbers are stored into."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Untouched

_INPUTS = "(torch.rand(2, 4, 4), torch.tensor([1, 3]))"


def _function(body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.split("|"))
    return f"\ndef f(x, n: torch.Tensor):\n    y = x * 2\n{lines}\n    return y\n"


def _unsafe(title: str, before: str, after: str) -> Bad:
    """An unsafe fix; the statements between ``y = x * 2`` and ``return y``, parted by ``|``."""
    return Bad(_function(before), _INPUTS, unsafe=_function(after), proves=("GB0124",), title=title)


def _kept(title: str, body: str, reason: str = "mask what lies outside") -> Untouched:
    return Untouched(_function(body), reason, _INPUTS, proves=("GB0124",), title=title)


def _places(dimension: int) -> str:
    return f"torch.arange(y.shape[{dimension}], device=y.device)"


STORED: tuple[Example, ...] = (
    _unsafe(
        "up to a bound in a loop",
        "for i in range(2):|    y[i, : n[i]] = 1  # known",
        f"for i in range(2):|    inside = {_places(1)} < n[i]  # known|    y[i, inside] = 1",
    ),
    _unsafe(
        "from a bound on",
        "y[..., n[0] :, :] = 0.5",
        f"inside = {_places(-2)} >= n[0]|y[..., inside, :] = 0.5",
    ),
    _unsafe(
        "beside a slice of known length",
        "y[1:, n[0] : n[1]] = True",
        f"inside = {_places(1)}|inside = (inside >= n[0]) & (inside < n[1])|y[1:, inside] = True",
    ),
    _unsafe(
        "a block of the diagonal",
        "y[..., n[0] : n[1], n[0] : n[1]] = 0",
        f"rows = {_places(-2)}|rows = (rows >= n[0]) & (rows < n[1])"
        f"|columns = {_places(-1)}|columns = (columns >= n[0]) & (columns < n[1])"
        "|y[..., rows[:, None] & columns] = 0",
    ),
    _unsafe(
        "where the variable's name is taken",
        "inside = x.sum()|y[0, : n[0]] = 1|y += inside",
        f"inside = x.sum()|inside_ = {_places(1)} < n[0]|y[0, inside_] = 1|y += inside",
    ),
    _kept("a tensor is stored", "y[:, : n[0]] = x[:, : n[0]]"),
    _kept("added to", "y[:, : n[0]] += 1"),
    _kept("every second one", "y[:, : n[1] : 2] = 1"),
    _kept("two slices apart", "y[: n[0], :, : n[1]] = 1"),
    _kept("an index that is a tensor", "y[n[0], : n[1]] = 1"),
    _kept("a tensor without a name", "y.view(-1)[: n[0]] = 1"),
    _kept("two places", "y[0, : n[0]] = y[1, : n[0]] = 1"),
    _kept("another axis is put in", "y[None, :, : n[0]] = 1"),
)

SLICES: dict[str, tuple[Example, ...]] = {"TCL106": STORED}
