"""Runs the steps of a composite action as GitHub's runner does, as far as ours needs it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_NAME = re.compile(r"(?<!')\b(?:inputs|steps|runner|github)(?:\.[\w-]+)+")


@dataclass
class Runner:
    """A runner with an action, a checkout and the job's environment.

    ``provided`` are the outputs of steps that use other actions, by id.
    """

    action: Path
    workspace: Path
    temp: Path
    environment: Mapping[str, str]
    provided: dict[str, dict[str, str]] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    said: str = ""

    def run(self, **inputs: str) -> bool:
        """Run all steps; False as soon as one fails, as a job does."""
        described = yaml.safe_load((self.action / "action.yml").read_text("utf-8"))
        unknown = {name.replace("_", "-") for name in inputs} - described["inputs"].keys()
        assert not unknown
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        defaults = {name: str(i["default"]) for name, i in described["inputs"].items()}
        context = {
            "inputs": {**defaults, **given},
            "steps": {name: {"outputs": out} for name, out in self.provided.items()},
            "runner": {"temp": str(self.temp), "os": "Linux", "arch": "X64"},
            "github": {"action_path": str(self.action), "workspace": str(self.workspace)},
        }
        return all(self._step(step, context) for step in described["runs"]["steps"])

    def _step(self, step: Mapping[str, Any], context: dict[str, Any]) -> bool:
        if "if" in step and not _evaluate(step["if"], context):
            return True
        self.ran.append(step["name"])
        if "uses" in step:
            return True
        output = self.temp / "output"
        output.write_text("")
        folder = _text(step.get("working-directory", str(self.workspace)), context)
        done = subprocess.run(
            ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]),
            cwd=self.workspace / folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.temp),
                "GITHUB_OUTPUT": str(output),
                "RUNNER_TEMP": str(self.temp),
                **self.environment,
                **{name: _text(value, context) for name, value in step.get("env", {}).items()},
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.said += done.stdout + done.stderr
        lines = (line.partition("=") for line in output.read_text().splitlines())
        outputs = {name: value for name, _, value in lines}
        context["steps"][step.get("id", "")] = {"outputs": outputs}
        return done.returncode == 0


def _text(value: str, context: Mapping[str, Any]) -> str:
    return re.sub(r"\$\{\{(.+?)\}\}", lambda m: str(_evaluate(m[1], context)), str(value))


def _evaluate(expression: str, context: Mapping[str, Any]) -> Any:
    """An expression of names, texts, ``==``, ``!=``, ``&&`` and ``||``."""
    if "github.token" in expression:
        return "the job's token"
    python = _NAME.sub(lambda m: repr(_look_up(m[0], context)), expression)
    return eval(python.replace("&&", " and ").replace("||", " or ").strip(), {"__builtins__": {}})


def _look_up(name: str, context: Mapping[str, Any]) -> str:
    value: Any = context
    for part in name.split("."):
        value = value.get(part, {})
    return value if isinstance(value, str) else ""
