"""When the tracer of the GPU is taken out of a program that goes on after it was profiled."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tclint.recorder.site.tclint_recorder.profiles import Profiles, detaches
from tclint.recorder.site.tclint_recorder.recording import Recording


@pytest.mark.parametrize(
    ("cuda", "expected"),
    [
        ("13.0", True),
        ("12.6", True),
        ("12.10", True),
        ("12.4", False),
        ("11.8", False),
        ("12.x", False),
        ("", False),
        (None, False),
    ],
)
def test_it_is_taken_out_where_cuda_can_do_that(
    cuda: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEARDOWN_CUPTI", raising=False)
    assert detaches(SimpleNamespace(version=SimpleNamespace(cuda=cuda))) is expected


@pytest.mark.parametrize("said", ["0", "1"])
def test_what_the_program_or_torch_says_of_it_holds(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEARDOWN_CUPTI", said)
    assert not detaches(SimpleNamespace(version=SimpleNamespace(cuda="13.0")))


class _Kineto:
    """Detaches as Kineto does: a thread waits for a call to CUDA, then asks for the variable."""

    def __init__(self, *, stays: bool = False) -> None:
        self.asked: list[bytes | None] = []
        self._called, self._stays = threading.Event(), stays
        self._thread = threading.Thread(target=self._detach, daemon=True)

    def stop(self) -> None:
        self._thread.start()

    def call(self) -> bool:
        if not self._stays:
            self._called.set()
        return False

    def end(self) -> None:
        self._called.set()
        self._thread.join()

    def _detach(self) -> None:
        self._called.wait()
        time.sleep(0.02)
        self.asked.append(_asked_of_c())


def _asked_of_c() -> bytes | None:
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    found: bytes | None = getenv(b"TEARDOWN_CUPTI")
    return found


def _profiled(kineto: _Kineto, folder: Path) -> None:
    torch = SimpleNamespace(
        _C=SimpleNamespace(_autograd=SimpleNamespace(_profiler_enabled=lambda: False)),
        version=SimpleNamespace(cuda="13.0"),
        cuda=SimpleNamespace(is_initialized=lambda: True, is_current_stream_capturing=kineto.call),
        profiler=SimpleNamespace(
            ProfilerActivity=SimpleNamespace(CPU=0, CUDA=1),
            profile=lambda **_: SimpleNamespace(start=lambda: None, stop=kineto.stop),
        ),
        autograd=SimpleNamespace(
            profiler=SimpleNamespace(profile=SimpleNamespace(_prepare_trace=None))
        ),
    )
    profiles = Profiles(torch, Recording(str(folder)))
    assert profiles.open(lambda: 0)
    profiles.drop()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_kineto_finds_the_variable_for_as_long_as_it_detaches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEARDOWN_CUPTI", raising=False)
    kineto = _Kineto()
    _profiled(kineto, tmp_path)
    assert kineto.asked == [b"1"]
    assert _asked_of_c() is None


def test_a_tracer_that_stays_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEARDOWN_CUPTI", raising=False)
    kineto = _Kineto(stays=True)
    _profiled(kineto, tmp_path)
    assert kineto.asked == []
    assert _asked_of_c() is None
    kineto.end()
