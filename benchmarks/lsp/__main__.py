"""Times the language server: from a keystroke to the findings, and its memory while one types.

``python -m benchmarks.lsp [FILE] [--workspace FOLDER] [--edits N]`` opens a file in a server
process and types into functions that are spread over it: letters, line ends, and what makes the
file unreadable for a moment. The times are the client's, so that pipes and JSON count; those on a
processor are the server's alone, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import ast
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.lsp.client import Client, Stroke
from benchmarks.speed.sources import unpacked

WORD = "y = x.sum()"
DEFAULT = "models/qwen3_vl_moe/modeling_qwen3_vl_moe.py"


def strokes(text: str, seed: int) -> Iterator[Stroke]:
    """Keystrokes without end: a new line in some function, a statement, and its removal."""
    places = [
        (node.body[0].lineno - 1, node.body[0].col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno > node.lineno
    ]
    chance = random.Random(seed)
    while True:
        row, column = chance.choice(places)
        yield Stroke(row, 0, row, 0, f"{' ' * column}\n")
        for at, letter in enumerate(WORD, column):
            yield Stroke(row, at, row, at, letter)
        for at in reversed(range(column, column + len(WORD))):
            yield Stroke(row, at, row, at + 1, "")
        yield Stroke(row, 0, row + 1, 0, "")


def downloaded(work: Path) -> Path:
    """A file of some 2,000 lines from a package's source."""
    return next(unpacked("transformers", work).rglob(DEFAULT))


def main() -> None:
    """Type, and print the times and the memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help=f"default: {DEFAULT} of transformers")
    parser.add_argument("--workspace", type=Path, help="default: the file's folder")
    parser.add_argument("--work", type=Path, default=Path("benchmarks/out/lsp"))
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two keystrokes")
    given = parser.parse_args()
    path = (given.file or downloaded(given.work)).resolve()
    text = path.read_text("utf-8")
    with Client((given.workspace or path.parent).resolve()) as client:
        begun = time.perf_counter()
        found = client.open(path, text)
        opened = time.perf_counter() - begun
        print(f"{path.name}: {text.count(chr(10))} lines, {len(found)} findings")
        print(f"opened in {opened * 1000:.0f} ms")
        times: list[float] = []
        work: list[float] = []
        memory: list[float] = []
        for version, stroke in zip(range(1, given.edits + 1), strokes(text, 0), strict=False):
            begun, worked = time.perf_counter(), client.worked()
            client.type(path, version, stroke)
            client.diagnostics(version)
            times.append((time.perf_counter() - begun) * 1000)
            work.append(client.worked() - worked)
            memory.append(client.memory())
            time.sleep(given.pause)
    report(times, work, memory)


def report(times: list[float], work: list[float], memory: list[float]) -> None:
    """Print what was measured."""
    for name, values in ("until findings came", times), ("on a processor", work):
        last = sorted(values)[int(len(values) * 0.99)]
        print(
            f"{len(values)} keystrokes, {name}: median {median(values):.1f} ms, p99 {last:.1f} ms"
        )
    quarter = max(len(memory) // 4, 1)
    parts = [memory[start : start + quarter] for start in range(0, len(memory), quarter)]
    print("memory by quarters, at most: " + ", ".join(f"{max(part):.0f} MiB" for part in parts))


if __name__ == "__main__":
    main()
