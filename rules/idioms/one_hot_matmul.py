"""TCL605: a one-hot encoding multiplied by a matrix."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Call
from tclint.semantics.site import Site

from .operations import matrix_product, operation
from .replacing import replaced
from .straight import only_use, reaches, without_leftovers

_CASTS: Final = ("float", "to", "type_as", "type", "half", "double", "bfloat16")
_CHANGES: Final = (
    "an inf or NaN in another row no longer makes the result NaN, and the matrix may have more "
    "rows than there are classes"
)


class OneHotMatmul(Rule[Call]):
    """A one-hot encoding, multiplied by a matrix.

    ## What it does
    Reports `F.one_hot(index, n).float() @ weight`, with `@` and with `matmul`.

    ## Why it hurts
    The product picks rows, after building a matrix of zeros and multiplying all of them. Forward
    and backward for 4,096 positions in a 4,096 x 256 matrix: on a CPU 482 ms against 7.5 with
    `F.embedding`, compiled 403 against 1.9; on an H200 no difference in eager code, but 192 MiB
    against 12, and compiled 0.64 ms and 72 MiB against 0.37 ms and 8 MiB.

    ## Fix safety
    Unsafe: `0 * inf` is NaN, so that one bad row spoiled every result; a picked row does not.

    ## References
    - [F.embedding](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html)
    """

    code = "TCL605"
    name = "one-hot-matmul"
    summary = "a one-hot encoding times a matrix picks rows the long way round"
    on = Call
    called = ("one_hot",)
    effects = (Effect.LAUNCH_OVERHEAD,)
    examples = (
        Bad(
            "\ndef f(index, weight):\n    return F.one_hot(index, 4).float() @ weight\n",
            "(torch.tensor([0, 3, 1]), torch.ones(4, 3))",
            unsafe="\ndef f(index, weight):\n    return F.embedding(index, weight)\n",
        ),
        Bad(
            "\nclass f(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.codes = nn.Parameter(torch.ones(4, 3))\n\n"
            "    def forward(self, index):\n"
            "        hot = F.one_hot(index, num_classes=4).to(self.codes.dtype)\n"
            "        return torch.matmul(hot, self.codes)\n",
            "(torch.tensor([0, 3, 1]),)",
            unsafe="\nclass f(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.codes = nn.Parameter(torch.ones(4, 3))\n\n"
            "    def forward(self, index):\n        return F.embedding(index, self.codes)\n",
            title="a variable",
        ),
        Untouched(
            "\ndef f(index, weight):\n    hot = F.one_hot(index, 4).float()\n"
            "    index = index + 1\n    return hot @ weight, index\n",
            reason="`index` has changed",
            inputs="(torch.tensor([0, 3, 1]), torch.ones(4, 3))",
        ),
        Bad(
            "\ndef f(index, weight):\n    classes = weight.shape[0]\n"
            "    hot = F.one_hot(index, classes)\n    hot = hot.float()\n"
            "    return hot @ weight\n",
            "(torch.tensor([0, 3, 1]), torch.ones(4, 3))",
            unsafe="\ndef f(index, weight):\n    return F.embedding(index, weight)\n",
            title="what only the encoding needs goes with it",
        ),
        Untouched(
            "\ndef classes(calls=[]):\n    calls.append(1)\n    return 4\n\n"
            "def f(index, weight):\n    number = classes()\n"
            "    return F.one_hot(index, number).float() @ weight\n",
            reason="`number = classes()` would be computed for nothing",
            inputs="(torch.tensor([0, 3, 1]), torch.ones(4, 3))",
            title="a call that would serve nothing",
        ),
        Good(
            "\ndef f(index, weight):\n    hot = F.one_hot(index, 4).float()\n"
            "    return hot * weight, weight @ hot\n",
            "(torch.tensor([0, 3, 1, 2]), torch.ones(4, 4))",
            title="other uses",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Look at where a one-hot encoding goes."""
        if event.function != "torch.nn.functional.one_hot":
            return None
        site = event.site
        hot = operation(site, event.node, "one_hot")
        product = _product(site, hot.node) if hot else None
        if hot is None or product is None:
            return None
        rank = getattr(site.value(product[2]), "rank", None)
        if rank not in (None, 2):
            return None
        return Finding(
            "A product with a one-hot encoding picks rows: `F.embedding` does only that",
            _repair(site, hot.subject, product),
            node=product[0],
            confidence=Confidence.MEDIUM,
        )


Product = tuple[ast.expr, ast.expr, ast.expr]


def _repair(site: Site, index: ast.expr, product: Product) -> Repair | Decline:
    whole, left, weight = product
    if not reaches(site, index, whole):
        return Decline(f"`{site.text(index)}` has changed in between")
    arguments = {"index": index, "weight": weight}
    embedding = "torch.nn.functional.embedding"
    fix = replaced(
        site, whole, embedding, arguments, _CHANGES, positional=2, leaves=True, keeps=[index]
    )
    return (
        fix
        if isinstance(fix, Decline)
        else without_leftovers(site, fix, whole, [left], arguments.values())
    )


def _product(site: Site, node: ast.expr) -> Product | None:
    """The matrix product that a value is the left side of, and both its sides."""
    outer = site.parent(node)
    while isinstance(outer, ast.Attribute) and outer.attr in _CASTS:
        cast = site.parent(outer)
        if not isinstance(cast, ast.Call) or cast.func is not outer:
            return None
        node, outer = cast, site.parent(cast)
    if isinstance(outer, ast.Assign):
        use = only_use(site, node)
        return _product(site, use) if use else None
    found = matrix_product(site, node)
    return (found[0], node, found[1]) if found else None
