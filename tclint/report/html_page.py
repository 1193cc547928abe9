"""The frame of a page that needs nothing else: no script, no other file."""

from __future__ import annotations

from string import Template
from typing import Final

PAGE: Final = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>$style</style>
</head>
<body>
<h1>$title</h1>
<p class="soft">$summary</p>
$body
</body>
</html>
""")
