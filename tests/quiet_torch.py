"""Torch prepares for its logs what no test reads, and that takes as long as computing."""

from __future__ import annotations

import sys
import traceback
from types import SimpleNamespace

DYNAMO = ("torch._dynamo.guards", "torch._dynamo.exc", "torch._dynamo.utils")
DEVICES = ("torch.cuda", "torch.mtia", "torch.xpu")


def quieten() -> None:
    """Have none of it prepared, as far as torch is imported.

    Dynamo times each guard, writes all settings down for each compilation, and looks for the
    columns of every frame above a break: pytest has many. Seeding writes down all frames for each
    kind of device that is not there.
    """
    guards, errors, metrics = map(sys.modules.get, DYNAMO)
    if guards is not None:
        vars(guards)["profile_guard_manager"] = lambda *_: 0.0
    if errors is not None:
        vars(errors)["_extract_stack_with_positions"] = _stack
    if metrics is not None:
        settings = [name for name in vars(metrics) if name.endswith("_config_for_logging")]
        vars(metrics).update(dict.fromkeys(settings, lambda: None))
    for device in map(sys.modules.get, DEVICES):
        if device is not None:
            vars(device)["traceback"] = SimpleNamespace(format_stack=list)


def _stack() -> traceback.StackSummary:
    frames = [*traceback.walk_stack(sys._getframe(1))]
    return traceback.StackSummary.extract(reversed(frames), lookup_lines=False)
