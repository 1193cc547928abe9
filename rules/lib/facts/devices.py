"""Whether what a file computes may be on a device that one waits for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tclint.regexes import regex
from tclint.semantics.site import Site

_TOLD: Final = regex(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|#[^\n]*')
_ON_DEVICE: Final = regex(
    r"cuda|accelerat|gpu|fabric|xpu|lightning|deepspeed|nccl|fp16|bf16|bfloat16|autocast",
    re.IGNORECASE,
)
_SPEAKS: Final = regex(r"device", re.IGNORECASE)
_BOUND: Final = regex(
    r"^[ \t]*[\w.]*device\w*\s*(?::[^=\n]+)?=(?!=)\s*([^\n]+?)\s*$", re.IGNORECASE | re.MULTILINE
)
_CPU: Final = regex(r"(?:torch\.device\(\s*)?[\"']cpu[\"']\)?$")


def may_be_on_gpu(site: Site) -> bool:
    """True for a file whose code names a GPU, or a device that is not always the CPU."""
    return _names_gpu(site.module.file.text)


@lru_cache(maxsize=8)
def _names_gpu(text: str) -> bool:
    """Kept, since the loops of a file ask one after the other, and a search goes through it all."""
    if not _ON_DEVICE.search(text) and not _SPEAKS.search(text):
        return False
    code = _TOLD.sub("", text)
    if _ON_DEVICE.search(code):
        return True
    if not _SPEAKS.search(code):
        return False
    bound = _BOUND.findall(code)
    return not (bound and all(map(_CPU.match, bound)))
