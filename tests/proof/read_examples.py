"""More examples for the rules about reads of tensors on the host."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Good, Untouched

BREAK = ("GB0124",)


def safe(title: str, before: str, after: str, inputs: str = "(torch.rand(4, 3),)") -> Bad:
    """An example with a safe fix; the bodies of ``f(x)``, lines parted by ``|``."""
    return Bad(function(before), inputs, fixed=function(after), proves=BREAK, title=title)


def unsafe(title: str, before: str, after: str) -> Bad:
    """An example with an unsafe fix only."""
    inputs = "(torch.rand(4, 3),)"
    return Bad(function(before), inputs, unsafe=function(after), proves=BREAK, title=title)


def declined(title: str, body: str, reason: str) -> Untouched:
    """An example that is left alone."""
    inputs = "(torch.rand(4, 3),)"
    return Untouched(function(body), reason, inputs, proves=BREAK, title=title)


def function(body: str) -> str:
    lines = [line if line.startswith("@") else f"    {line}" for line in body.split("|")]
    return "\ndef f(x: torch.Tensor):\n" + "\n".join(lines) + "\n"


ITEM: tuple[Example, ...] = (
    safe("a statement of its own", "y = x * 2|y.sum().item()|return y", "y = x * 2|return y"),
    safe(
        "an unused variable whose source may raise",
        "top = x.max().item()|return x + 1",
        "top = x.max().detach()|return x + 1",
    ),
    safe("an unused variable", "total = x.sum().item()|return x + 1", "return x + 1"),
    safe(
        "a constant",
        "return x * torch.tensor(3.0).item()",
        "return x * 3.0",
    ),
    safe(
        "a local dict",
        'logs = {"top": x.max().item(), "n": 3}|return x * logs["top"]',
        'logs = {"top": x.max().detach(), "n": 3}|return x * logs["top"]',
    ),
    safe(
        "a local dict whose entry nobody reads",
        'logs = {}|logs["top"] = x.max().item()|return x * 2',
        'logs = {}|logs["top"] = x.max().detach()|return x * 2',
    ),
    safe("a comparison", "return x > x.mean().item()", "return x > x.mean().detach()"),
    unsafe(
        "a bound of clamp",
        "y = x.float()|return torch.clamp(y, max=y.mean().item())",
        "y = x.float()|return torch.clamp(y, max=y.mean().detach())",
    ),
    safe(
        "a value to fill with",
        "return x.masked_fill(x < 0.5, x.min().item())",
        "return x.masked_fill(x < 0.5, x.min().detach())",
    ),
    safe(
        "an arm of where",
        "return torch.where(x > 0.5, x, x.min().item())",
        "return torch.where(x > 0.5, x, x.min().detach())",
    ),
    safe(
        "a method that takes a tensor",
        "return x.mul(x.max().item())",
        "return x.mul(x.max().detach())",
    ),
    safe(
        "a value put into a tensor",
        "y = x.clone()|y[0] = x.max().item()|return y",
        "y = x.clone()|y[0] = x.max().detach()|return y",
    ),
    safe(
        "arithmetic in place",
        "y = x.clone()|y /= x.max().item()|return y",
        "y = x.clone()|y /= x.max().detach()|return y",
    ),
    safe(
        "a count with floating-point numbers",
        "n = (x > 0.5).sum().item()|return x.float() / n",
        "n = (x > 0.5).sum().detach()|return x.float() / n",
    ),
    safe(
        "a formatted number that is only returned",
        'return x, f"{x.sum().item():.3f}"',
        'return x, f"{x.sum().detach():.3f}"',
    ),
    safe(
        "a write through a view",
        "y = x.reshape(-1) * 1|z = y.view(-1)|s = y[0].item()|z.add_(1)|return y * s",
        "y = x.reshape(-1) * 1|z = y.view(-1)|s = y[0].detach().clone()|z.add_(1)|return y * s",
    ),
    safe(
        "a write to the tensor itself",
        "n = x.max()|s = n.item()|n *= 2|return x * s + n",
        "n = x.max()|s = n.detach().clone()|n *= 2|return x * s + n",
    ),
    safe(
        "a write further up in a loop",
        "y = x.reshape(-1) * 1|for _ in range(2):|    y[0] = 3.0|    t = y[0].item()|    z = y * t"
        "|return z",
        "y = x.reshape(-1) * 1|for _ in range(2):|    y[0] = 3.0"
        "|    t = y[0].detach().clone()|    z = y * t|return z",
    ),
    safe(
        "the tensor is divided by a part of itself",
        "y = x.reshape(-1) + 1|y /= y[0].item()|return y",
        "y = x.reshape(-1) + 1|y /= y[0].detach().clone()|return y",
    ),
    safe(
        "gradients stay cut",
        "top = x.max().item()|return (x / top).sum()",
        "top = x.max().detach()|return (x / top).sum()",
        "(torch.rand(4, 3, requires_grad=True),)",
    ),
    Bad(
        """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.register_buffer("level", torch.tensor(0.5))

    def forward(self, x: torch.Tensor):
        y = x.double().reshape(-1, 3) * self.scale.item()
        return y + self.level.item()
""",
        fixed="""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.register_buffer("level", torch.tensor(0.5))

    def forward(self, x: torch.Tensor):
        y = x.double().reshape(-1, 3) * self.scale.detach().clone()
        return y + self.level.detach()
""",
        proves=BREAK,
        title="a parameter and a buffer",
    ),
    Bad(
        """
