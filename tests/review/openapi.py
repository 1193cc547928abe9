"""GitHub's own description of its interface, as a judge of requests and a source of answers."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

FILE = Path(__file__).parent / "github_openapi.json"
_WHOLE = "urn:github"
_FORMATS = {
    "date-time": "2026-01-02T03:04:05Z",
    "email": "octo@example.com",
    "uri": "https://github.example.com/x",
}


class Description:
    """The operations that the description knows, with JSON Schema in the place of OpenAPI's."""

    def __init__(self, file: Path = FILE) -> None:
        self._whole: dict[str, Any] = _absolute(_plain(json.loads(file.read_text("utf-8"))))
        resource = Resource.from_contents(self._whole, default_specification=DRAFT202012)
        self._registry = Registry().with_resource(_WHOLE, resource)
        self._paths = {
            template: re.compile(re.sub(r"\{\w+\}", r"[^/]+", template))
            for template in self._whole["paths"]
        }

    def complaint(self, method: str, path: str, body: Any) -> str | None:
        """What is wrong with a request; None if nothing is."""
        operation = self._operation(method, path)
        if operation is None:
            return f"{method} {path}: no such operation"
        schema = self._body_schema(operation)
        if schema is None:
            return None if body is None else f"{method} {path}: takes no body"
        errors = [*self._validator(schema).iter_errors(body)]
        # Without an answer to unknown keys, a misspelt one would pass.
        unknown = set(body) - set(schema.get("properties", body))
        if unknown:
            return f"{method} {path}: unknown {sorted(unknown)}"
        return f"{method} {path}: {errors[0].message}" if errors else None

    def answer(self, schema: str, **known: Any) -> dict[str, Any]:
        """An object of a named schema: what it requires, with what the test knows."""
        made = self._example({"$ref": f"{_WHOLE}#/components/schemas/{schema}"})
        answer = {**made, **known}
        errors = [
            *self._validator({"$ref": f"{_WHOLE}#/components/schemas/{schema}"}).iter_errors(answer)
        ]
        assert not errors, errors[0]
        return answer

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        for template, pattern in self._paths.items():
            found = self._whole["paths"][template].get(method.lower())
            if found is not None and pattern.fullmatch(path):
                return dict(found)
        return None

    def _body_schema(self, operation: dict[str, Any]) -> dict[str, Any] | None:
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        return schema if schema is None else dict(schema)

    def _validator(self, schema: dict[str, Any]) -> Draft202012Validator:
        return Draft202012Validator(schema, registry=self._registry)

    def _example(self, schema: dict[str, Any]) -> Any:
        """The smallest value that the schema allows."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self._example(self._whole["components"]["schemas"][name])
        for key in ("oneOf", "anyOf", "allOf"):
            if key in schema:
                return self._example(schema[key][0])
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        if "enum" in schema:
            return schema["enum"][0]
        kinds = schema.get("type", "object")
        kind = kinds if isinstance(kinds, str) else kinds[0]
        if kind == "object":
            properties = schema.get("properties", {})
            return {name: self._example(properties[name]) for name in schema.get("required", ())}
        return {"string": "text", "integer": 1, "number": 1.0, "boolean": False, "array": []}[kind]


@cache
def description() -> Description:
    """The vendored part of the description."""
    return Description()


def _plain(value: Any) -> Any:
    """OpenAPI 3.0's ``nullable`` as JSON Schema says it."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _plain(item) for key, item in value.items() if key != "nullable"}
    if value.get("nullable") is not True:
        return plain
    if isinstance(plain.get("type"), str) and "enum" not in plain:
        return {**plain, "type": [plain["type"], "null"]}
    return {"anyOf": [plain, {"type": "null"}]}


def _absolute(value: Any) -> Any:
    if isinstance(value, list):
        return [_absolute(item) for item in value]
    if isinstance(value, dict):
        return {
            key: f"{_WHOLE}{item}" if key == "$ref" and isinstance(item, str) else _absolute(item)
            for key, item in value.items()
        }
    return value
