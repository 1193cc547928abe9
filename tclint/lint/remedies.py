"""Settings of Dynamo that remove a break whose line stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import ChainLink, Remedy
from tclint.torch_facts.dynamo_settings import DynamoSetting, with_needed

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Root
    from tclint.semantics.site import Site


class CompiledAt:
    """Where the program compiles the functions that regions start with."""

    def __init__(self, roots: Iterable[Root]) -> None:
        """``roots`` are all that an analysis has walked."""
        self._places: dict[tuple[str, str], set[ChainLink]] = {}
        for root in roots:
            info, place = root.function.info, root.place
            if place is not None:
                key = str(info.module.file.path), info.qualname
                self._places.setdefault(key, set()).add(place)

    def places(self, site: Site) -> tuple[ChainLink, ...]:
        """The calls of `torch.compile` that the way to a place starts with."""
        if not site.chain:
            return ()
        first = site.chain[0]
        found = self._places.get((first.filename, first.function), ())
        return tuple(sorted(found, key=lambda place: (place.filename, place.row)))


NOWHERE: Final = CompiledAt(())


def remedies(site: Site, names: tuple[str, ...], compiled_at: CompiledAt) -> Iterator[Remedy]:
    """The settings of these names, where the project's torch has them and they are not on yet."""
    missing = [one for one in with_needed(names) if not site.has_setting(one.name)]
    if names and all(_is_known(one, site) for one in missing):
        yield _setting(missing, compiled_at.places(site))


def _setting(missing: list[DynamoSetting], places: tuple[ChainLink, ...]) -> Remedy:
    names = " and ".join(f"`{one.dotted}`" for one in missing)
    implied = {name for one in missing for name in one.needs}  # whose risk the others tell, too
    risks = "; ".join(dict.fromkeys(one.risk for one in missing if one.name not in implied))
    lines = tuple(one.line for one in missing)
    return Remedy(f"Turn on {names}", risks, lines, places)


def _is_known(setting: DynamoSetting, site: Site) -> bool:
    """True for a setting that all releases of torch have that the project is for."""
    lifetime, settings = setting.lifetime, site.settings
    if lifetime is None:
        return False
    return lifetime.holds(settings.oldest_torch) and lifetime.holds(settings.target_torch)
