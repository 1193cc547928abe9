"""TCL310: a tensor is created on the host and then moved."""

from __future__ import annotations

from dataclasses import replace

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorFactory

from ..proofs.verdict import Refused
from .buffers import is_constant_data
from .chains import moved_later
from .on_device import can_be_made_on_device, make_on_device
from .placement import Target, is_device, keyword, target
from .python_data import is_number, is_varying_data


class TensorCreatedThenMoved(Rule[TensorFactory]):
    """A tensor is created on the host and then moved to a device.

    ## What it does
    Reports `torch.zeros(...).to(device)`, `torch.arange(n).view(-1, 1).cuda()` and the like in
    compiled code, and `torch.tensor(0.5, device=...)`, which does the same inside. Constant data
    in a method of a module is left to TCL311; lists that the step makes are reported with low
    confidence, since their data comes from the host in any case.

    ## Why it hurts
    The copy waits for the GPU. Measured on an H200 in eager: one host sync and 11.3 µs for
    `torch.zeros(4, 3).to(x.device)`, none and 6.7 µs for `torch.zeros(4, 3, device=x.device)`; one
    and 11.5 µs for `torch.tensor(0.1).to(x.device)`, none and 7.2 µs for `torch.full((), 0.1,
    device=x.device)`. `torch.tensor(0.1, device=x.device)` waits just the same. In code compiled
    with Inductor no copy of constants was left, but those of random numbers were.

    ## Fix safety
    Safe where both ways give the same bits: zeros, ones, indices, whole numbers and floats that the
    code states; with a change of dtype only zeros, ones and small whole numbers. Unsafe for a float
    that may be numpy's, for random numbers, and for `linspace`, windows and float ranges, which the
    device may round in another way. Unsafe, too, for a device that is one by its name alone
    (`self.device`, a parameter without annotation): to `.to(...)` a dtype or a tensor means
    something else. Data from Python lists is copied from the host anyway.

    ## References
    - [Performance tuning guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TCL310"
    name = "tensor-created-then-moved"
    summary = "A tensor created on the host and then moved waits for the device"
    on = TensorFactory
    effects = (Effect.HOST_SYNC, Effect.DEVICE_COPY)
    examples = (
        Bad(
            """
def f(x):
    mask = torch.zeros(x.shape[0], 3, dtype=torch.bool).to(x.device)
    return x.masked_fill(mask, 1.0) + torch.arange(3).float().unsqueeze(0).to(x.device)
""",
            fixed="""
def f(x):
    mask = torch.zeros(x.shape[0], 3, dtype=torch.bool, device=x.device)
    return x.masked_fill(mask, 1.0) + torch.arange(3, device=x.device).float().unsqueeze(0)
""",
        ),
        Bad(
            """
def f(x):
    y = x * torch.tensor(0.1, device=x.device) + torch.tensor([0], device=x.device)
    return y + torch.tensor(2).to(x.device)
""",
            fixed="""
def f(x):
    y = x * torch.full((), 0.1, device=x.device) + torch.zeros(1, device=x.device, dtype=torch.long)
    return y + torch.full((), 2, device=x.device)
""",
            title="single numbers",
        ),
        Bad(
            """
def f(x, rate: float = 0.1):
    return x * torch.tensor(rate, device=x.device)
""",
            unsafe="""
def f(x, rate: float = 0.1):
    return x * torch.full((), rate, device=x.device)
""",
            title="a float that is not known",
        ),
        Bad(
            """
def f(x, device):
    x = x + torch.zeros(3).to(device)
    return x, torch.tensor(True).to(x.device)
""",
            fixed="""
def f(x, device):
    x = x + torch.zeros(3).to(device)
    return x, torch.ones((), dtype=torch.bool, device=x.device)
""",
            unsafe="""
def f(x, device):
    x = x + torch.zeros(3, device=device)
    return x, torch.ones((), dtype=torch.bool, device=x.device)
""",
            inputs='(torch.ones(4, 3), "cpu")',
            title="what may be no device, and a bool",
        ),
        Bad(
            "\ndef f(x):\n    return x + torch.linspace(0, 1, 3).to(x.device)\n",
            unsafe="\ndef f(x):\n    return x + torch.linspace(0, 1, 3, device=x.device)\n",
            title="computed values",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    return x + torch.ones(3).to(x)
""",
            fixed="""
def f(x: torch.Tensor):
    return x + torch.ones(3, dtype=x.dtype, device=x.device)
""",
            title="dtype and device of another tensor",
        ),
        Untouched(
            """
def f(x):
    return x + torch.full((3,), 0.1).to(x.device, torch.float64)
""",
            reason="rounded differently",
            title="another dtype",
        ),
        Good(
            """
def f(x):
    return x + torch.zeros(3).to(torch.float64)
""",
            title="only the dtype",
        ),
    )

    def check(self, event: TensorFactory) -> Finding | None:
        """Report a factory call whose result goes to another device, at once or once shaped."""
        event = moved_later(event)
        device = keyword(event.call, "device")
        where = target(event) if device is None else None
        if device is not None and is_number(event) and is_device(event.site, device):
            event, where = replace(event, moved=None), Target(device)  # a `.to` after it stays
        if where is None or is_constant_data(event) or not can_be_made_on_device(event):
            return None
        message = f"`{event.site.text(event.call.func)}(...)` is made on the host and then copied"
        fix = Decline(where.why) if isinstance(where, Refused) else make_on_device(event, where)
        confidence = Confidence.LOW if is_varying_data(event) else None
        return Finding(message, fix, event.moved or event.call, confidence=confidence)
