"""TCL170: the shape of a result depends on the data."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import DynamicShape

from ..decisions.wording import consequence, loop_ids, short
from ..proofs.conditions import is_compiled_aside
from ..repairs.known_total import tell_total
from ..repairs.masked_store import store_where

_INSTEAD = {
    "mask": "`torch.where(mask, x, 0)` keeps the shape, and so do sums and means over it",
    "where": "`torch.where(test, a, b)` keeps the shape",
    "nonzero": "`torch.nonzero_static(x, size=n)` has a shape known ahead",
    "argwhere": "`torch.nonzero_static(x, size=n)` has a shape known ahead",
    "masked_select": "`torch.where(mask, x, 0)` keeps the shape",
    "repeat_interleave": "`output_size=` tells the length ahead",
    "one_hot": "`num_classes=` tells the number of classes ahead",
    "bincount": "`torch.zeros(n).scatter_add_(0, x, ones)` counts into a shape known ahead",
}
_CAPTURE = "`torch._dynamo.config.capture_dynamic_output_shape_ops` traces it"
_NEVER_CAPTURED = frozenset({"one_hot", "combinations", "lstsq"})


class DynamicShapeOp(Rule[DynamicShape]):
    """An operation returns as many elements as the data says.

    ## What it does
    Reports, in compiled code: reading a tensor by a boolean mask, `nonzero`, `argwhere`, `unique`,
    `masked_select`, `bincount`, `torch.where` with one argument, `repeat_interleave` by a tensor
    without `output_size=`, `F.one_hot` without `num_classes`, and numpy's `nonzero`, `where`,
    `unique` and masks. A parameter is taken for a mask where it is used as only masks are
    (`torch.where(m, ..)`, `masked_fill`, `~m`), where calls in the file give it one, and, where it
    is called `mask`, in `h[mask] = x[mask]`; with less confidence (low) for its name alone.
    Storing by a mask is traced, whatever is stored. Regions that capture dynamic shapes
    (`fullgraph=True`) trace most of these.

    ## Why it hurts
    Dynamo needs the shape of each result. It ends the graph before the operation and runs that
    one in eager, where the CPU waits for the GPU to learn the size.

    ## Fix safety
    A store like `y[m] = x[m] * 2` into a tensor made by the function computes all elements and
    stores those of the mask, where mask and tensors certainly have one shape and one dtype: safe
    for what cannot raise and has finite gradients. A mask of fewer dimensions is spread, `m[...,
    None]`: safe where it is computed from the rows (`y[..., 0] > 0`), unsafe where only the numbers
    of dimensions are known, since one that does not fit raises otherwise. Unsafe for `y[m] += w`,
    where `w` is a tensor for each of the elements: its gradient is summed in another order.

    `repeat_interleave` gets `output_size=` where the repeats are a list of numbers and sizes, none
    below zero, or one of these for each element: safe, since torch looks at the repeats before the
    length (440 combinations of shapes, dtypes and repeats gave the same results and exceptions). A
    length that only another tensor's shape tells is declined: nothing proves that it is the sum.

    All else is declined: what keeps its shape has other elements, and what follows has to know
    which count.

    ## References
    - [Graph break GB0036](https://meta-pytorch.org/compile-graph-break-site/gb/gb0036.html)
    - [Graph break GB0246](https://meta-pytorch.org/compile-graph-break-site/gb/gb0246.html)
    """

    code = "TCL170"
    name = "dynamic-shape-op"
    summary = "an operation whose result's shape depends on data breaks the graph"
    on = DynamicShape
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0036", "GB0246", "GB7000")
    examples = (
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    return y[y > 3].sum() + 1\n",
            reason="torch.where(mask",
            proves=("GB0036", "host-sync"),
            title="a mask",
        ),
        Bad(
            "\ndef f(x):\n    y = x.float() * 2\n    y[y > 1] *= 3\n    return y\n",
            fixed="\ndef f(x):\n    y = x.float() * 2\n"
            "    y.copy_(torch.where(y > 1, y * 3, y))\n    return y\n",
            proves=("GB0036",),
            title="read and stored by a mask",
        ),
        Bad(
            "\ndef f(x):\n    y = x.float() * 2\n    y[y[..., 0] > 1] *= 3\n    return y\n",
            fixed="\ndef f(x):\n    y = x.float() * 2\n"
            "    y.copy_(torch.where((y[..., 0] > 1)[..., None], y * 3, y))\n    return y\n",
            proves=("GB0036",),
            title="rows that are chosen by one of their elements",
        ),
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    return torch.nonzero(y > 3) + 1\n",
            reason="nonzero_static",
            proves=("GB0036",),
        ),
        Untouched(
            "\ndef f(x):\n    return torch.repeat_interleave(x, x[:, 0].long(), dim=0) + 1\n",
            reason="output_size=",
            proves=("GB0036",),
            title="repeated as often as a tensor says",
        ),
        Bad(
            "\ndef f(x):\n    return x.repeat_interleave(torch.tensor([2, 0, 1, 3]), dim=0)\n",
            fixed="\ndef f(x):\n"
            "    return x.repeat_interleave(torch.tensor([2, 0, 1, 3]), dim=0, output_size=6)\n",
            proves=("GB0036",),
            title="repeated as often as a list says",
        ),
        Untouched(
            "\ndef f(x):\n    return F.one_hot(x.long()) + 1\n",
            reason="num_classes=",
            proves=("GB0246",),
            title="an unknown number of classes",
        ),
        Good(
            "\ndef f(x):\n    y = x.clone()\n    y[x > 0.5] = x.sum()\n"
            "    z = torch.where(x > 0, y, 0)\n"
            "    return z.repeat_interleave(2, dim=0), F.one_hot(x.long(), 5)\n",
            title="stored by a mask, and shapes that are known",
        ),
        Good(
            "\n@torch.compile(fullgraph=True)\ndef f(x):\n    return x[x > 0.5] * 2\n",
            title="dynamic shapes are captured",
        ),
    )

    def check(self, event: DynamicShape) -> Finding | None:
        """Report reads; a mask on the left of an assignment keeps the shape."""
        if event.store and event.via == "mask":
            return None
        site, region = event.site, event.site.region
        captured = region is not None and region.capture_dynamic_shapes
        if captured and event.via not in _NEVER_CAPTURED:
            return None
        unsure = (event.named and not _is_stored_by(event)) or is_compiled_aside(
            site, site.statement
        )
        what = f"the mask `{short(site, event.source)}`" if event.via == "mask" else ""
        what = what or f"`{short(site, event.source)}`"
        return Finding(
            f"The shape that {what} gives depends on the data{consequence(site)}",
            _repair(event),
            gb_ids=loop_ids(site, event.gb_id),
            confidence=Confidence.LOW if unsure else None,
        )


def _is_stored_by(event: DynamicShape) -> bool:
    """True for ``h[mask] = x[mask]``: what selects and stores alike is the mask it is called."""
    match event.site.statement:
        case ast.Assign(targets=[ast.Subscript(slice=index)]):
            return ast.dump(index) == ast.dump(event.source)
        case ast.AugAssign(target=ast.Subscript(slice=index)):
            return ast.dump(index) == ast.dump(event.source)
    return False


def _repair(event: DynamicShape) -> Repair | Decline:
    fix: Repair | Decline | None = None
    if event.via == "mask":
        fix = store_where(event.site, event.node)
    elif event.via == "repeat_interleave" and isinstance(event.node, ast.Call):
        fix = tell_total(event.site, event.node)
    return fix or Decline(_INSTEAD.get(event.via, _CAPTURE))
