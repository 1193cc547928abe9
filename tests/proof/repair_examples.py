"""More examples of repairs that leave eager code as it is, and of what they decline."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Untouched

POSITIONS = "[(torch.arange(4.0),), (torch.arange(9.0),), (torch.arange(2.0),)]"
PURE = "    return scale * torch.ones(3)\n"


def _module(
    branch: str,
    made: str = PURE,
    registered: str = 'register_buffer("scale", torch.ones(3), persistent=False)',
    after: str = "",
) -> str:
    """A module whose `forward` gives a buffer another tensor; lines parted by ``|``."""
    lines = "\n".join(f"        {line}" for line in branch.split("|"))
    return f"""
def make(scale):
{made}

class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.{registered}
        self.short = self.scale
        self.make = make

    def forward(self, x):
        last = torch.max(x) + 1
{lines}
        return x[:1] * self.scale{after}
"""


LAZY = 'if not hasattr(self, "long"):|        self.long = self.make(2.0)'
STORE = 'self.register_buffer("scale", self.{}, persistent=False)'
MOVED = "self.short = self.short.to(x.device)"
BRANCH = "|".join(
    [
        "if last > 4:",
        f"    {LAZY}",
        f"    {STORE.format('long')}",
        "else:",
        f"    {MOVED}",
        f"    {STORE.format('short')}",
    ]
)


def _kept(title: str, reason: str, branch: str = BRANCH, **parts: str) -> Untouched:
    return Untouched(_module(branch, **parts), reason, POSITIONS, proves=("GB0170",), title=title)


STORES: tuple[Example, ...] = (
    Bad(
        _module(BRANCH),
        "[(torch.arange(4.0),), (torch.arange(2.0),)]",
        fixed=_module(
            'if torch.compiler.is_compiling() and "scale" in self._non_persistent_buffers_set:'
            '|    if hasattr(self, "long"):|        long = self.long'
            "|    else:|        long = self.make(2.0)"
            "|    short = self.short.to(x.device)"
            "|    assert long.shape == short.shape|    assert long.dtype == short.dtype"
            '|    self._buffers["scale"] = torch.where(last > 4, long, short)'
            "|else:|    " + BRANCH.replace("|", "|    ")
        ),
        proves=("GB0170",),
        title="a buffer that each way replaces",
    ),
    _kept(
        "two buffers",
        "same buffer",
        BRANCH.replace('"scale", self.short', '"other", self.short'),
    ),
    _kept(
        "a buffer of the state dict",
        "does not certainly have the buffer",
        registered='register_buffer("scale", torch.ones(3))',
    ),
    _kept(
        "a tensor that is written in place",
        "writes into a tensor",
        after="\n\n    def reset(self):\n        self.short.zero_()",
    ),
    _kept(
        "a function that prints",
        "more than compute",
        made="    print(scale)\n" + PURE,
    ),
    _kept(
        "a function that changes what it is given",
        "more than compute",
        made="    torch.ones(1).seen = scale\n" + PURE,
    ),
    _kept(
        "one more statement",
        "would run on both ways",
        BRANCH.replace(MOVED, "self.calls = 1"),
    ),
    _kept(
        "a tensor that is computed in the call",
        "is not an attribute",
        BRANCH.replace(STORE.format("short"), STORE.format("short * 2")),
    ),
    _kept(
        "a number kept beside the tensor",
        "is not only",
        BRANCH.replace("self.long = self.make(2.0)", "self.long, self.n = torch.frexp(x[:1])"),
    ),
    _kept(
        "the same attribute on both ways",
        "the same attribute",
        BRANCH.replace(LAZY, MOVED).replace(STORE.format("long"), STORE.format("short")),
    ),
    _kept(
        "in a try",
        "no eager code",
        "try:|    " + BRANCH.replace("|", "|    ") + "|except ValueError:|    pass",
    ),
)

CHECKS: tuple[Example, ...] = (
    Bad(
        "\ndef f(x):\n    torch._check(x.shape[0] == 4, lambda: f'bad {x.shape}')\n"
        "    return x * 2\n",
        fixed="""
