"""TCL311: constant data is copied to the device in every step."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorFactory

from .buffers import device_of, is_constant_data, make_buffer
from .placement import Target, target


class ConstantTensorInStep(Rule[TensorFactory]):
    """A module copies the same constant data to the device in every step."""

    code = "TCL311"
    name = "constant-tensor-in-step"
    summary = "Copying constant data to the device in every step makes the CPU wait"
    instead = "Make it a buffer in `__init__`, or create it once before the loop"
    on = TensorFactory
    effects = (Effect.HOST_SYNC, Effect.DEVICE_COPY)

    def check(self, event: TensorFactory) -> Finding | None:
        """Report constant data that goes to a device in a method of a module."""
        moved = isinstance(target(event), Target)
        if not is_constant_data(event) or not (moved or device_of(event) is not None):
            return None
        message = "The same data is copied to the device in every step, and the CPU waits for it"
        return Finding(message, make_buffer(event), event.moved or event.call)
