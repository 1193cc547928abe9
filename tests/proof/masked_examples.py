"""Examples of stores by a mask that read by the same mask."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Untouched

INPUTS = "[(torch.linspace(-2, 3, 12).reshape(4, 3),), (torch.full((2,), torch.nan),)]"
BREAK = ("GB0036",)


def _function(body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.split("|"))
    return f"\ndef f(x):\n{lines}\n    return y\n"


def _chosen(title: str, start: str, store: str, where: str) -> Bad:
    code, fixed = _function(f"{start}|{store}"), _function(f"{start}|{where}")
    return Bad(code, INPUTS, fixed=fixed, proves=BREAK, title=title)


def _unsure(title: str, body: str, *stores: tuple[str, str]) -> Bad:
    found, fixed = (_function(body.format(*one)) for one in zip(*stores, strict=True))
    return Bad(found, INPUTS, unsafe=fixed, proves=BREAK, title=title)


def _kept(title: str, body: str, reason: str) -> Untouched:
    return Untouched(_function(body), reason, INPUTS, proves=BREAK, title=title)


FLOATS = "y = x.float() * 2"
SPLIT = "if torch.compiler.is_compiling() and y.is_floating_point():|    {}|else:|    {}"

MASKED: tuple[Example, ...] = (
    _chosen(
        "moved by a mask",
        "y = torch.zeros_like(x)|m = x > 1",
        "y[m] = x[m]",
        "y.copy_(torch.where(m, x, y))",
    ),
    _chosen(
        "moved by a mask of several conditions",
        "y = x.clone()|m = ~((x >= -1) & (x <= 1))",
        "y[m] = x[m]",
        "y.copy_(torch.where(m, x, y))",
    ),
    _chosen(
        "computed",
        FLOATS,
        "y[y > 1] = torch.clamp(1 - y[y > 1] / 2, max=3)",
        "y.copy_(torch.where(y > 1, torch.clamp(1 - y / 2, max=3), y))",
    ),
    _chosen(
        "a tensor of any dtype",
        "y = x * 2",
        "y[y > 1] -= 3",
        SPLIT.format("y.copy_(torch.where(y > 1, y - 3, y))", "y[y > 1] -= 3"),
    ),
    Bad(
        _function(FLOATS + "|y[y > 1] = torch.exp(y[y > 1])"),
        INPUTS,
        unsafe=_function(FLOATS + "|y.copy_(torch.where(y > 1, torch.exp(y), y))"),
        proves=BREAK,
        title="a gradient that may be NaN",
    ),
    _chosen(
        "a count is added",
        FLOATS,
        "y[y > 1] -= torch.argmax(y)",
        "y.copy_(torch.where(y > 1, y - torch.argmax(y), y))",
    ),
    _unsure(
        "a tensor without dimensions is added, and another one",
        FLOATS + "|w = x.float().sum()|{}|{}",
        ("y[y > 1] += w", "y.copy_(torch.where(y > 1, y + w, y))"),
        ("y[y < 0] = y[y < 0] - w", "y.copy_(torch.where(y < 0, y - w, y))"),
    ),
    _kept("a tensor with dimensions is added", FLOATS + "|y[y > 1] += x[:1, 0]", "a number"),
    _kept("a product with a tensor", FLOATS + "|y[y > 1] *= x.float().sum()", "a number"),
    _kept("taken from a tensor", FLOATS + "|y[y > 1] = x.float().sum() - y[y > 1]", "a number"),
    _kept("a sum that is written first", FLOATS + "|y[y > 1] += y.sum().add_(1)", "a number"),
    _kept("two tensors", FLOATS + "|z = y * 2|y[y > 1] = y[y > 1] + z[y > 1]", "more than one"),
    _kept("a mask that writes", FLOATS + "|y[(y > 1).logical_not_()] *= 2", "boolean tensor"),
    _kept("a tensor of the caller", "y = x|y[y > 1] *= 2", "from outside"),
    _kept("a view", "y = x.view(-1)|y[y > 1] *= 2", "from outside"),
    _kept("a mask of another tensor", FLOATS + "|m = x.flip(0) > 1|y[m] *= 2", "another shape"),
    _kept("a mask of before", FLOATS + "|m = y > 1|y = y * 1|y[m] *= 2", "another shape"),
    _kept("a mask of some rows", FLOATS + "|y[y.sum(-1) > 1] *= 2", "another shape"),
    _kept(
        "a tensor that is reshaped",
        FLOATS + "|y.unsqueeze_(0)|m = y > 1|y.squeeze_(0)|y[m[0]] *= 2",
        "another shape",
    ),
    _kept("in a loop", FLOATS + "|for _ in range(2):|    y[y > 1] *= 2", "another shape"),
    _kept("another dtype", "y = x * 2|y[x > 1] = x[x > 1] * 3", "other types"),
    _kept("a product of rows", FLOATS + "|y[y > 1] = y[y > 1].cumsum(0)", "may raise"),
    _kept("read for more", FLOATS + "|z = y[y > 1]|y[0] = z.sum()", "torch.where(mask"),
)
