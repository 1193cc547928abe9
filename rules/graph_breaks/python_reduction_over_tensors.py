"""TCL163: Python's `any`, `all`, `sorted` over tensors."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch
from tclint.semantics.site import Site
from tclint.torch_facts import method_returns

from ..lib.wording import consequence, loop_ids, renumbered, short

_WITHOUT = (
    "compare in a loop of its own, or with `torch.stack` and `argmax`: without `key=` and "
    "`default=` it is traced"
)
_IDS = {
    "any": ("GB0170",),
    "all": ("GB0170",),
    "sorted": ("GB0207", "GB0059"),
    "max": ("GB0193",),
    "min": ("GB0193",),
}
_INSTEAD = {
    "any": "`torch.stack([...]).any()` gives the answer as a tensor, for `torch.where`",
    "all": "`torch.stack([...]).all()` gives the answer as a tensor, for `torch.where`",
    "sorted": "`torch.sort(torch.stack([...]))` sorts on the device",
    "max": _WITHOUT,
    "min": _WITHOUT,
}

_TRACED_WITH_A_KEY = (2, 14)


class PythonReductionOverTensors(Rule[TensorBranch]):
    """A builtin goes through tensors one by one: `any`, `all`, `sorted`, `min` or `max`."""

    code = "TCL163"
    name = "python-reduction-over-tensors"
    summary = "Builtin `any`, `all`, `sorted`, `min` or `max` over tensors breaks the graph"
    instead = (
        "Join the tensors first: `torch.stack(xs).any()`, `torch.stack(xs).max()`, "
        "`torch.stack(xs).sort()`"
    )
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB0207", "GB0059", "GB0193", "GB5687", "GB7000")

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the builtin's call."""
        site, call = event.site, event.node
        ids = _IDS.get(event.kind)
        if ids is None or not isinstance(call, ast.Call):
            return None
        generator = isinstance(event.test, ast.GeneratorExp) and event.kind in ("any", "all")
        end = consequence(site, always=generator)
        what = f"`{event.kind}` reads each tensor in `{short(site, event.test)}`"
        if event.kind in ("max", "min"):
            given = " and ".join(f"`{k.arg}=`" for k in call.keywords if k.arg)
            what = f"`{event.kind}` with {given} is traced only for constants"
            return _with_key(site, call, f"{what}{end}", event.kind)
        return Finding(f"{what}{end}", Advice(_INSTEAD[event.kind]), gb_ids=loop_ids(site, *ids))


def _with_key(site: Site, call: ast.Call, message: str, kind: str) -> Finding:
    """`min` or `max`: newer releases trace a key that gives no tensor."""
    keys = [keyword.value for keyword in call.keywords if keyword.arg == "key"]
    compares = any(_gives_tensor(site, key) for key in keys)
    gb_id = renumbered(site, "GB0193", _TRACED_WITH_A_KEY, "GB5687") if compares else "GB0193"
    return Finding(
        message,
        Advice(_INSTEAD[kind]),
        gb_ids=loop_ids(site, gb_id),
        before=None if compares else _TRACED_WITH_A_KEY,
    )


def _gives_tensor(site: Site, key: ast.expr) -> bool:
    """Whether a key, called with a tensor, gives one: `torch.norm`, `lambda t: t.sum()`."""
    function = key
    if isinstance(key, ast.Lambda):
        if not isinstance(key.body, ast.Call):
            return False
        function = key.body.func
    if (site.dotted(function) or "").startswith("torch."):
        return True
    return isinstance(function, ast.Attribute) and method_returns(function.attr) == "tensor"
