"""More examples for counters of modules, and for gradients that are switched in compiled code."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Good, Untouched

_CALLS = "[(torch.ones(3),) for _ in range(10)]"
_BUFFER = 'self.register_buffer("n", torch.tensor({}), persistent=False)'


def _module(body: str, start: str = "self.n = 0", more: str = "") -> str:
    """A module that counts in ``n``; statements are parted by ``|``."""
    begin = "\n".join(f"        {line}" for line in start.split("|"))
    lines = "\n".join(f"        {line}" for line in body.split("|"))
    return f"""
class f(nn.Module):
    def __init__(self):
        super().__init__()
{begin}

    def forward(self, x):
{lines}
{more}"""


def _counted(title: str, body: str, start: str = "0", after: str | None = None) -> Bad:
    return Bad(
        _module(body, f"self.n = {start}  # calls"),
        _CALLS,
        unsafe=_module(after or body, f"{_BUFFER.format(start)}  # calls"),
        proves=("recompile",),
        title=title,
    )


def _kept(
    title: str, body: str, reason: str, start: str = "self.n = 0", more: str = ""
) -> Untouched:
    return Untouched(_module(body, start, more), reason, _CALLS, proves=("recompile",), title=title)


COUNTERS: tuple[Example, ...] = (
    _counted("down", "self.n -= 1|return x * 2", "-1"),
    _counted(
        "used in arithmetic",
        "self.n += 2|return x.float() * (2 * self.n + 1)",
        after="self.n = self.n + 2|return x.float() * (2 * self.n + 1)",
    ),
    _counted(
        "compared on the device",
        "self.n += 1|return x.float() * (self.n > 3)",
        after="self.n = self.n + 1|return x.float() * (self.n > 3)",
    ),
    _kept("returned", "self.n += 1|return x * 2, self.n", "kept in another place"),
    _kept("in a branch", "self.n += 1|return x if self.n == 100 else x * 2", "branch"),
    _kept("an index", "self.n += 1|return [x, -x][self.n - self.n]", "indexes"),
    _kept("kept before", "old = self.n|self.n += 1|return x.float() * old", "kept in another"),
    _kept("for Python", "self.n += 1|return x.float() * math.sqrt(self.n)", "would change"),
    _kept(
        "set elsewhere in the function",
        "self.n += 1|self.n = self.n % 99|return x * 2",
        "is set in",
    ),
    _kept(
        "a number that is not literal", "self.n += 1|return x * 2", "literal", "self.n = len('a')"
    ),
    _kept("set before", "self.n += 1|return x * 2", "more than once", "self.n = 0|self.n = 1"),
    _kept(
        "another method uses it",
        "self.n += 1|return x * 2",
        "uses `n` as well",
        more="\n    def reset(self):\n        self.n = 0\n",
    ),
    _kept("named in a string", 'self.n += 1|return x * 2, "n"', "in a string"),
    Untouched(
        """
class f(nn.Module):
    n = 0

    def forward(self, x):
        self.n += 1
        return x * 2
""",
        "`__init__` of the class does not set",
        _CALLS,
        proves=("recompile",),
        title="at class level",
    ),
    Good(_module("y = x + self.n|return y"), _CALLS, "a number that stays"),
)

_GRADIENT = "(torch.ones(3), torch.ones(3, requires_grad=True))"


def _switched(title: str, body: str, reason: str, gb_id: str = "GB0206") -> Untouched:
    lines = "\n".join(f"    {line}" for line in body.split("|"))
    return Untouched(
        f"\ndef f(x, w):\n    y = x.detach()\n{lines}\n", reason, _GRADIENT, (gb_id,), title
    )


ASSIGNED: tuple[Example, ...] = (
    Bad(
        "\ndef f(x, w):\n    y = x[None]\n    y.requires_grad = True\n"
        "    for _ in range(2):\n        y = y * w\n    return y\n",
        _GRADIENT,
        unsafe="\ndef f(x, w):\n    y = x[None]\n    if not torch.compiler.is_compiling():\n"
        "        y.requires_grad = True\n    for _ in range(2):\n        y = y * w\n    return y\n",
        proves=("GB0206",),
        title="a variable that goes on",
    ),
    _switched(
        "the gradient is taken",
        "y.requires_grad = True|z = (y * w).sum()|return torch.autograd.grad(z, y)[0]",
        "can be seen",
    ),
    _switched(
        "asked later", "y.requires_grad = True|return y * 2 if y.requires_grad else w", "seen"
    ),
    _switched("kept", "y.requires_grad = True|z = [y, w]|return z[0] * z[1]", "can be seen"),
)

CALLED: tuple[Example, ...] = (
    _switched(
        "the gradient is asked for", "y.requires_grad_()|return y * w, y.grad", "seen", "GB8985"
    ),
    _switched("in an expression", "return y.requires_grad_() * w", "torch.func.grad", "GB8985"),
)

_LAZY = "if self.n is None:|    self.n = {}|return x * self.n"


def _lazy(
    title: str, made: str, reason: str, start: str = "self.n = None", more: str = ""
) -> Untouched:
    return Untouched(
        _module(_LAZY.format(made), start, more), reason, _CALLS, proves=("recompile",), title=title
    )


LAZY: tuple[Example, ...] = (
    Bad(
        _module(_LAZY.format("torch.ones(3)"), "self.n = None"),
        _CALLS,
        unsafe=_module("return x * self.n", "self.n = torch.ones(3)"),
        proves=("recompile",),
        title="the last statement of `__init__`",
    ),
    Bad(
        _module(
            'if not hasattr(self, "n"):|    self.n = torch.ones(3)|return x * self.n', "self.k = 1"
        ),
        _CALLS,
        unsafe=_module("return x * self.n", "self.k = 1|self.n = torch.ones(3)"),
        proves=("recompile",),
        title="hasattr",
    ),
    Good(
        _module('if not hasattr(x, "n"):|    self.n = x * 2|return x * 2', "self.k = 1"),
        _CALLS,
        title="hasattr of something else",
    ),
    Bad(
        "\nSIZE = 3\n" + _module(_LAZY.format("torch.arange(SIZE)"), "self.n = None"),
        _CALLS,
        unsafe="\nSIZE = 3\n" + _module("return x * self.n", "self.n = torch.arange(SIZE)"),
        proves=("recompile",),
        title="a constant of the file",
    ),
    _lazy("random numbers", "torch.rand(3)", "may give something else"),
    _lazy("another module", "nn.functional.relu(torch.ones(3))", "may give something else"),
    _lazy("a size of the input", "torch.ones(x.shape[0])", "known only when"),
    _lazy("a mode", "torch.full((3,), self.training)", "for good"),
    _lazy(
        "an attribute that is a tensor",
        "torch.outer(self.k, self.k)",
        "for good",
        "self.n = None|self.k = torch.rand(3)",
    ),
    _lazy(
        "reset by another method",
        "torch.ones(3)",
        "as well",
        more="\n    def reset(self):\n        self.n = None\n",
    ),
    _lazy("set under a condition", "torch.ones(3)", "as well", "if True:|    self.n = None"),
    _lazy(
        "`__init__` that may end early", "torch.ones(3)", "may end before", "self.n = None|return"
    ),
)

STATE: dict[str, tuple[Example, ...]] = {
    "TCL220": COUNTERS,
    "TCL221": LAZY,
    "TCL183": ASSIGNED,
    "TCL188": CALLED,
}
