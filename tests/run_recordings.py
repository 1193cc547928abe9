"""Folders as the recorder leaves them, written by hand: no torch is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.run.read import read_folder
from tclint.run.report.text import render
from tclint.run.session import Answer, answer

START = 1_700_000_000_000_000_000
MS = 1_000_000
SCRIPT = """\
import torch


def step(model, x):
    loss = model(x).sum()
    loss.backward()
    return loss.item()


@torch.compile
def masked(x, mask):
    x[mask] += 1
    return x


for _ in range(100):
    step(masked, torch.ones(3))
"""
BREAK = """\
Graph break in user code at {file}:12
Graph Break Reason: Dynamic shape operator
  Explanation: its output shape depends on input Tensor data.
 For more details about this graph break, please visit: https://x.org/gb/gb0036.html
User code traceback:
  File "{file}", line 17, in <module>
    step(masked, torch.ones(3))
  File "{file}", line 12, in masked
    x[mask] += 1
"""


def evenly(numbers: list[int]) -> list[list[int]]:
    """Samples of these stacks, each after as much time, from step 20 to 40 of 10 ms each."""
    gap = 199 * MS // max(1, len(numbers))
    return [[START + 19 * 10 * MS + (n + 1) * gap, number] for n, number in enumerate(numbers)]


class Recording:
    """A folder as the recorder leaves it, line by line."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "train.py"
        self.script.write_text(SCRIPT)
        self.folder = folder / "recording"
        self.folder.mkdir()

    def process(self, *lines: dict[str, Any], pid: int = 1, **more: Any) -> None:
        head = {
            "kind": "process", "pid": pid, "parent": 0, "started": START + pid,
            "arguments": ["python", "train.py"], "folder": str(self.script.parent),
            "executable": "python", "python": "3.11", "torch": "2.13.0",
            "libraries": ["/usr/lib/python3.11", "/env/lib/site-packages"], **more,
        }  # fmt: skip
        text = "".join(json.dumps(line) + "\n" for line in (head, *lines))
        (self.folder / f"process-{pid}-0.jsonl").write_text(text)

    def place(self, row: int, function: str = "step") -> dict[str, Any]:
        return {"filename": str(self.script), "row": row, "function": function}

    def break_line(self) -> dict[str, Any]:
        text = BREAK.format(file=self.script)
        return {"kind": "break", "at": START, "compile_id": "0/0", "text": text}

    def compiled(self, compile_id: str = "0/0", **more: Any) -> dict[str, Any]:
        place = {**self.place(11, "masked"), "compile_id": compile_id, "seconds": 0.5}
        return {"kind": "compiled", "at": START, **place, **more}

    def steps(self, milliseconds: float = 10, watched: list[list[int]] | None = None) -> Any:
        ends = [START + int(n * milliseconds * MS) for n in range(61)]
        return {
            "kind": "steps", "marker": "backward", "place": self.place(6), "ends": ends,
            "warm_up": 10, "watched": watched or [],
        }  # fmt: skip

    def samples(self, hits: dict[int, int]) -> dict[str, Any]:
        rows = list(hits)
        stacks = [[self.place(17, "<module>"), self.place(row)] for row in rows]
        found = evenly([n for n, row in enumerate(rows) for _ in range(hits[row])])
        return {
            "kind": "samples", "interval": MS, "first": 20, "last": 40, "stacks": stacks,
            "hits": found,
        }  # fmt: skip

    def end(self) -> dict[str, Any]:
        return {"kind": "end", "at": START, "how": "exit"}

    def answer(self) -> Answer:
        config = Config(self.script.parent)
        return answer(("python", "train.py"), None, read_folder(self.folder), self.folder, config)

    def told(self) -> str:
        return render(self.answer(), self.script.parent)
