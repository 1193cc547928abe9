"""What a client may set for the server: in its initialization options, or when it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from tclint.config import Config, ConfigError, with_overrides
from tclint.config_keys import nearest
from tclint.files import expanded
from tclint.gone import SETTINGS, gone
from tclint.records import record

SECTION: Final = "tclint"
OPEN_FILES: Final = "openFilesOnly"
WORKSPACE: Final = "workspace"


@record(frozen=True)
class Settings:
    """Settings of one client.

    ``configuration`` is the path of a file to use in the place of those that are found, or keys
    of the configuration that are put over it. ``diagnosticMode`` says whether files that are not
    open are reported as well.
    """

    enable: bool = True
    configuration: str | Mapping[str, Any] = ""
    diagnosticMode: str = OPEN_FILES  # noqa: N815 (these are the clients' names)
    codeLens: bool = True  # noqa: N815

    @property
    def whole_workspace(self) -> bool:
        """Whether files that are not open are reported."""
        return self.enable and self.diagnosticMode == WORKSPACE

    def over(self, config: Config) -> Config:
        """A configuration with the client's keys over it.

        Raises:
            ConfigError: a key is unknown or its value is not of its type.
        """
        if not isinstance(self.configuration, Mapping):
            return config
        given = {name.replace("-", "_"): value for name, value in self.configuration.items()}
        try:
            return with_overrides(config, **given)
        except TypeError as error:
            raise ConfigError(f"the editor's setting tclint.configuration: {error}") from error

    def file(self, root: Path) -> Path | None:
        """The configuration file that the client names."""
        if not isinstance(self.configuration, str) or not self.configuration:
            return None
        return root / expanded(self.configuration)


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "enable": (bool,),
    "configuration": (str, dict),
    "diagnosticMode": (str,),
    "codeLens": (bool,),
}


def read_settings(said: object, before: Settings) -> tuple[Settings, list[str]]:
    """The settings that a client sends, and what is wrong with them; wrong ones do not count."""
    if said is None:
        return before, []
    if not isinstance(said, dict):
        return before, [f"settings: expected an object, got {type(said).__name__}"]
    said = said.get(SECTION, said.get("settings", said))
    if not isinstance(said, dict):
        return before, [f"settings: expected an object, got {type(said).__name__}"]
    names = [field.name for field in fields(Settings)]
    good: dict[str, Any] = {}
    wrong: list[str] = []
    for name, value in said.items():
        problem = _problem(name, value, names)
        if problem is not None:
            wrong.append(problem)
        elif value is not None:
            good[name] = value
    return replace(before, **good), wrong


def _problem(name: str, value: object, names: list[str]) -> str | None:
    if name not in names:
        return f"settings: there is no {name!r}{gone(name, SETTINGS) or nearest(name, names)}"
    if value is not None and not isinstance(value, _TYPES[name]):
        wanted = " or ".join(kind.__name__ for kind in _TYPES[name])
        return f"settings: {name}: expected {wanted}, got {type(value).__name__}"
    if name == "diagnosticMode" and value not in (OPEN_FILES, WORKSPACE, None):
        return f"settings: {name}: {value!r} is neither {OPEN_FILES!r} nor {WORKSPACE!r}"
    return None
