"""More examples for the rules about branches on tensors."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Untouched

NEGATIVE = "(-torch.ones(4, 3),)"


def _function(body: str, arguments: str = "x") -> str:
    lines = "\n".join(f"    {line}" for line in body.split("|"))
    return f"\ndef f({arguments}):\n{lines}\n    return x * 2\n"


def _asserted(title: str, check: str, compiled: str, arguments: str = "x") -> Bad:
    """A check that raises, and what stands for it in compiled code; lines parted by ``|``."""
    lines = check.split("|")
    eager = "|".join(f"    {line}" for line in lines)
    fixed = f"if torch.compiler.is_compiling():|{compiled}|else:|{eager}"
    return Bad(
        _function(check, arguments),
        fixed=_function(fixed, arguments),
        proves=("GB0170",),
        fails_on=NEGATIVE,
        title=title,
    )


def _kept(title: str, body: str, reason: str, arguments: str = "x") -> Untouched:
    return Untouched(_function(body, arguments), reason, proves=("GB0170",), title=title)


GUARDS: tuple[Example, ...] = (
    _asserted(
        "a negation behind a flag",
        "if limit and not (x >= 0).all():|    raise ValueError(f'{limit} of {x.min()}')",
        '    if limit:|        torch._assert_async((x >= 0).all(), "{limit} of {x.min()}")',
        "x, limit=3",
    ),
    _asserted(
        "two flags",
        "if x.ndim == 2 and limit and x.min() < 0:|    raise RuntimeError",
        "    if x.ndim == 2 and limit:"
        "|        torch._assert_async(torch.logical_not(x.min() < 0), "
        '"RuntimeError: x.ndim == 2 and limit and x.min() < 0")',
        "x, limit=3",
    ),
    _asserted(
        "either of two",
        "if x.isnan().any() or not (x >= 0).all():|    raise ValueError('bad ' 'numbers')",
        '    torch._assert_async(torch.logical_not(x.isnan().any()), "bad numbers")'
        '|    torch._assert_async((x >= 0).all(), "bad numbers")',
    ),
    _asserted(
        "statements before it raises",
        "if (x < 0).any():  # check|    least = x.min()|    raise ValueError(f'{least}')",
        '    torch._assert_async(torch.logical_not((x < 0).any()), "{least}")',
    ),
    _kept("an else", "if (x < 0).any():|    raise ValueError|else:|    x = x + 1", "an `else`"),
    _kept(
        "two tensors at once",
        "if x.isnan().any() and x.isinf().any():|    raise ValueError",
        "joins tensors",
    ),
    _kept(
        "a flag that may decide alone",
        "if limit < 0 or x.isnan().any():|    raise ValueError",
        "not certainly a tensor",
        "x, limit=3",
    ),
    _kept("one element", "if x[:1, :1] < 0:|    raise ValueError", "without dimensions"),
    _kept("a chain", "if 2 < x.sum() < 3:|    raise ValueError", "chain"),
)

BRANCHES: dict[str, tuple[Example, ...]] = {"TCL165": GUARDS}
