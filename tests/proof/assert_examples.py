"""More examples for the rules about asserts on tensors."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Good, Untouched

NAN = '(torch.tensor([1.0, float("nan")]),)'
NEGATIVE = "(-torch.ones(4, 3),)"


def _function(body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.split("|"))
    return f"\ndef f(x: torch.Tensor):\n{lines}\n    return x * 2\n"


def safe(title: str, before: str, after: str, fails_on: str, gb_id: str = "GB0170") -> Bad:
    """An example with a safe fix; the statements before ``return``, parted by ``|``."""
    return Bad(
        _function(before),
        fixed=_function(after),
        proves=(gb_id,),
        fails_on=fails_on,
        title=title,
    )


def declined(title: str, body: str, reason: str, gb_id: str = "GB0170") -> Untouched:
    """An example that is left alone."""
    return Untouched(_function(body), reason, proves=(gb_id,), title=title)


NOT: tuple[Example, ...] = (
    safe(
        "a number of elements",
        "assert not (x < 0).sum()",
        "assert torch.logical_not((x < 0).sum())",
        NEGATIVE,
    ),
    safe(
        "with a message",
        'assert not x.isnan().any(), "nan"  # always',
        'assert torch.logical_not(x.isnan().any()), "nan"  # always',
        NAN,
    ),
    safe(
        "a single comparison",
        "assert not x.min() == -1",
        "assert x.min() != -1",
        NEGATIVE,
    ),
    safe(
        "an order, which NaN has none of",
        "assert not (x < 0).any()",
        "assert torch.logical_not((x < 0).any())",
        NEGATIVE,
    ),
    Good(_function("assert not x.shape[0] > 9")),
)

OPERATOR: tuple[Example, ...] = (
    safe(
        "three conditions",
        "assert x.ndim == 2 and (x > 0).all() and x.shape[0] == 4",
        "assert x.ndim == 2|assert (x > 0).all()|assert x.shape[0] == 4",
        f"[{NEGATIVE}, (torch.ones(3),), (torch.ones(3, 3),)]",
    ),
    Bad(
        _function("assert not ((x < 0).any() or (x > 9).any())"),
        fixed=_function(
            "assert torch.logical_not((x < 0).any())|assert torch.logical_not((x > 9).any())"
        ),
        proves=("GB0170",),
        fails_on=f"[{NEGATIVE}, (torch.ones(3) * 10,)]",
        title="a negated alternative",
    ),
    safe(
        "alternatives that are counts",
        "assert (x > 0).sum() or (x < -9).sum()",
        "assert torch.logical_or((x > 0).sum(), (x < -9).sum())",
        NEGATIVE,
    ),
    declined(
        "an alternative that is no tensor",
        "assert (x > 0).all() or x.shape[0] == 4",
        "not certainly a tensor",
    ),
    safe(
        "a negated chain",
        "assert not 5 < x.max() < 9",
        "assert torch.logical_not((5 < x.max()) & (x.max() < 9))",
        "(torch.ones(3) * 6,)",
    ),
    safe(
        "elements of which none, or not all, may differ",
        'assert not (x != x.clone()).any() and not (x == -1).all(), "bad"',
        'assert (x == x.clone()).all(), "bad"|assert (x != -1).any(), "bad"',
        f"[{NEGATIVE}, {NAN}]",
    ),
    safe(
        "a mixture and a computed message",
        'assert (x >= 0).all() and not ((x > 9).any() or (x == 5).all()), f"bad {x.min()}"',
        "if torch.compiler.is_compiling():"
        '|    assert (x >= 0).all(), "bad `x.min()`"'
        '|    assert torch.logical_not((x > 9).any()), "bad `x.min()`"'
        '|    assert (x != 5).any(), "bad `x.min()`"'
        "|else:"
        '|    assert (x >= 0).all() and not ((x > 9).any() or (x == 5).all()), f"bad {x.min()}"',
        f"[{NEGATIVE}, (torch.ones(3) * 10,), (torch.ones(3) * 5,)]",
    ),
    declined("a random middle of a chain", "assert 0 <= torch.rand_like(x).min() < 2", "twice"),
    declined(
        "in a try",
        "try:|    assert (x > 0).all() and (x < 9).all()|except AssertionError:|    x = x + 1",
        "RuntimeError",
    ),
    Good(_function("assert x.ndim == 2 or (x > 0).all()")),
)

READ: tuple[Example, ...] = (
    Bad(
        _function("assert not (x < 0).any().item()"),
        fixed=_function("assert torch.logical_not((x < 0).any())"),
        proves=("GB0124",),
        fails_on=NEGATIVE,
        title="a negated number",
    ),
    safe(
        "a count and a size",
        "assert (x > 0).sum().item() == x.numel()",
        "assert (x > 0).sum() == x.numel()",
        NEGATIVE,
        "GB0124",
    ),
    declined("a fraction cut off", "assert int(x.sum()) == 12", "cuts the fraction", "GB0124"),
    Bad(
        _function("assert torch.equal(x, x.round())"),
        unsafe=_function("assert (x == x.round()).all()"),
        proves=("GB0033",),
        title="torch.equal",
    ),
    safe(
        "torch.is_nonzero",
        "assert torch.is_nonzero((x > 0).sum())",
        "assert (x > 0).sum()",
        NEGATIVE,
        "GB0033",
    ),
)

MESSAGE: tuple[Example, ...] = tuple(
    safe(
        title,
        f"assert (x > 0).all(), {message}",
        "if torch.compiler.is_compiling():"
        f"|    assert (x > 0).all(), {literal}"
        f"|else:|    assert (x > 0).all(), {message}",
        NEGATIVE,
    )
    for title, message, literal in (
        ("percent", '"bad %s" % (x.shape,)', '"bad `x.shape`"'),
        (
            "percent and keys",
            '"%(rate).0f%% of %(n)s" % {"n": x.sum(), "rate": 1}',
            '"1% of `x.sum()`"',
        ),
        ("too few for percent", '"%s in x, %d" % x.shape[:2]', '"`x.shape[:2]` in x, ..."'),
        ("format", '"bad {}".format(x.shape)', '"bad `x.shape`"'),
        ("format by names", '"{0} in {name!r:>9}".format(x.sum(), name=1)', '"`x.sum()` in 1"'),
        (
            "format by attributes",
            '"bad {0.shape} {more}".format(x, **{"more": 1})',
            '"bad `x` ..."',
        ),
        ("a template that is none", '"bad }".format(x)', '"assertion failed: (x > 0).all()"'),
        ("a call", "str(x.shape)", '"assertion failed: (x > 0).all()"'),
        ("added up", '"bad: " + str(x.min().item())', '"bad: `x.min()`"'),
        ("added to a variable", '"bad: " + x', '"assertion failed: (x > 0).all()"'),
        ("a list", '["bad", x.shape]', '"assertion failed: (x > 0).all()"'),
        ("a dollar", 'f"${x.shape}: bad"', r'"\x24`x.shape`: bad"'),
        ("quotes", 'f"it\'s {x.shape}"', '"it\'s `x.shape`"'),
        ("a quoted value", 'f"bad `{x.shape}`"', '"bad `x.shape`"'),
        (
            "a long value",
            'f"bad {[float(row.sum()) for row in x if row.sum() > 100]}"',
            '"bad ..."',
        ),
        ("a value that is named", 'f"bad shape: {x.shape}, {x.ndim=}"', '"bad shape"'),
        ("no words", 'f"{x.min()} {x.max()}"', '"assertion failed: (x > 0).all()"'),
    )
)

ASSERTS: dict[str, tuple[Example, ...]] = {
    "TCL110": NOT,
    "TCL111": OPERATOR,
    "TCL112": READ,
    "TCL113": MESSAGE,
}
