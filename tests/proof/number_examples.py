"""Examples of numbers that Python computes with between the read and the tensors they meet."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example

from .read_examples import declined, safe, unsafe


def _kept(title: str, body: str) -> Bad:
    """A safe fix that puts ``.detach()`` in the place of every ``.item()``."""
    return safe(title, body, body.replace(".item()", ".detach()"))


def _changed(title: str, body: str) -> Bad:
    """The same for an unsafe fix."""
    return unsafe(title, body, body.replace(".item()", ".detach()"))


ARITHMETIC: tuple[Example, ...] = (
    _kept("one product", "y = x.float()|n = y.sum().item()|m = n * 2|return y / m"),
    _kept("one difference", "y = x.float()|n = y.sum().item()|return y * (1 - n)"),
    _kept("half of it", "y = x.float()|return y - y.sum().item() / 2"),
    _kept("a square", "y = x.float()|return y - y.sum().item() ** 2"),
    _kept("a negation", "y = x.float()|return y + -y.sum().item()"),
    _kept("an absolute value", "y = x.float()|return y / abs(y.sum().item())"),
    _kept(
        "double precision throughout",
        "y = x.double()|n = y.sum().item()|m = (n * 0.1 + 1e-9) * 3|return y.reshape(-1) / m",
    ),
    _changed(
        "a sum over a loop in double precision",
        "y = x.double()|total = 0.0|for _ in range(3):|    total += y.sum().item()|    y = y * 2"
        "|return y.reshape(-1) + total",
    ),
    _kept(
        "a count",
        "n = (x > 0.5).sum().item()|left = 2 * (n + 1) - x.shape[0]|return x.float() * left",
    ),
    _kept("a count rounded down", "n = x.argmax().item() // 2 % 3|return x.float() * n"),
    _kept("two numbers", "y = x.float()|n = y.max().item() - y.min().item()|return y / n"),
    _kept(
        "two at once",
        "y = x.float()|a, b = y.max().item(), y.min().item()|return (y - b) / (a - b)",
    ),
    _kept("compared first", "y = x.float()|return y * (y.sum().item() > 0.5)"),
    _changed(
        "another number on another path",
        "y = x.float()|s = 1.0|if x.ndim:|    s = y.max().item()|return y * s",
    ),
    _changed(
        "either of two",
        "y = x.float()|s = y.max().item() if x.ndim else 1.0|return y * s",
    ),
    safe(
        "changed in place",
        "y = x.float().reshape(-1)|z = y[:1].sum()|n = z.item()|n += 1|return y * n, z",
        "y = x.float().reshape(-1)|z = y[:1].sum()|n = z.detach().clone()|n += 1|return y * n, z",
    ),
    safe(
        "replaced, and kept",
        "y = x.float()|n = y.sum().item()|old = n|n += 1|return y * n - old",
        "y = x.float()|n = y.sum().detach()|old = n|n = n + 1|return y * n - old",
    ),
    safe(
        "at least one",
        "n = (x > 0.5).sum().item()|return x.float() / max(1, n)",
        "n = (x > 0.5).sum().detach()|return x.float() / n.clamp(min=1)",
    ),
    safe(
        "at most",
        "y = x.float()|return y * min(y.sum().item(), 0.5)",
        "y = x.float()|return y * y.sum().detach().clamp(max=0.5)",
    ),
    safe(
        "converted although it is an integer",
        "n = int((x > 0.5).sum().item())|return x.float() / n",
        "n = (x > 0.5).sum().detach()|return x.float() / n",
    ),
    safe(
        "converted to a float",
        "n = float((x > 0.5).sum().item())|return x.float() / n",
        "n = (x > 0.5).sum().detach()|return x.float() / n",
    ),
    safe(
        "rounded although it is an integer",
        "n = (x > 0.5).sum().item()|return x.float() / round(n)",
        "n = (x > 0.5).sum().detach()|return x.float() / n",
    ),
    safe(
        "filled in",
        "y = x.float()|n = y.mean().item()|return y + torch.full(x.shape, n)",
        "y = x.float()|n = y.mean().detach()|return y + torch.full(x.shape, n)",
    ),
)

CHANGES: tuple[Example, ...] = (
    _changed("two roundings", "y = x.float()|n = y.sum().item()|return y / (n * 3 + 1)"),
    _changed(
        "a fraction that float32 does not hold", "y = x.float()|return y * (y.sum().item() * 0.1)"
    ),
    _changed("a third on a GPU", "y = x.float()|return y * (y.sum().item() / 3)"),
    _changed("a dtype that is not known", "n = x.sum().item()|m = n * 2|return x / m"),
    _changed("half precision", "y = x.half()|return y * (y.sum().item() + 1)"),
    _changed(
        "a wider tensor", "y = x.float()|return x.double().reshape(-1) * (y.sum().item() + 1)"
    ),
    _changed("a divisor", "y = x.float()|return y * (1.0 / y.sum().item())"),
    _changed("a mean of counts", "n = (x > 0.5).sum().item()|return x.float() * (n / x.shape[0])"),
    _changed("integers of any size", "n = x.long().sum().item()|return x.float() * (n + 1)"),
    _changed("a rounded number compared", "y = x.float()|return y * (y.sum().item() * 2 > 3)"),
    _changed(
        "a sum over a loop",
        "y = x.float()|total = 0.0|for _ in range(3):|    total += y.sum().item()|    y = y * 2"
        "|return y + total",
    ),
    unsafe(
        "replaced by a fraction",
        "n = (x > 0.5).sum().item()|n *= 0.5|return x.float() * n",
        "n = (x > 0.5).sum().detach()|n = n * 0.5|return x.float() * n",
    ),
    unsafe(
        "a root",
        "y = x.float()|r = math.sqrt(y.sum().item())|return y / r",
        "y = x.float()|r = torch.sqrt(y.sum().detach())|return y / r",
    ),
    unsafe(
        "at least nothing",
        "y = x.float()|return y * max(0.0, y.mean().item())",
        "y = x.float()|return y * y.mean().detach().clamp(min=0.0)",
    ),
    unsafe(
        "a bound that half precision rounds",
        "y = x.half()|return y * max(y.mean().item(), 0.1)",
        "y = x.half()|return y * y.mean().detach().clamp(min=0.1)",
    ),
    unsafe(
        "cut off",
        "y = x.float()|n = int(y.sum().item())|return y * n",
        "y = x.float()|n = y.sum().detach().trunc()|return y * n",
    ),
    unsafe(
        "rounded",
        "y = x.float()|n = round(y.sum().item())|return y * n",
        "y = x.float()|n = y.sum().detach().round()|return y * n",
    ),
)

ROWS: tuple[Example, ...] = (
    unsafe(
        "a row",
        "n = x[:, 0].argmax().item()|return x[n] * 2",
        "n = x[:, 0].argmax().detach()|return x[n.reshape(1)].squeeze(0) * 2",
    ),
    unsafe(
        "a column, from the end",
        "return x[:, -x[0].argmax().item() - 1] * 2",
        "return x[:, (-x[0].argmax().detach() - 1).reshape(1)].squeeze(1) * 2",
    ),
    unsafe(
        "a row that is kept",
        "y = x * 2|row = y[y[:, 0].argmax().item()]|return row",
        "y = x * 2|row = y[y[:, 0].argmax().detach().reshape(1)].squeeze(0)|return row",
    ),
    safe(
        "a bound of a slice that a number is stored into",
        "y = x.reshape(-1) * 2|n = (y > 1).sum().item()|y[:n] = 0|return y",
        "y = x.reshape(-1) * 2|n = (y > 1).sum().detach()"
        "|inside = torch.arange(y.shape[0], device=y.device) < n|y[inside] = 0|return y",
    ),
    safe(
        "a bound that is read in the slice",
        "y = x.reshape(-1) * 2|y[: int((y > 1).sum().item())] = 0|return y",
        "y = x.reshape(-1) * 2"
        "|inside = torch.arange(y.shape[0], device=y.device) < (y > 1).sum().detach()"
        "|y[inside] = 0|return y",
    ),
    unsafe(
        "a row by a converted number",
        "return x[int(x[:, 0].argmax().item())] * 2",
        "return x[x[:, 0].argmax().detach().reshape(1)].squeeze(0) * 2",
    ),
    declined("a row of a list", "y = [x, x]|return y[x.argmax().item() % 2]", "indexes"),
    declined("an element", "n = x[0].argmax().item()|return x[0, n] * 2", "indexes"),
    declined("a row that is written", "n = x[:, 0].argmax().item()|x[n] = 2|return x", "indexes"),
    declined("a row by a number of unknown kind", "return x[x[0, 0].item()]", "integer"),
)

DECLINED: tuple[Example, ...] = (
    declined("bits", "n = (x > 0.5).sum().item()|return x * (n << 1)", "takes no 0-d tensor"),
    declined("digits", "return x * round(x.mean().item(), 2)", "needs a Python number"),
    declined(
        "computed, then a branch", "n = x.sum().item() * 2|return x if n > 3 else -x", "branch"
    ),
    declined(
        "computed, then a size", "n = x.argmax().item() + 1|return x.new_zeros(n)", "known to"
    ),
    declined(
        "a call that another path needs",
        "y = x.float()|s = 4.0|if x.ndim:|    s = y.sum().item()|return y * math.sqrt(s)",
        "on all paths",
    ),
    declined(
        "a bound that small integers do not hold",
        "y = (x * 9).to(torch.uint8)|return x.float() * max(y.max().item(), 300)",
        "may not fit",
    ),
    declined(
        "two numbers in one call",
        "y = x.float()|a = y.sum().item()|return y * max(a, a * 2)",
        "in one call",
    ),
    declined(
        "changed in place by a tensor", "n = x.max().item()|n = n + 0|n += x|return n", "in place"
    ),
    declined(
        "with something unknown", "return x * (x.sum().item() + logger.level)", "not known to be"
    ),
)

NUMBERS: dict[str, tuple[Example, ...]] = {"TCL101": ARITHMETIC + CHANGES + ROWS + DECLINED}
