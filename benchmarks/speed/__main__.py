"""Times tclint and its peers side by side on the sources of real packages.

``python -m benchmarks.speed [NAME...] [--markdown FILE]`` downloads what is missing into ``--work``
and prints tables of ratios; see ``docs/benchmark-speed.md``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.speed.measure import Costs, best, run
from benchmarks.speed.peers import RUFF, SLOW, Peer, Tclint
from benchmarks.speed.releases import BINARIES, RELEASES, date_of
from benchmarks.speed.releases import installed as release
from benchmarks.speed.report import Package, Start, page, release_table, sample_table
from benchmarks.speed.sources import NAMES, sample, size, unpacked

ONE_FILE = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.item()\n"
Measure = Callable[[], Costs]
MOST_ROUNDS = 10
ENOUGH = 10.0  # seconds of runs without a cache, for one package


def installed(peer: Peer, work: Path) -> Path:
    """The programs of a peer, in an environment of its own."""
    home = work / "environments" / peer.name.replace(" ", "-")
    binaries = home / BINARIES
    if not (home / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        pip = [str(binaries / "python"), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, *peer.packages], check=True)
        (home / "done").touch()
    return binaries


def by_turns(measures: Mapping[str, Measure], rounds: int) -> dict[str, Costs]:
    """The best costs of each, with the rounds of all interleaved."""
    found: dict[str, list[Costs]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found[name].append(measure())
    return {name: best(costs) for name, costs in found.items()}


def of_peer(peer: Peer, source: Path, work: Path) -> Measure:
    command = peer.arguments(installed(peer, work), source)
    return lambda: run(command, peer.environment)


def package(name: str, work: Path, tclint: Tclint, rounds: int) -> Package:
    source = unpacked(name, work)
    with tempfile.TemporaryDirectory() as cache:
        remembering = tclint.check(source, Path(cache), 1)
        # Short runs vary more, and can be had more often.
        rounds = max(rounds, min(MOST_ROUNDS, int(ENOUGH / run(remembering).wall)))
        costs = by_turns(
            {
                "ruff": of_peer(RUFF, source, work),
                "cold": lambda: run(tclint.check(source, None, 1)),
                "warm": lambda: run(remembering),
                "both": lambda: run(tclint.check(source, None, 2)),
            },
            rounds,
        )
    return Package(name, *size(source), **costs)


def start(tclint: Tclint, rounds: int) -> Start:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "one.py")
        file.write_text(ONE_FILE, "utf-8")
        remembering = tclint.check(file, Path(folder, "cache"), 1)
        run(remembering)
        costs = by_turns(
            {
                "python": lambda: run([sys.executable, "-c", "pass"]),
                "version": lambda: run(tclint.version()),
                "one_file": lambda: run(tclint.check(file, None, 1)),
                "one_file_again": lambda: run(remembering),
            },
            rounds,
        )
    return Start(**costs)


def sampled(name: str, count: int, work: Path, tclint: Tclint) -> str:
    """The slow peers on a few files, one round each, and tclint before every one of them."""
    # Not below `work`, which git ignores: Fixit would check nothing there.
    with tempfile.TemporaryDirectory() as place:
        folder = sample(unpacked(name, work), count, Path(place, "sample"))
        own: list[Costs] = []
        others: list[tuple[str, Costs]] = []
        for peer in (RUFF, *SLOW):
            own += [run(tclint.check(folder, None, 1)) for _ in range(2)]
            others.append((peer.name, of_peer(peer, folder, work)()))
        return sample_table(len([*folder.iterdir()]), best(own), others)


def releases(
    name: str, commits: Sequence[str], work: Path, tclint: Tclint, rounds: int
) -> dict[str, Costs]:
    """Cold runs of earlier commits over one package, of ruff and of this tclint, in turns."""
    source = unpacked(name, work)
    measures: dict[str, Measure] = {"ruff": of_peer(RUFF, source, work)}
    for commit in commits:
        then = Tclint((str(release(commit, work)),)).check(source, None, 1)
        measures[f"{commit}, {date_of(commit)}"] = partial(run, then)
    measures["this one"] = partial(run, tclint.check(source, None, 1))
    return by_turns(measures, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=150, help="files for the slow peers")
    parser.add_argument("--work", type=Path, default=Path("benchmarks/out"))
    parser.add_argument("--markdown", type=Path, help="also write the page here")
    parser.add_argument("--tclint", type=Path, help="the program of a compiled wheel, to time that")
    told = "earlier commits to time as well, compiled; none to leave them out"
    parser.add_argument("--releases", nargs="*", default=RELEASES, metavar="COMMIT", help=told)
    parser.add_argument("--clear", action="store_true", help="download and install all anew")
    options = parser.parse_args()
    names = options.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"no such sources: {', '.join(sorted(unknown))}; known: {', '.join(NAMES)}")
    if options.clear:
        shutil.rmtree(options.work, ignore_errors=True)
    tclint = Tclint((str(options.tclint),)) if options.tclint else Tclint()
    packages = [package(name, options.work, tclint, options.rounds) for name in names]
    slow = sampled(names[0], options.sample, options.work, tclint)
    form = "an installed wheel, compiled" if options.tclint else "run from its sources"
    then = releases(names[0], options.releases, options.work, tclint, options.rounds)
    tables = release_table(names[0], then), slow
    text = page(form, start(tclint, 10), packages, tables, options.rounds)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
