"""More examples for the rules about branches on tensors."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Untouched

NEGATIVE = "(-torch.ones(4, 3),)"


def _function(body: str, arguments: str = "x") -> str:
    lines = "\n".join(f"    {line}" for line in body.split("|")).replace("~", "|")
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
        "    if limit:|        torch._assert_async((x >= 0).all(), '`limit` of `x.min()`')",
        "x, limit=3",
    ),
    _asserted(
        "two flags",
        "if x.ndim == 2 and limit and x.min() < 0:|    raise RuntimeError",
        "    if x.ndim == 2 and limit:"
        "|        torch._assert_async("
        "|            torch.logical_not(x.min() < 0),"
        '|            "RuntimeError: x.ndim == 2 and limit and x.min() < 0",|        )',
        "x, limit=3",
    ),
    _asserted(
        "either of two",
        "if x.isnan().any() or not (x >= 0).all():|    raise ValueError('bad ' 'numbers')",
        "    torch._assert_async(torch.logical_not(x.isnan().any()), 'bad ' 'numbers')"
        "|    torch._assert_async((x >= 0).all(), 'bad ' 'numbers')",
    ),
    _asserted(
        "statements before it raises",
        "if (x < 0).any():  # check|    least = x.min()|    raise ValueError(f'{least}')",
        "    torch._assert_async(torch.logical_not((x < 0).any()), 'ValueError: (x < 0).any()')",
    ),
    _asserted(
        "a comparison that has an opposite",
        "if x.min() == -1:|    raise ValueError('-1')",
        "    torch._assert_async(x.min() != -1, '-1')",
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


def _layers(body: str, more: str = "") -> str:
    """A module with LayerDrop; the statements of its loop, parted by ``|``."""
    lines = "\n".join(f"            {line}" for line in body.split("|"))
    return f"""
import random


class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.layerdrop = 0.0{more}

    def forward(self, x, synced=False):
        for layer in self.layers:
{lines}
            x = layer(x)
        return x
