"""Catalogues: packages' models with what it takes to call them, brought by plug-ins.

A plug-in names a :class:`Catalogue` in the entry point group ``tclint.catalogues``. Only the child
processes import its factories, so that neither torch nor the package is needed to list them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Final

from tclint.config_keys import nearest
from tclint.fleet.config import FleetError
from tclint.records import record

GROUP: Final = "tclint.catalogues"


@record(frozen=True)
class Catalogue:
    """The models of one package.

    ``factories`` is where the mapping of names to factories is, as ``module:MAPPING``; ``names``
    are its names, each with the family that reports put it in.
    """

    package: str
    factories: str
    names: Mapping[str, str]


def load_catalogue(name: str) -> Catalogue:
    """The catalogue of that name.

    Raises:
        FleetError: no plug-in brings it.
    """
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none is installed"
        raise FleetError(f"there is no catalogue {name!r}{nearest(name, found)}; known: {known}")
    loaded = found[name].load()
    if not isinstance(loaded, Catalogue):
        raise FleetError(f"the catalogue {name!r} ({found[name].value}) is not a Catalogue")
    return loaded