class f(nn.Module):
    def forward(self, x):
        self.last = x.mean().item()
        return x * 2
""",
        unsafe="""
class f(nn.Module):
    def forward(self, x):
        self.last = x.mean().detach()
        return x * 2
""",
        proves=BREAK,
        title="a number kept on the module",
    ),
    unsafe(
        "a dtype that is not known",
        "return torch.zeros(3, dtype=torch.int64) * x.max().item()",
        "return torch.zeros(3, dtype=torch.int64) * x.max().detach()",
    ),
    unsafe(
        "a number over a tensor",
        "return x.max().item() / (x + 1)",
        "return x.max().detach() / (x + 1)",
    ),
    unsafe("a power", "return x ** x.max().item()", "return x ** x.max().detach()"),
    unsafe(
        "a tensor that may have dimensions",
        "return x * x[:1, 0].item()",
        "return x * x[:1, 0].detach().reshape(()).clone()",
    ),
    declined(
        "a slice", "n = (x > 0.5).sum().item()|return x.reshape(-1)[:n]", "length is not known"
    ),
    declined("a branch", "if (x > 2).any().item():|    return x * 2|return x", "branch"),
    declined("a size", "return torch.zeros((x > 2).sum().item())", "is not known to take"),
    declined("alpha", "return torch.add(x, x, alpha=x.max().item())", "alpha="),
    declined("a probability", "return F.dropout(x, x.min().item() * 0)", "is not known to take"),
    declined("both bounds of clamp", "return x.clamp(0, x.mean().item())", "two bounds"),
    declined(
        "a nested function",
        "s = x.max().item()|def g(y):|    return y * s|return g(x)",
        "nested function",
    ),
    declined("an annotation", "s: float = x.max().item()|return x * s", "annotated"),
    declined(
        "a formatted number that the code uses",
        'return x * len(f"{x.sum().item():.3f}")',
        "goes on to use",
    ),
    Good(function("return x.shape[0] * x")),
)

NUMBER: tuple[Example, ...] = (
    unsafe(
        "float of a tensor of unknown dtype",
        "return x * float(x.max())",
        "return x * x.max().detach()",
    ),
    Untouched(
        function("return x, complex(x.sum())"),
        "complex",
        "(torch.rand(4, 3),)",
        proves=("GB0059", "host-sync"),
        title="a complex number",
    ),
    declined("a member", "return x * (2.0 in x)", "needs Python numbers"),
    Untouched(
        """
def f(x, n: torch.Tensor):
    for step in range(n):
        x = x + step
    return x
""",
        "needs Python numbers",
        "(torch.ones(3), torch.tensor(2))",
        proves=("GB0059",),
        title="a range",
    ),
    declined("a truth", "return x, bool((x > 0.5).max()) and 3", "branch"),
    Good(
        "@torch.compile(fullgraph=True)\ndef f(x: torch.Tensor):\n    return x * float(x.max())\n"
    ),
)

REST = "rest = x.shape[1:]|"
MADE = REST + "sizes = torch.cat([torch.as_tensor([-1]), torch.as_tensor(rest, dtype=torch.long)])|"
RESHAPED = "return x.reshape({}) * 2"
READ = RESHAPED.format("sizes.tolist()")


def _listed(title: str, before: str, after: str) -> Bad:
    """A list that a tensor was made of; what the tensor is made by, and the list."""
    known = function(before + RESHAPED.format(after))
    return Bad(function(before + READ), fixed=known, proves=("GB0033",), title=title)


def _not_listed(title: str, before: str) -> Untouched:
    code, reason = function(before + READ), "needs Python numbers"
    return Untouched(code, reason, proves=("GB0033",), title=title)


LIST: tuple[Example, ...] = (
    _listed("two lists joined", MADE, "[-1, *rest]"),
    _listed(
        "two lists joined along a dimension",
        REST + "sizes = torch.cat((torch.tensor([-1]), torch.LongTensor([3])), dim=0)|",
        "[-1, 3]",
    ),
    _listed("a list", "n = x.shape[0]|sizes = torch.tensor([n, -1], device=x.device)|", "[n, -1]"),
    _listed("a tensor by name", "a = torch.tensor([-1, 3])|sizes = torch.cat([a])|", "[-1, 3]"),
    _not_listed("a size that is changed", MADE + "rest = rest[:1]|"),
    _not_listed("a tensor that is changed", MADE + "sizes[0] = 12 // sizes[1]|"),
    _not_listed("a tensor that is changed by a method", MADE + "sizes.mul_(1)|"),
    _not_listed("a tensor that is given away", MADE + "torch.abs(sizes[:0], out=sizes[:0])|"),
    _not_listed("a tensor made on one way", "if x.ndim == 2:|    sizes = torch.tensor([-1, 3])|"),
    _not_listed("other values", "sizes = torch.tensor([-1, 3]) * 1|"),
    _not_listed("a part of it", "sizes = torch.tensor([-1, 3])[:1]|"),
    _not_listed("along another dimension", "a = torch.tensor([-1, 3])|sizes = torch.cat([a], -1)|"),
    _not_listed("a way of its own", "sizes = torch.tensor([-1, 3], requires_grad=False)|"),
    _not_listed("rounded", "sizes = torch.tensor([-1, 12], dtype=torch.int8)|"),
    _not_listed("numbers read", "sizes = torch.tensor([x.sum().long(), 1])|"),
)

READS: dict[str, tuple[Example, ...]] = {"TCL101": ITEM, "TCL102": NUMBER, "TCL103": LIST}