def f(x):
    if torch.compiler.is_compiling():
        torch._check(x.shape[0] == 4, lambda: 'bad `x.shape`')
    else:
        torch._check(x.shape[0] == 4, lambda: f'bad {x.shape}')
    return x * 2
""",
        proves=("GB9158",),
        fails_on="(torch.ones(3),)",
        title="a message that formats the shape",
    ),
    Bad(
        "\ndef f(x):\n    torch._check_tensor_all(x > 0, lambda: f'bad {x}')\n    return x * 2\n",
        fixed="""
def f(x):
    if torch.compiler.is_compiling():
        torch._assert_async((x > 0).all(), 'bad `x`')
    else:
        torch._check_tensor_all(x > 0, lambda: f'bad {x}')
    return x * 2
""",
        proves=("GB0124",),
        fails_on="(-torch.ones(4, 3),)",
        title="a tensor with a message",
    ),
    Bad(
        "\ndef f(x):\n    torch._check_tensor_all_with(ValueError, x > 0)\n    return x * 2\n",
        fixed="""
def f(x):
    if torch.compiler.is_compiling():
        torch._assert_async((x > 0).all(), "check failed: x > 0")
    else:
        torch._check_tensor_all_with(ValueError, x > 0)
    return x * 2
""",
        proves=("GB0124",),
        title="a tensor with another exception",
    ),
    Untouched(
        "\ndef f(x):\n    y = torch._check_tensor_all(x > 0)\n    return x * 2, y\n",
        reason="larger expression",
        proves=("GB0124",),
        title="a result that is used",
    ),
    Untouched(
        "\nfrom torch import _check_tensor_all\n\n\n"
        "def f(x):\n    _check_tensor_all(x > 0)\n    return x * 2\n",
        reason="imported by itself",
        proves=("GB0124",),
        title="a bare name",
    ),
)

INNER = """
class Inner(nn.Module):
    def forward(self, x, mask, scale=1.0{parameter}):
        hidden = mask > 0
{read}
        if any_hidden:
            x = x.masked_fill(hidden, 0.0)
        return x * scale


class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        mask = x - 1
{moved}        y = self.inner(x, mask=mask{argument})
        return y + 1
"""
READ = "any_hidden = hidden.any().item()"


def _inner(read: str, parameter: str = "", moved: str = "", argument: str = "") -> str:
    lines = "\n".join(f"        {line}" for line in read.split("|"))
    return INNER.format(read=lines, parameter=parameter, moved=moved, argument=argument)


def _not_moved(title: str, code: str) -> Untouched:
    return Untouched(code, "decides a branch", proves=("GB0124",), title=title)


MOVES: tuple[Example, ...] = (
    _not_moved("after an effect", _inner(f"self.seen = 1|{READ}")),
    _not_moved("not at the top", _inner(f"if scale:|    {READ}|else:|    any_hidden = False")),
    _not_moved("any keywords", _inner(READ, ", **more")),
    _not_moved(
        "a call among the arguments", _inner(READ).replace("(x, mask=mask)", "(x.abs(), mask=mask)")
    ),
    _not_moved("a name that is taken", _inner(READ, "", "        any_hidden = mask\n")),
    _not_moved(
        "a class that derives",
        _inner(READ)
        + "\n\nclass Other(Inner):\n    def forward(self, x, mask):\n        return x\n",
    ),
    _not_moved(
        "an attribute that is replaced",
        _inner(READ)
        .replace("= Inner()", "= Inner()\n        self.inner = nn.Identity()")
        .replace("self.inner = nn.Identity()", "self.inner = self.inner"),
    ),
)

REPAIRS: dict[str, tuple[Example, ...]] = {"TCL160": STORES, "TCL166": CHECKS, "TCL101": MOVES}
