"""Torch prepares for its logs what no test reads, and that takes as long as computing."""

from __future__ import annotations

import sys
import traceback
from types import ModuleType, SimpleNamespace

_STACKLESS = SimpleNamespace(**{**vars(traceback), "extract_stack": list, "format_stack": list})
_quiet: set[str] = set()


def quieten() -> None:
    """Have none of it prepared, as far as torch is imported.

    Dynamo times each guard, writes all settings down for each compilation, and looks for the
    columns of every frame above a break: pytest has many. Of each break it tells its own frames,
    and of what it writes back who wrote there. Each mode of fake tensors remembers who made it, and
    seeding writes down all frames for each kind of device that is not there.
    """
    for name in _LOUD.keys() - _quiet:
        module = sys.modules.get(name)
        if module is not None:
            _LOUD[name](module)
            _quiet.add(name)


def _time_no_guards(module: ModuleType) -> None:
    vars(module)["profile_guard_manager"] = lambda *_: 0.0


def _find_no_columns(module: ModuleType) -> None:
    vars(module)["_extract_stack_with_positions"] = _stack


def _keep_no_settings(module: ModuleType) -> None:
    settings = [name for name in vars(module) if name.endswith("_config_for_logging")]
    vars(module).update(dict.fromkeys(settings, lambda: None))


def _keep_no_stack(module: ModuleType) -> None:
    vars(module)["traceback"] = _STACKLESS


def _tell_no_frames_of_its_own(module: ModuleType) -> None:
    told = {"format_exc": lambda: "Traceback (most recent call last)"}
    vars(module)["traceback"] = SimpleNamespace(**{**vars(traceback), **told})


def _tell_of_no_writes(module: ModuleType) -> None:
    module.SideEffects._format_side_effect_message = lambda *_: ""


def _stack() -> traceback.StackSummary:
    frames = [*traceback.walk_stack(sys._getframe(1))]
    return traceback.StackSummary.extract(reversed(frames), lookup_lines=False)


_LOUD = {
    "torch._dynamo.exc": _find_no_columns,
    "torch._dynamo.guards": _time_no_guards,
    "torch._dynamo.side_effects": _tell_of_no_writes,
    "torch._dynamo.symbolic_convert": _tell_no_frames_of_its_own,
    "torch._dynamo.utils": _keep_no_settings,
    "torch._subclasses.fake_tensor": _keep_no_stack,
    "torch.cuda": _keep_no_stack,
    "torch.mtia": _keep_no_stack,
    "torch.xpu": _keep_no_stack,
}
