"""Targets that are bad in every way: each is one row with its reason, and the rest goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.fleet.measure import measure
from tclint.fleet.store import open_store
from tests.fleet_help import run, without_torch

pytest.importorskip("torch", reason="the targets run")

MODELS = """
import os, signal, sys, time
import torch
from torch import nn

class Whole(nn.Module):
    def forward(self, x):
        return x.relu()

class Chance(nn.Module):
    def forward(self, x):
        return x + time.perf_counter_ns() % 1000

ones = (torch.ones(2, 4),)

def make_a_garbage():
    for number in range(3, 64):
        try:
            os.write(number, b"garbage\\n")
        except OSError:
            pass
    return Whole(), ones, {}

def make_b_noise():
    print("x" * 5_000_000)
    os.write(1, b"more\\n" * 1000)
    return Whole(), ones, {}

def make_c_chance(): return Chance(), ones, {}
def make_d_crash(): os.kill(os.getpid(), signal.SIGSEGV)
def make_e_exit(): os._exit(0)
def make_f_ends(): sys.exit(3)
def make_hang(): time.sleep(3600)
def make_h_hunger(): return bytearray(64 << 30)
def make_i_missing():
    import no_such_package
def make_j_nothing(): return None
def make_k_whole(): return Whole(), ones, {}
def make_l_words(): raise ValueError("'; DROP TABLE units; --\\0\\ud800\\n| <b>")
"""
FLEET = """
[fleet]
memory-limit = 8
[[target]]
factories = "models.py:make_*"
without = ["*_hang"]
"""
HANG = """
[fleet]
time-limit = 5
[[target]]
factory = "models.py:make_hang"
"""
SAID = {
    "a_garbage": ("failed", "answer", "user code wrote where answers go"),
    "b_noise": ("whole", "", ""),
    "c_chance": ("breaks", "", ""),
    "d_crash": ("failed", "crash", "SIGSEGV"),
    "e_exit": ("failed", "exit", "ended with status 0 before it answered"),
    "f_ends": ("failed", "exit", "the target called sys.exit(3)"),
    "h_hunger": ("failed", "out-of-memory", ""),
    "i_missing": ("failed", "missing", "No module named 'no_such_package'"),
    "j_nothing": ("failed", "target", ""),
    "k_whole": ("whole", "", ""),
    "l_words": ("failed", "exception", "DROP TABLE"),
}


@pytest.mark.slow(90)
def test_each_is_one_row_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied_children: None
) -> None:
    without_torch(monkeypatch)
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "FLEET.toml").write_text(FLEET)
    ran, asked = run(tmp_path / "FLEET.toml", measure)
    assert (ran.measured, ran.known, len(asked)) == (len(SAID), 0, len(SAID))
    with open_store(tmp_path / "fleet.sqlite") as store:
        rows = [(unit.target.rpartition("make_")[2], unit.measured) for unit in store.units(1)]
    assert {name: (one.outcome, one.failure) for name, one in rows if one is not None} == {
        name: said[:2] for name, said in SAID.items()
    }
    for name, one in rows:
        assert one is not None
        assert SAID[name][2] in one.reason
    (tmp_path / "FLEET.toml").write_text(HANG)
    run(tmp_path / "FLEET.toml", measure)
    with open_store(tmp_path / "fleet.sqlite") as store:
        (late,) = store.units(2)
    assert late.measured is not None
    assert late.measured.failure == "timeout"
    assert late.measured.reason == "took longer than the time limit of 5 s"
    assert dict(rows)["c_chance"].verdict == "not-deterministic"  # type: ignore[union-attr]
