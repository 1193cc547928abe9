"""When the tracer of the GPU is taken out of a program that goes on after it was profiled."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tclint.recorder.site.tclint_recorder.profiles import detaches


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
