"""A GitHub App: proves who it is, and gets tokens for the repositories that it is installed in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import jwt

from tclint.review.client import Client, Patience
from tclint.review.github.api import headers
from tclint.review.secret import Secret

PERMISSIONS: Final = {"contents": "read", "pull_requests": "write", "checks": "write"}
"""The least that reviews need: code is only read."""

_LIFETIME: Final = 540
"""Seconds; GitHub allows ten minutes, and clocks differ."""

_DRIFT: Final = 60


class App:
    """The app with its private key."""

    def __init__(
        self,
        api_url: str,
        app_id: str,
        key: Secret,
        patience: Patience | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._api_url = api_url
        self._app_id = app_id
        self._key = key
        self._now = now
        self._patience = patience
        self._client = Client(api_url, lambda: headers(self.signed()), patience)
        self._login = ""

    def signed(self) -> str:
        """A token that says who the app is, for a few minutes (RS256, as GitHub asks)."""
        now = int(self._now())
        claims = {"iat": now - _DRIFT, "exp": now + _LIFETIME, "iss": self._app_id}
        return jwt.encode(claims, self._key.reveal(), algorithm="RS256")

    def login(self) -> str:
        """The name under which the app writes.

        Raises:
            ApiError: GitHub does not know the app.
        """
        if not self._login:
            self._login = f"{self._client.get('/app')['slug']}[bot]"
        return self._login

    def token(self, installation: int, repository: str) -> Secret:
        """A token for one repository (its name without the owner), with the least permissions.

        Raises:
            ApiError: the app is not installed there, or GitHub did not answer.
        """
        path = f"/app/installations/{installation}/access_tokens"
        wanted = {"repositories": [repository], "permissions": PERMISSIONS}
        # Another token does no harm.
        answer = self._client.request("POST", path, wanted, repeatable=True)
        return Secret(answer["token"])

    def client(self, token: Secret) -> Client:
        """A client that uses an installation's token."""
        return Client(self._api_url, lambda: headers(token.reveal()), self._patience)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
