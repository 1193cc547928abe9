"""The JSON schema of the configuration, for editors and for validators of TOML files."""

from __future__ import annotations

from typing import Any, Final

from tclint.config_keys import KEYS, Key
from tclint.config_verify import VERIFY_KEYS

_STRINGS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}
_SHAPES: Final[dict[str, dict[str, Any]]] = {
    "bool": {"type": "boolean"},
    "string": {"type": "string"},
    "strings": _STRINGS,
    "globs": _STRINGS,
    "version": {"type": "string", "pattern": r"^\d+\.\d+([.+].*)?$"},
    "globs-to-codes": {"type": "object", "additionalProperties": _STRINGS},
    "targets": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": VERIFY_KEYS,
            "required": ["target"],
            "additionalProperties": False,
        },
    },
}


def json_schema() -> dict[str, Any]:
    """The schema (draft 7) of ``tclint.toml`` and of the table ``[tool.tclint]``."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tclint",
        "description": "Configuration of tclint, in tclint.toml or [tool.tclint].",
        "type": "object",
        "properties": {key.name: _property(key) for key in KEYS},
        "additionalProperties": False,
    }


def _property(key: Key) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": key.doc, **_SHAPES[key.kind]}
    if key.choices:
        schema["enum"] = list(key.choices)
    if key.kind == "globs-to-codes":
        schema["default"] = {}
    elif key.default is not None:
        schema["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    return schema
