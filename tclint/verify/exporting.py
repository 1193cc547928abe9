"""Whether ``torch.export`` takes a target (child only)."""

from __future__ import annotations

import torch

from tclint.verify.subject import Making, Workshop


def export_problem(making: Making) -> str:
    """Why the target cannot be exported; empty if it can."""
    subject = Workshop(making, None).make()
    if subject.module is None:
        return "only modules can be exported"
    try:
        torch.export.export(subject.module, subject.loaded.args, subject.loaded.kwargs)
    except Exception as error:  # noqa: BLE001 - whatever torch and user code raise is the answer
        words = str(error).strip().splitlines()
        return f"{type(error).__name__}: {words[0]}" if words else type(error).__name__
    return ""
