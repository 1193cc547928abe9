"""Forges on loopback for the review's tests.

``github_openapi.json`` is a part of GitHub's own description of its interface, from the npm package
``@octokit/openapi``; ``webhooks.json`` holds payloads that GitHub once sent, from
``@octokit/webhooks-examples``. Both are published under the MIT licence. ``node`` pins the
packages, and a slow test holds the copies to them.
"""
