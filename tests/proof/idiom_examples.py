"""More spellings of the formulas that torch has an operator for, and each reason to decline."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Good, Untouched

_QKV = "torch.ones(3, 2, 5, 4).unbind()"
_CLASSES = "(torch.rand(4, 3), torch.tensor([0, 2, 1, 1]))"
_WEIGHTED = "(torch.rand(4, 3), torch.tensor([0, 2, 1, 1]), torch.tensor([1.0, 2.0, 4.0]))"


def _function(body: str, arguments: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"\ndef f({arguments}):\n{lines}"


def _bad(
    title: str, before: str, after: str, arguments: str = "x", inputs: str = "(torch.rand(4, 3),)"
) -> Bad:
    code, fixed = _function(before, arguments), _function(after, arguments)
    return Bad(code, inputs, unsafe=fixed, title=title)


def _kept(
    title: str, body: str, reason: str, arguments: str = "x", inputs: str = "(torch.rand(4, 3),)"
) -> Untouched:
    return Untouched(_function(body, arguments), reason, inputs, title=title)


def _good(title: str, body: str, arguments: str = "x", inputs: str = "(torch.rand(4, 3),)") -> Good:
    return Good(_function(body, arguments), inputs, title=title)


_ATTENTION = "return F.scaled_dot_product_attention(q, k, v, scale={})"
_RMS = "return F.rms_norm(x, x.shape[-1:], eps=1e-6)"
_NORM = "return F.layer_norm(x, x.shape[-1:], eps=1e-6)"

IDIOMS: dict[str, tuple[Example, ...]] = {
    "TCL602": (
        _kept("another dtype", "return x.exp().sum(1, dtype=torch.float64).log()", "dtype"),
    ),
    "TCL603": (
        _kept(
            "another dtype",
            "e = x.exp()\nreturn e / e.sum(1, keepdim=True, dtype=torch.float64)",
            "dtype",
        ),
        _kept(
            "statements in between",
            "e = x.exp()\nx = x + 1\nreturn e / e.sum(1, keepdim=True) + x",
            "other statements",
        ),
        _good(
            "exponentials that are masked in place",
            "e = x.exp()\ne.mul_(x > 0.5)\nreturn e / e.sum(1, keepdim=True)",
        ),
    ),
    "TCL604": (
        _bad(
            "GELU over a root",
            "return x * (1 + torch.special.erf(x * math.sqrt(0.5))) / 2",
            "return F.gelu(x)",
        ),
        _bad("SiLU the other way round", "return torch.sigmoid(x) * x", "return F.silu(x)"),
        _bad(
            "GELU with tanh and numpy's numbers",
            "return (torch.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)) + 1) * x * 0.5",
            'return F.gelu(x, approximate="tanh")',
        ),
        _good("an operand that is computed", "return (x + 1) * torch.sigmoid(x + 1)"),
        _good(
            "another number",
            "return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.044715 * x**3)))",
        ),
    ),
    "TCL605": (
        _bad(
            "a cast to the dtype of another tensor",
            "return torch.matmul(F.one_hot(i, 4).type_as(w), w)",
            "return F.embedding(i, w)",
            "i, w",
            "(torch.tensor([0, 3, 1]), torch.ones(4, 3))",
        ),
        _good(
            "a batch of matrices",
            "w = torch.ones(2, 4, 3)\nreturn F.one_hot(i, 4).float() @ w",
            "i",
            "(torch.tensor([[0], [1]]),)",
        ),
    ),
    "TCL606": (
        _bad(
            "permuted keys, and no scale",
            "w = F.softmax(q @ k.permute(0, 1, 3, 2), dim=-1)\nreturn w.to(v.dtype) @ v",
            _ATTENTION.format("1.0"),
            "q, k, v",
            "torch.ones(3, 1, 2, 5, 4).unbind()",
        ),
        _bad(
            "batches of products",
            "w = torch.bmm(q, k.transpose(-1, -2))\nreturn torch.bmm(torch.softmax(w, -1), v)",
            _ATTENTION.format("1.0"),
            "q, k, v",
            _QKV,
        ),
        _kept(
            "dropout",
            "return F.dropout((q @ k.mT).softmax(-1), 0.0) @ v",
            "dropout_p",
            "q, k, v",
            _QKV,
        ),
        _kept(
            "a masked product",
            "s = (q @ k.mT).masked_fill(mask, -1e9)\nreturn s.softmax(-1) @ v",
            "attn_mask",
            "q, k, v, mask",
            "(*torch.ones(3, 2, 5, 4).unbind(), torch.zeros(5, 5, dtype=torch.bool))",
        ),
        _kept(
            "a softmax in another dtype",
            "return (q @ k.mT).softmax(-1, dtype=torch.float32) @ v",
            "dtype",
            "q, k, v",
            _QKV,
        ),
        _kept(
            "queries that change in place",
            "q = q * 1\ns = q @ k.mT\nq[0] = 0\nreturn s.softmax(-1) @ v, q",
            "`q` has changed",
            "q, k, v",
            _QKV,
        ),
        _kept(
            "queries that change",
            "s = q @ k.mT\nq = q + 1\nreturn s.softmax(-1) @ v, q",
            "`q` has changed",
            "q, k, v",
            _QKV,
        ),
        _kept(
            "two factors",
            "return (q @ k.mT * 0.5 / 3).softmax(-1) @ v",
            "another factor",
            "q, k, v",
            _QKV,
        ),
        _good(
            "a learned temperature",
            "return (q @ k.mT * t).softmax(-1) @ v",
            "q, k, v, t: torch.Tensor",
            "(*torch.ones(3, 2, 5, 4).unbind(), torch.ones(()))",
        ),
        _good(
            "scores that are masked in place",
            "s = q @ k.mT\ns.masked_fill_(mask, -1e9)\nreturn s.softmax(-1) @ v",
            "q, k, v, mask",
            "(*torch.ones(3, 2, 5, 4).unbind(), torch.zeros(5, 5, dtype=torch.bool))",
        ),
        _good(
            "the operator stands beside it",
            "if q.shape[1] > 9:\n    return F.scaled_dot_product_attention(q, k, v)\n"
            "return (q @ k.mT).softmax(-1) @ v",
            "q, k, v",
            _QKV,
        ),
        _good(
            "attention over another dimension",
            "return (q @ k.mT).softmax(1) @ v",
            "q, k, v",
            _QKV,
        ),
    ),
    "TCL607": (
        _bad(
            "a column by view",
            "p = torch.log_softmax(x, 1)\nreturn -p.gather(1, t.view(-1, 1)).mean()",
            "return F.cross_entropy(x, t)",
            "x, t",
            _CLASSES,
        ),
        _bad(
            "the sign inside",
            "p = x.log_softmax(1)\nn = t.size(0)\nloss = -p[torch.arange(n, device=x.device), t]\n"
            "return loss.mean()",
            "return F.cross_entropy(x, t)",
            "x: torch.Tensor, t",
            _CLASSES,
        ),
        _bad(
            "weights in the second place",
            "p = F.log_softmax(x, dim=1)[range(len(t)), t]\nreturn (-p * w[t]).sum() / w[t].sum()",
            "return F.cross_entropy(x, t, weight=w)",
            "x, t, w",
            _WEIGHTED,
        ),
        _kept(
            "weights that change",
            "p = F.log_softmax(x, dim=1)[range(len(t)), t]\nu = w[t]\nw = w + 1\n"
            "return -(p * u).sum() / u.sum(), w",
            "`w` has changed",
            "x, t, w",
            _WEIGHTED,
        ),
        _good(
            "weights of other classes",
            "p = F.log_softmax(x, dim=1)[range(len(t)), t]\nu = w[t]\nt = t * 0\n"
            "return -(p * w[t]).sum() / w[t].sum() + u.sum()",
            "x, t, w",
            _WEIGHTED,
        ),
        _good(
            "log-probabilities that change in place",
            "p = x.log_softmax(1)\np[:, 0] = 0\nreturn -p.gather(1, t.unsqueeze(1)).mean()",
            "x: torch.Tensor, t",
            _CLASSES,
        ),
        _good(
            "no sign",
            "return x.log_softmax(1).gather(1, t.unsqueeze(1)).mean()",
            "x: torch.Tensor, t",
            _CLASSES,
        ),
        Good(
            "\nclass f(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.w = nn.Parameter(torch.ones(3))\n\n    def forward(self, x, t):\n"
            "        p = F.log_softmax(x, dim=1)[range(len(t)), t]\n"
            "        return -(p * self.w[t]).sum() / self.w[t].sum()\n",
            _CLASSES,
            title="weights that learn",
        ),
    ),
    "TCL608": (
        _bad("a product", "return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)", _RMS),
        _bad("a power", "return x * torch.rsqrt((x**2).mean(-1, keepdim=True) + 1e-6)", _RMS),
        _bad(
            "the variance by hand",
            "c = x - x.mean(-1, keepdim=True)\n"
            "return c / torch.sqrt(c.pow(2).mean(-1, keepdim=True) + 1e-6)",
            _NORM,
        ),
        _good(
            "a value that changes in place",
            "y = x * 2\nv = y.pow(2).mean(-1, keepdim=True)\ny.add_(1)\n"
            "return y * torch.rsqrt(v + 1e-6)",
        ),
        _good(
            "an epsilon that is a tensor",
            "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + x.amin())",
        ),
    ),
}
