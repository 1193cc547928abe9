"""Git's own HTTP server, behind ASGI."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request


def git_http(request: Request, body: bytes, folders: Mapping[str, Path]) -> Response:
    """Answer as ``git http-backend`` does for ``/git/OWNER/NAME.git/...``."""
    full_name, _, rest = request.path_params["path"].partition(".git/")
    folder = folders.get(full_name)
    if folder is None:
        return Response(status_code=404)
    done = subprocess.run(
        ("git", "-c", "uploadpack.allowAnySHA1InWant=true", "http-backend"),
        input=body,
        env={
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(folder / ".git"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH_INFO": f"/{rest}",
            "REQUEST_METHOD": request.method,
            "QUERY_STRING": request.url.query,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "REMOTE_USER": "",
        },
        capture_output=True,
        check=False,
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if line)
    status = int(headers.pop("Status", "200 OK").split()[0])
    return Response(content, status, headers)
