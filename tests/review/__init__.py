"""Forges on loopback for the review's tests.

``github_openapi.json`` is a part of GitHub's own description of its interface, from the npm package
``@octokit/openapi``, published under the MIT licence. ``node`` pins the packages, and a slow test
holds the copy to them.
"""