"""


def _dropped(title: str, before: str, after: str) -> Bad:
    return Bad(_layers(before), fixed=_layers(after), proves=("GB0170", "GB7000"), title=title)


def _still_dropped(title: str, body: str, reason: str, more: str = "") -> Untouched:
    return Untouched(_layers(body, more), reason, proves=("GB0170",), title=title)


DROPS: tuple[Example, ...] = (
    Bad(
        _layers("if self.training and torch.rand([]) < self.layerdrop:|    continue"),
        unsafe=_layers(
            "if self.training and self.layerdrop != 0.0 and torch.rand([]) < self.layerdrop:"
            "|    continue"
        ),
        proves=("GB0170", "GB7000"),
        title="a test that draws",
    ),
    _still_dropped(
        "a rate that a function finds",
        "p = torch.rand([])|if p < self.rate():|    continue",
        "more than give a number",
        "\n\n    def rate(self):\n        return self.layerdrop",
    ),
    _dropped(
        "a test of both",
        "p = torch.rand([])|if self.training and (p < self.layerdrop):  # skip|    continue",
        "p = torch.rand([])|if self.training and self.layerdrop != 0.0 and p < self.layerdrop:"
        "  # skip|    continue",
    ),
    _dropped(
        "a test of three",
        "p = torch.rand([])|if self.training and p < self.layerdrop and x.ndim:|    continue",
        "p = torch.rand([])|if self.training and self.layerdrop != 0.0 and p < self.layerdrop "
        "and x.ndim:|    continue",
    ),
    _dropped(
        "the rate first",
        "p = torch.rand([])|if self.layerdrop > p:|    continue",
        "p = torch.rand([])|if self.layerdrop != 0.0 and self.layerdrop > p:|    continue",
    ),
    _dropped(
        "a variable between",
        "p = torch.rand([])|skip = self.training and p < self.layerdrop"
        "|if not skip or synced:|    x = x + 1|if skip:|    x = x - 1",
        "p = torch.rand([])|skip = self.training and self.layerdrop != 0.0 and p < self.layerdrop"
        "|if not skip or synced:|    x = x + 1|if skip:|    x = x - 1",
    ),
    _dropped(
        "a variable that is off otherwise",
        "skip = False|if self.training:|    p = torch.rand([])|    skip = p < self.layerdrop"
        "|if not skip or synced:|    x = x + 1|if skip:|    x = x - 1",
        "skip = False|if self.training:|    p = torch.rand([])"
        "|    skip = self.layerdrop != 0.0 and p < self.layerdrop"
        "|if not skip or synced:|    x = x + 1|if skip:|    x = x - 1",
    ),
    _dropped(
        "a number of Python's",
        "p = random.uniform(0, 1)|if self.training and p < self.layerdrop:|    continue",
        "p = random.uniform(0, 1)|if self.training and self.layerdrop != 0.0 "
        "and p < self.layerdrop:|    continue",
    ),
    _still_dropped(
        "a rate that is not off",
        "p = torch.rand([])|if p < 0.1:|    continue",
        "torch.where",
    ),
    _still_dropped(
        "a rate that is a tensor",
        "p = torch.rand([])|if p < self.rate:|    continue",
        "is a tensor itself",
        '\n        self.register_buffer("rate", torch.tensor(0.0))',
    ),
    _still_dropped(
        "a comparison the other way",
        "p = torch.rand([])|if p <= self.layerdrop:|    continue",
        "torch.where",
    ),
    _still_dropped(
        "a number that may be negative",
        "p = torch.randn([])|if p < self.layerdrop:|    continue",
        "torch.where",
    ),
    _still_dropped(
        "a result that is used",
        "p = torch.rand([])|skip = p < self.layerdrop|x = x * skip|if skip:|    continue",
        "more than its truth",
    ),
)

WAYS = "[(torch.ones(4, 3),), (-torch.ones(4, 3),)]"


def _chosen(title: str, before: str, after: str, inputs: str = WAYS) -> Bad:
    """A branch on a floating-point tensor ``x`` that becomes ``torch.where``."""
    start = "x = x.float() * 1.5|"
    fixed = _function(start + after)
    code = _function(start + before)
    return Bad(code, inputs, fixed=fixed, proves=("GB0170", "host-sync"), title=title)


def _chosen_unsafely(title: str, before: str, after: str) -> Bad:
    return Bad(
        _function(before),
        WAYS,
        unsafe=_function(after),
        proves=("GB0170", "host-sync"),
        title=title,
    )


def _for_floats(title: str, before: str, compiled: str) -> Bad:
    """A branch on a tensor of which the dtype is not known."""
    test = "if torch.compiler.is_compiling() and x.is_floating_point():"
    kept = "|".join(f"    {line}" for line in before.split("|"))
    fixed = _function(f"{test}|{compiled}|else:|{kept}")
    inputs = f"{WAYS[:-1]}, (torch.full((2, 2), torch.inf),)]"
    return Bad(_function(before), inputs, fixed=fixed, proves=("GB0170",), title=title)


def _branch(title: str, body: str, reason: str, arguments: str = "x") -> Untouched:
    return Untouched(_function(body, arguments), reason, WAYS, proves=("GB0170",), title=title)


CHOICES: tuple[Example, ...] = (
    Untouched(
        "\ndef f(x):\n    low = x.min() < 0 or x.max() < 1\n    return x * 2, low\n",
        reason="`|`",
        proves=("GB0170", "host-sync"),
        title="an operator",
    ),
    Untouched(
        "\ndef f(x):\n    y = x * 2\n    m = not y.any()\n    return y, m\n",
        reason="torch.logical_not",
        proves=("GB0033", "host-sync"),
        title="a negation",
    ),
    _chosen(
        "a number that is assigned again before it is read",
        "for n in [1]:|    if x.sum() > 0:|        k = 2|        x = x * k|    k = n|    x = x + k",
        "for n in [1]:|    k = 2|    x = torch.where(x.sum() > 0, x * k, x)"
        "|    k = n|    x = x + k",
    ),
    _chosen(
        "a result of its own that is written in place",
        "y = x * 1|if x.sum() > 0:|    y = y * 2|y += 1|x = y + x",
        "y = x * 1|y = torch.where(x.sum() > 0, y * 2, y)|y += 1|x = y + x",
    ),
    _chosen(
        "either of two tests",
        "if torch.isinf(x).any() or torch.isnan(x).any():|    x = torch.clamp(x, min=-9, max=9)",
        "x = torch.where(|    torch.isinf(x).any() ~ torch.isnan(x).any(),"
        "|    torch.clamp(x, min=-9, max=9),|    x,|)",
        "[(torch.ones(3),), (torch.full((2,), torch.inf),), (torch.full((2,), torch.nan),)]",
    ),
    _chosen(
        "both ways assign",
        "if x.sum() > 0:|    y = x * 2|else:|    y = x - 1|x = y",
        "y = torch.where(x.sum() > 0, x * 2, x - 1)|x = y",
    ),
    _chosen(
        "a conditional expression",
        "y = F.relu(x) if x.sum() > 0 else -x|x = y",
        "y = torch.where(x.sum() > 0, F.relu(x), -x)|x = y",
    ),
    _chosen(
        "in a loop",
        "for k in range(3):|    x = x * 2 if x.sum() < k else x",
        "for k in range(3):|    x = torch.where(x.sum() < k, x * 2, x)",
    ),
    _chosen(
        "under a test of its dtype",
        "if x.dtype == torch.float32:|    if (x < 0).any():  # rare|        x = x / 2",
        "if x.dtype == torch.float32:|    x = torch.where((x < 0).any(), x / 2, x)  # rare",
    ),
    _for_floats(
        "a dtype that is not known",
        "if x.sum() > 0:|    x = x * 2",
        "    x = torch.where(x.sum() > 0, x * 2, x)",
    ),
    _for_floats(
        "a dtype that is not known behind a flag",
        "if x.ndim == 2 and not torch.isfinite(x).all():"
        "|    most = 3  # large|    x = torch.clamp(x, min=-most, max=most)",
        "    if x.ndim == 2:|        most = 3  # large"
        "|        x = torch.where(torch.isfinite(x).all(), x, "
        "torch.clamp(x, min=-most, max=most))",
    ),
    _for_floats(
        "a dtype that is not known, and two ways",
        "if x.sum() > 0:|    y = x * 2|else:|    y = x - 1",
        "    y = torch.where(x.sum() > 0, x * 2, x - 1)",
    ),
    Untouched(
        _function(
            "if torch.compiler.is_compiling() and x.is_floating_point():|    x = -x"
            "|else:|    if x.sum() > 0:|        x = x * 2"
        ),
        reason="other tensors",
        inputs="(torch.ones(2, dtype=torch.int64),)",
        proves=("GB0170",),
        title="what is left for other tensors",
    ),
    _chosen_unsafely(
        "gradients that may be NaN",
        "x = x.float() * 1|if x.min() > 0:|    x = torch.log(x)",
        "x = x.float() * 1|x = torch.where(x.min() > 0, torch.log(x), x)",
    ),
    _chosen_unsafely(
        "a mask that may be empty",
        'x = x * 1|m = x < 0|if m.any():  # rare|    x[m] = float("-inf")',
        'x = x * 1|m = x < 0|x[m] = float("-inf")  # rare',
    ),
    _chosen_unsafely(
        "a mask whose elements are counted",
        "x = x * 1|m = x < 0|if m.sum() > 0:|    x.masked_fill_(m, -1.0)",
        "x = x * 1|m = x < 0|x.masked_fill_(m, -1.0)",
    ),
    _chosen_unsafely(
        "a mask that is written out",
        "x = x * 1|if torch.any(x < 0):|    x[x < 0] = 0",
        "x = x * 1|x[x < 0] = 0",
    ),
    _branch(
        "another mask",
        "x = x * 1|m = x < 0|if m.any():|    x[x > 0] = 0",
        "both ways",
    ),
    _branch(
        "a mask that gets a tensor",
        "x = x * 1|m = x < 0|if m.any():|    x[m] = x[m] * 2",
        "both ways",
    ),
    _branch("another shape", "if x.sum() > 0:|    x = x.sum()", "change the shape"),
    _branch("another dtype", "if x.sum() > 0:|    x = x.long()", "change the shape or dtype"),
    _branch(
        "another statement",
        "if x.sum() > 0:|    n = len(str(x.shape))|    x = x + 1",
        "not certainly a number",
    ),
    _branch(
        "a bound that the test asks",
        "n = 1|if x.sum() > n:|    n = 2|    x = x.clamp(max=n)",
        "is read elsewhere",
    ),
    _branch("an index", "if x.sum() > 0:|    x = x[0]", "may raise"),
    _branch("a division by zero", "if x.sum() > 0:|    x = x / 0", "divides by zero"),
    _branch("two tensors", "y = x + 1|if x.sum() > 0:|    x = x + y", "not certainly a number"),
    _branch(
        "a result written in place",
        "y = x.view(-1)|if x.sum() > 0:|    y = y * 2|y += 1|x = x + y.sum()",
        "written in place",
    ),
    _branch(
        "a number that is read later",
        "n = 1|if x.sum() > 0:|    n = 2|    x = x * n|x = x + n",
        "is read elsewhere",
    ),
    _branch("a flag behind", "if x.sum() > 0 and flag:|    x = x + 1", "certainly", "x, flag=True"),
    _branch(
        "a second test that may raise",
        "if x.sum() > 0 and x[0].sum() > 0:|    x = x + 1",
        "when it is always evaluated",
    ),
    _branch("a number as a test", "if x.sum():|    x = x * 2", "boolean tensor"),
    _branch("one element", "if x[:1, :1] > 0:|    x = x * 2", "without dimensions"),
    _branch("an `else` of its own", "if x.sum() > 0:|    x = x * 2|else:|    y = x", "both ways"),
)

BRANCHES: dict[str, tuple[Example, ...]] = {"TCL160": CHOICES, "TCL161": DROPS, "TCL165": GUARDS}
