"""Two private names of one question become its public name, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from .proof.fixing import fixed

HEAD = "import torch\nimport torch._dynamo\nimport torch._utils\n\n\ndef f(x, flag=None):\n"
PUBLIC = "torch.compiler.is_compiling()"
DYNAMO, UTILS = "torch._dynamo.is_compiling()", "torch._utils.is_compiling()"


@pytest.mark.parametrize(
    ("test", "wanted"),
    [
        (f"{DYNAMO} or {UTILS}", PUBLIC),
        (f"{UTILS} or {DYNAMO}", PUBLIC),
        (f"{DYNAMO} and {UTILS}", PUBLIC),
        (f"{PUBLIC} or {UTILS}", PUBLIC),
        (f"not ({DYNAMO} or {UTILS})", f"not {PUBLIC}"),
        (f"flag or {DYNAMO} or {UTILS}", f"flag or {PUBLIC}"),
        (f"{DYNAMO} or {UTILS} or flag", f"{PUBLIC} or flag"),
        (f"{DYNAMO} or flag or {UTILS}", f"{PUBLIC} or flag or {PUBLIC}"),
        (f"{DYNAMO} or not {UTILS}", f"{PUBLIC} or not {PUBLIC}"),
        (DYNAMO, PUBLIC),
    ],
)
def test_a_question_is_asked_once(test: str, wanted: str, tmp_path: Path) -> None:
    code = f"{HEAD}    asked = {test}\n    return asked, x\n"
    after = fixed(code, tmp_path, select=("TCL421",))
    assert after == f"{HEAD}    asked = {wanted}\n    return asked, x\n"
