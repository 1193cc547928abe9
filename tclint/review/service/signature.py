"""Whether a webhook comes from GitHub."""

from __future__ import annotations

import hmac
from hashlib import sha256

from tclint.review.secret import Secret


def sign(secret: Secret, body: bytes) -> str:
    """The value of ``X-Hub-Signature-256`` for a body."""
    return "sha256=" + hmac.new(secret.reveal().encode(), body, sha256).hexdigest()


def is_signed(secret: Secret, body: bytes, signature: str) -> bool:
    """Whether the signature is the body's; takes the same time wherever the two differ."""
    given = signature.encode("utf-8", "surrogateescape")
    return hmac.compare_digest(sign(secret, body).encode(), given)
