"""The JSON schema: sound, as SchemaStore wants it, and of one mind with the parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli

from tclint.config import ConfigError, json_schema, read_config

SAMPLES = [
    "",
    'select = ["ALL"]\nignore = ["TCL101"]',
    'extend-select = ["TCL5"]\nper-file-ignores = { "tests/**" = ["TCL3"] }',
    'leave-out = ["tests", "tools/**", "!tests/zoo"]',
    'target-torch = "2.11"\nscope = "compiled"\ncompiled = ["*:step"]\nweak = true',
    'include = ["*.py"]\nexclude = ["gen"]\nrespect-gitignore = false\nforce-exclude = true',
    'extend-safe-fixes = ["TCL1"]\nextend-unsafe-fixes = ["TCL120"]\nunfixable = ["TCL101"]',
    '[[verify]]\ntarget = "pkg.demo:make"\nmax-graph-breaks = 0\nmin-speedup = 1.2',
]
FAULTY = [
    "ingore = []",
    'select = "TCL101"',
    "select = [1]",
    'ignore = [""]',
    "force-exclude = 1",
    'scope = "module"',
    'weak = "sure"',
    "target-torch = 2.10",
    'target-torch = "new"',
    "per-file-ignores = []",
    'per-file-ignores = {"a" = "TCL101"}',
    'leave-out = "tests"',
    "extend = 3",
    "verify = [1]",
    'verify = [{name = "x"}]',
    'verify = [{target = "x:y", tagret = "x"}]',
    'verify = [{target = "x:y", max-syncs = -1}]',
]


def parsed(folder: Path, text: str) -> None:
    file = folder / "tclint.toml"
    file.write_text(text, encoding="utf-8")
    read_config(file, {"TCL101", "TCL120", "TCL301", "TCL501"})


@pytest.mark.parametrize("text", SAMPLES)
def test_what_the_parser_takes_the_schema_takes(tmp_path: Path, text: str) -> None:
    parsed(tmp_path, text)
    jsonschema.validate(tomli.loads(text), json_schema())


@pytest.mark.parametrize("text", FAULTY)
def test_what_the_parser_refuses_the_schema_refuses(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        parsed(tmp_path, text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomli.loads(text), json_schema())


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """All objects of a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


def test_the_schema_keeps_to_the_conventions_of_schemastore() -> None:
    schema = json_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert re.fullmatch(r"https://json\.schemastore\.org/[\w-]+\.json", schema["$id"])
    assert schema["title"]
    described = {**schema["properties"], **schema["definitions"]["target"]["properties"]}
    for name, value in described.items():
        assert value["description"], name
        assert "type" in value or "allOf" in value, name
    for node in nodes(schema):
        if isinstance(node.get("$ref"), str):
            assert node["$ref"].removeprefix("#/definitions/") in schema["definitions"]
            assert list(node) == ["$ref"], "draft 7 ignores what stands beside a reference"


def test_defaults_are_valid_values() -> None:
    schema = json_schema()
    for name, value in schema["properties"].items():
        if "default" in value:
            jsonschema.validate({name: value["default"]}, schema)
