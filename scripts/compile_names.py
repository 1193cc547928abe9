"""Write what the installed torch accepts in ``torch.compile`` calls into tclint's table.

    python scripts/compile_names.py

adds or renews the entry of that torch version; the other versions' entries stay.
"""

from __future__ import annotations

import inspect
import json
import typing
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor

TABLE = Path(__file__).resolve().parent.parent / "tclint" / "torch_api" / "compile_names.json"
CONFIGS = (torch._dynamo.config, torch._inductor.config, torch._functorch.config)


def main() -> None:
    """Renew the entry of the installed version."""
    version = ".".join(torch.__version__.split(".")[:2])
    table: dict[str, Any] = json.loads(TABLE.read_text("utf-8")) if TABLE.is_file() else {}
    table[version] = {
        "arguments": sorted(inspect.signature(torch.compile).parameters),
        "modes": sorted(torch._inductor.list_mode_options()),
        "backends": sorted(torch._dynamo.list_backends(exclude_tags=())),
        "options": {name: option_type(name) for name in sorted(torch._inductor.list_options())},
        "settings": {module.__name__: settings(module) for module in CONFIGS},
    }
    TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def option_type(name: str) -> str:
    """The type that torch.compile insists on for an option; empty where it accepts any."""
    wanted = torch._inductor.config.get_type(name)
    return wanted.__name__ if isinstance(wanted, type) and not typing.get_origin(wanted) else ""


def settings(module: Any) -> list[str]:
    """What can be read from a module of settings: its settings, old names of them, functions."""
    return sorted({*dir(module), *dir(type(module)), *module._config})


if __name__ == "__main__":
    main()
