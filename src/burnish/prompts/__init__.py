"""Prompts: files with placeholders, rendered strictly, with everything that is not ours fenced as data."""

import hashlib

VERSION = 2
"""Raised when a built-in text changes in a way that changes what agents do. Seals and ledgers name it."""


def digest(prompt: str) -> str:
    """The identity of a prompt: equal texts, and only those, have the same."""
    return hashlib.sha256(prompt.encode("utf-8", errors="surrogatepass")).hexdigest()
