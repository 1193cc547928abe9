"""tclint finds, fixes and verifies PyTorch code that ``torch.compile`` cannot digest.

From Python: :func:`check` gives the findings of files, :func:`recording` records a block of the
own process as ``tclint run`` does a command, and ``%load_ext tclint`` brings ``%%tclint``. Each is
loaded when it is asked for; none of them imports torch.
"""

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from typing import Any

    from tclint.api.checked import Checked, check
    from tclint.api.recording import Block, recording
    from tclint.errors import UserError

__version__ = "0.1.0"
__all__ = ["Block", "Checked", "UserError", "__version__", "check", "recording"]

_PLACES = {
    "Block": "tclint.api.recording",
    "Checked": "tclint.api.checked",
    "UserError": "tclint.errors",
    "check": "tclint.api.checked",
    "recording": "tclint.api.recording",
}


def __getattr__(name: str) -> object:
    """Load what is asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_loaded(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: "Any") -> None:
    """Be an extension of IPython: ``%load_ext tclint``."""
    _loaded("tclint.api.ipython").load(shell)


def _loaded(module: str) -> "Any":
    from importlib import import_module

    return import_module(module)
