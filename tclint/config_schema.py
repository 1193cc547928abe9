"""The JSON schema of the configuration, for editors and for validators of TOML files.

It keeps to the conventions of SchemaStore: draft 7, an ``$id``, a description and a default for
every key, and references only to definitions of its own.
"""

from __future__ import annotations

from typing import Any, Final

from tclint.config_keys import KEYS, Key
from tclint.config_verify import VERIFY_KEYS

_CODES: Final = {"$ref": "#/definitions/codes"}
_SHAPES: Final[dict[str, dict[str, Any]]] = {
    "bool": {"type": "boolean"},
    "string": {"type": "string"},
    "path": {"type": "string"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "globs": {"type": "array", "items": {"type": "string"}},
    "version": {"type": "string", "pattern": r"^\d+\.\d+([.+].*)?$"},
    "globs-to-codes": {"type": "object", "additionalProperties": _CODES},
    "rule-options": {"type": "object", "additionalProperties": {"type": "object"}},
    "targets": {"type": "array", "items": {"$ref": "#/definitions/target"}},
}
_DEFINITIONS: Final[dict[str, Any]] = {
    "codes": {
        "type": "array",
        "description": "Codes of rules, or their beginnings; `ALL` means every rule.",
        "items": {"type": "string", "pattern": "^(ALL|[A-Z]+[0-9]*)$"},
        "examples": [["TCL1", "TCL301"]],
    },
    "target": {
        "type": "object",
        "description": "A program to verify, how to run it, and its budget.",
        "properties": VERIFY_KEYS,
        "required": ["target"],
        "additionalProperties": False,
    },
}


def json_schema() -> dict[str, Any]:
    """The schema of ``tclint.toml`` and of the table ``[tool.tclint]``."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://json.schemastore.org/tclint.json",
        "title": "tclint",
        "description": "Configuration of tclint, in tclint.toml or [tool.tclint].",
        "type": "object",
        "properties": {key.name: _property(key) for key in KEYS},
        "additionalProperties": False,
        "definitions": _DEFINITIONS,
    }


def _property(key: Key) -> dict[str, Any]:
    shape = _SHAPES[key.kind]
    if key.codes and key.kind == "strings":
        # Draft 7 ignores what stands beside a reference.
        shape = {"allOf": [_CODES]}
    schema: dict[str, Any] = {"description": key.doc, **shape}
    if key.choices:
        schema["enum"] = list(key.choices)
    if key.kind in {"globs-to-codes", "rule-options"}:
        schema["default"] = {}
    elif key.default is not None:
        schema["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    return schema
