"""Write what the installed torch accepts in ``torch.compile`` calls into tclint's table.

    python scripts/compile_names.py [VERSION FOLDER]

adds or renews the entry of that torch version; the other versions' entries stay. With the Python
files of another release, unpacked from its wheel into a folder, the options and settings in that
release's entry are renewed: its modules of settings are run on the installed torch.
"""

from __future__ import annotations

import inspect
import json
import sys
import typing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor

TABLE = Path(__file__).resolve().parent.parent / "tclint" / "torch_facts" / "compile_names.json"
CONFIGS = (torch._dynamo.config, torch._inductor.config, torch._functorch.config)


def main(release: list[str]) -> None:
    """Renew the entry of the installed version, or of the one that is named."""
    table: dict[str, Any] = json.loads(TABLE.read_text("utf-8")) if TABLE.is_file() else {}
    if release:
        version, folder = release[0], Path(release[1])
        load(folder, "torch.utils._config_module")
        table[version] |= names_of([load(folder, module.__name__) for module in CONFIGS])
    else:
        version = ".".join(torch.__version__.split(".")[:2])
        table[version] = {
            "arguments": sorted(inspect.signature(torch.compile).parameters),
            "modes": sorted(torch._inductor.list_mode_options()),
            "backends": sorted(torch._dynamo.list_backends(exclude_tags=())),
            **names_of(CONFIGS),
        }
    TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def load(folder: Path, name: str) -> Any:
    """Run a module of another release in the place of the installed one."""
    spec = spec_from_file_location(name, folder / f"{name.replace('.', '/')}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_of(configs: typing.Sequence[Any]) -> dict[str, Any]:
    """Inductor's options with their types, and what each module of settings has."""
    inductor = next(module for module in configs if module.__name__ == "torch._inductor.config")
    return {
        "options": {
            name: option_type(inductor, name) for name in sorted(inductor.get_config_copy())
        },
        "settings": {module.__name__: settings(module) for module in configs},
    }


def option_type(inductor: Any, name: str) -> str:
    """The type that torch.compile insists on for an option; empty where it accepts any."""
    wanted = inductor.get_type(name)
    return wanted.__name__ if isinstance(wanted, type) and not typing.get_origin(wanted) else ""


def settings(module: Any) -> list[str]:
    """What can be read from a module of settings: its settings, old names of them, functions."""
    return sorted({*dir(module), *dir(type(module)), *module._config})


if __name__ == "__main__":
    main(sys.argv[1:])
