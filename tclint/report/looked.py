"""What a run looked at: a line below each report, and the map of compiled regions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tclint.printable import json_text
from tclint.report.view import absolute, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tclint.diagnostics import ChainLink
    from tclint.lint.engine import Run
    from tclint.lint.looked import Looked, RegionSeen
    from tclint.report.view import View

Object = dict[str, object]


def looked_line(run: Run) -> str:
    """``Looked at 41 files: 3 compiled regions, 214 functions; 12 training loops.``, and advice.

    Empty where there were no files.
    """
    looked = run.looked
    if not run.files:
        return ""
    seen = ", ".join(_parts(looked)) or "no compiled code"
    loops = f"; {count(looked.loop_count, 'training loop')}" if looked.loops else ""
    told = [f"Looked at {count(run.files, 'file')}: {seen}{loops}."]
    if looked.unseen:
        told.append(f"{_unseen(looked)} (`--show-regions` shows where).")
    elif not looked.regions:
        told.append(_advice(looked))
    return " ".join(told)


def figures(run: Run) -> dict[str, int]:
    """The same as numbers."""
    return {
        "files": run.files,
        "compiled_regions": len(run.looked.regions),
        "assumed": len(run.looked.assumed),
        "functions": run.looked.function_count,
        "training_loops": run.looked.loop_count,
    }


def as_text(run: Run, view: View) -> str:
    """Each region with where it is compiled, what it reaches and which loops call it."""
    looked = run.looked
    parts = [_region(region, view) for region in looked.regions]
    if looked.unseen:
        places = "".join(f"  {_place(place, view)}\n" for place in looked.unseen)
        parts.append(f"Compiled, but not in these files:\n{places}")
    if looked.assumed:
        places = "".join(f"  {_place(link, view)}\n" for link in looked.assumed)
        parts.append(f"Checked as if compiled:\n{places}")
    return "\n".join([*parts, f"{looked_line(run)}\n"])


def as_json(run: Run) -> str:
    """The same as one JSON object."""
    looked = run.looked
    regions = [
        {
            "root": _object(region.root),
            "compiled_at": _objects(region.places),
            "functions": _objects(region.reached),
            "loops": _objects(region.loops),
        }
        for region in looked.regions
    ]
    told = {
        **figures(run),
        "regions": regions,
        "not_in_these_files": _objects(looked.unseen),
        "as_if_compiled": _objects(looked.assumed),
    }
    return json_text(told) + "\n"


def compiled_at(region: RegionSeen, view: View) -> str:
    """Where a region is compiled, in words."""
    if not region.places:
        return "compiled by other code, as `compiled` says"
    return f"compiled in {', '.join(_row(place, view) for place in region.places)}"


def _parts(looked: Looked) -> Iterator[str]:
    if looked.regions:
        yield count(len(looked.regions), "compiled region")
    if looked.assumed:
        noun = "module" if _are_modules(looked) else "function"
        yield f"{count(len(looked.assumed), noun)} as if compiled"
    if looked.functions:
        yield count(looked.function_count, "function")


def _unseen(looked: Looked) -> str:
    calls = count(len(looked.unseen), "call")
    take = "takes" if len(looked.unseen) == 1 else "take"
    return f"{calls} of `torch.compile` {take} what is not in these files"


def _advice(looked: Looked) -> str:
    others = ", or use `--scope all`" if all(map(_is_of_torch, looked.assumed)) else ""
    return f"Nothing here is compiled; if other code compiles it, name it in `compiled`{others}."


def _is_of_torch(link: ChainLink) -> bool:
    """True for what torch calls: other functions are assumed where all are."""
    return link.function.endswith(("forward", ".step"))


def _are_modules(looked: Looked) -> bool:
    return all(link.function.endswith("forward") for link in looked.assumed)


def _region(region: RegionSeen, view: View) -> str:
    lines = [f"{_place(region.root, view)}: {compiled_at(region, view)}"]
    others = region.reached[1:]
    lines += [f"  reaches {_place(link, view)}" for link in others]
    lines += [f"  called by the loop at {_row(loop, view)}" for loop in region.loops]
    return "".join(f"{line}\n" for line in lines)


def _place(link: ChainLink, view: View) -> str:
    return f"{link.function} ({_row(link, view)})"


def _row(link: ChainLink, view: View) -> str:
    return f"{view.path(Path(link.filename))}:{link.row}"


def _objects(links: Iterable[ChainLink]) -> list[Object]:
    return [_object(link) for link in links]


def _object(link: ChainLink) -> Object:
    return {"function": link.function, "filename": absolute(Path(link.filename)), "row": link.row}
