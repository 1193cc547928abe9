"""TCL311: constant data is copied to the device in every step."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorFactory

from .buffers import device_of, is_constant_data, make_buffer
from .placement import Target, target


class ConstantTensorInStep(Rule[TensorFactory]):
    """A module copies the same constant data to the device in every step.

    ## What it does
    Reports `torch.tensor([...], device=...)` and `torch.Tensor([...]).to(device)` in a method of a
    module, where the data is a literal or an attribute that only `__init__` sets.

    ## Why it hurts
    The data is in Python's memory, so each step copies it and waits for the GPU: one host sync and
    12 µs on an H200 in eager, with `device=` (11.6 µs) as well as with `.to(...)` (12.2 µs). A
    buffer is copied once. Inductor compiles constants in: there the copies were gone.

    ## Fix safety
    The tensor becomes a buffer with `persistent=False`, so that the state dict stays as it is. The
    `.to(device)` that stays behind costs nothing once the module is on that device. The fix is
    unsafe: `half()` converts the buffer, and a module built on the meta device has to fill it in.
    It is declined where the tensor is changed, kept or returned (functions of the project that
    take it are followed), or where `__init__` is no place for it: it may end early, or set the
    data on some of its ways only.

    ## References
    - [`register_buffer`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "TCL311"
    name = "constant-tensor-in-step"
    summary = "Constant data copied to the device in every step waits for it"
    on = TensorFactory
    effects = (Effect.HOST_SYNC, Effect.DEVICE_COPY)
    examples = (
        Bad(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        scale = torch.tensor([0.5, 1.0, 2.0]).to(x.device)
        return self.linear(x) * scale
""",
            unsafe="""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("_scale", torch.tensor([0.5, 1.0, 2.0]), persistent=False)

    def forward(self, x):
        scale = self._scale.to(x.device)
        return self.linear(x) * scale
""",
        ),
        Bad(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.order = (2, 0, 1)

    def forward(self, x):
        return x[:, torch.tensor(self.order, device=x.device)]
""",
            unsafe="""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.order = (2, 0, 1)
        self.register_buffer("_constant", torch.tensor(self.order), persistent=False)

    def forward(self, x):
        return x[:, self._constant.to(x.device)]
""",
            title="an index from an attribute",
        ),
        Bad(
            """
class f(nn.Module):
    def forward(self, x):
        return x * torch.tensor([0.5, 1.0, 2.0], device=x.device)
""",
            unsafe="""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("_constant", torch.tensor([0.5, 1.0, 2.0]), persistent=False)

    def forward(self, x):
        return x * self._constant.to(x.device)
""",
            title="a class without `__init__`",
        ),
        Untouched(
            """
class f(nn.Module):
    def forward(self, x):
        scale = torch.tensor([0.5, 1.0, 2.0], device=x.device)
        scale.mul_(x.mean())
        return x * scale
""",
            reason="kept or changed",
            title="changed in place",
        ),
        Good(
            """
class f(nn.Module):
    def forward(self, x):
        return x * torch.tensor([0.5, 1.0, 2.0])
""",
            title="data that stays on the host",
        ),
    )

    def check(self, event: TensorFactory) -> Finding | None:
        """Report constant data that goes to a device in a method of a module."""
        moved = isinstance(target(event), Target)
        if not is_constant_data(event) or not (moved or device_of(event) is not None):
            return None
        message = "the same data is copied from the host to the device in every step"
        return Finding(message, make_buffer(event), event.moved or event.call)
