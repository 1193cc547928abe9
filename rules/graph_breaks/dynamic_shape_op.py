"""TCL170: the shape of a result depends on the data."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import DynamicShape
from tclint.torch_facts.dynamo_settings import DYNAMIC_SHAPES

from ..lib.facts.compiling import is_compiled_aside
from ..lib.facts.known import certain_tensor
from ..lib.facts.selections import holders_of, tests_of
from ..lib.rewrite.masked_store import store_where
from ..lib.wording import consequence, loop_ids, short

_INSTEAD = {
    "mask": "`torch.where({mask}, {x}, 0)` keeps the shape and the sum; for a mean, divide by "
    "the mask's sum",
    "where": "`torch.where(test, a, b)` keeps the shape",
    "nonzero": "`torch.nonzero_static({x}, size=n)` has a shape known in advance",
    "argwhere": "`torch.nonzero_static({x}, size=n)` has a shape known in advance",
    "masked_select": "`torch.where({mask}, {x}, 0)` keeps the shape",
    "repeat_interleave": "`output_size=` gives the length in advance",
    "one_hot": "`num_classes=` gives the number of classes in advance",
    "bincount": "`torch.zeros(n).scatter_add_(0, {x}, ones)` counts into a shape known in advance",
}
_LONGEST_NAME: Final = 40
_CAPTURE = "`torch._dynamo.config.capture_dynamic_output_shape_ops` traces it"
_NEVER_CAPTURED = frozenset({"one_hot", "combinations", "lstsq"})
_FILL: Final = "`masked_fill_` and `torch.where` take the mask on the device"


class DynamicShapeOp(Rule[DynamicShape]):
    """An operation returns a tensor whose shape depends on the data."""

    code = "TCL170"
    name = "dynamic-shape-op"
    summary = "An operation whose output shape depends on the data breaks the graph"
    instead = (
        "Keep the shape: `torch.where(mask, x, 0)` in place of `x[mask]` (for a mean, divide its "
        "sum by the mask's), or `torch.nonzero_static(x, size=n)`"
    )
    on = DynamicShape
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0036", "GB0246", "GB7000")
    settings = (DYNAMIC_SHAPES,)

    def check(self, event: DynamicShape) -> Finding | None:
        """Report reads; a mask with dimensions on the left of an assignment keeps the shape."""
        site = event.site
        mask = certain_tensor(site, event.source) if event.via == "mask" else None
        if mask is not None and mask.rank == 0:
            return _of_one_value(event)
        if event.store and event.via == "mask":
            return None
        if site.has_setting(DYNAMIC_SHAPES) and event.via not in _NEVER_CAPTURED:
            return None
        unsure = (event.named and not _is_stored_by(event)) or is_compiled_aside(
            site, site.statement
        )
        stays = _is_never_captured(event) or _is_asked_empty(event)
        what = f"The mask `{short(site, event.source)}`" if event.via == "mask" else ""
        what = what or f"`{short(site, event.source)}`"
        return Finding(
            f"{what} gives a data-dependent shape{consequence(site)}",
            _repair(event),
            gb_ids=loop_ids(site, event.gb_id),
            confidence=Confidence.LOW if unsure else None,
            removed_by_settings=() if stays else (DYNAMIC_SHAPES,),
        )


def _of_one_value(event: DynamicShape) -> Finding:
    """A mask without dimensions: all or nothing is read or written, as its one value says.

    Settings that capture scalars and shapes do not trace it: Dynamo has to know the value.
    """
    site = event.site
    return Finding(
        f"The mask `{short(site, event.source)}` is one value, which the host reads"
        f"{consequence(site)}",
        Advice(_FILL) if event.store else _repair(event),
        gb_ids=loop_ids(site, "GB0033"),
        confidence=Confidence.LOW if is_compiled_aside(site, site.statement) else None,
    )


def _is_stored_by(event: DynamicShape) -> bool:
    """True for ``h[mask] = x[mask]``: what selects and stores alike is the mask it is called."""
    match event.site.statement:
        case ast.Assign(targets=[ast.Subscript(slice=index)]):
            return ast.dump(index) == ast.dump(event.source)
        case ast.AugAssign(target=ast.Subscript(slice=index)):
            return ast.dump(index) == ast.dump(event.source)
    return False


def _is_never_captured(event: DynamicShape) -> bool:
    """True also where a loop goes through the result: it has no length to unroll by."""
    site, node = event.site, event.node
    if event.via in _NEVER_CAPTURED:
        return True
    outer = site.parent(node)
    if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name):
        loads: list[ast.AST] = [*site.loads(outer.targets[0].id)]
    else:
        loads = [node]
    around = ((site.parent(load), load) for load in loads)
    return any(isinstance(loop, ast.For) and loop.iter is load for loop, load in around)


def _is_asked_empty(event: DynamicShape) -> bool:
    """True where a test asks if anything is selected: with the setting on, it breaks the graph."""
    return next(tests_of(event.site, holders_of(event.site, event.node)), None) is not None


def _repair(event: DynamicShape) -> Repair | Decline:
    fix = store_where(event.site, event.node) if event.via == "mask" else None
    return fix or Advice(_way_out(event))


def _way_out(event: DynamicShape) -> str:
    """What keeps the shape, with the names of the code where they are short."""
    site, names = event.site, {"x": "x", "mask": "mask"}
    match event.node:
        case ast.Subscript(value=x, slice=index) if event.via == "mask":
            mask = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
            parts = {"x": x, "mask": mask}
        case ast.Call(func=function, args=args):
            owner = [function.value] if isinstance(function, ast.Attribute) else []
            called = [] if (site.dotted(function) or "").startswith("torch.") else owner
            parts = dict(zip(names, [*called, *args], strict=False))
        case _:
            parts = {}
    texts = {name: site.text(part) for name, part in parts.items()}
    names |= {name: text for name, text in texts.items() if _is_short(text)}
    return _INSTEAD.get(event.via, _CAPTURE).format(**names)


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and "\n" not in text
