"""Situations that tests of the configuration begin with."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from burnish.settings.loading import Flags, Merged, SettingsSources, load

Load = Callable[..., Merged]


def wrapped(lines: Sequence[str]) -> str:
    """Messages, one below the other, at the width of the files that quote them."""
    wrap = textwrap.TextWrapper(100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "".join(f"{wrap.fill(line)}\n" for line in lines)


@pytest.fixture
def merged(tmp_path: Path) -> Load:
    """Merges texts as if they were the files of the base, the working tree and the user."""

    def merge(
        base: str | None = None,
        *,
        working: str | None = None,
        user: str | None = None,
        environment: Mapping[str, str] | None = None,
        flags: Flags | None = None,
        trusted: bool = False,
    ) -> Merged:
        own = tmp_path / "config.toml"
        if user is not None:
            own.write_text(user, encoding="utf-8")
        sources = SettingsSources(
            base_file=lambda path: None if base is None or path != "burnish.toml" else base.encode(),
            working_file=lambda path: None if working is None or path != "burnish.toml" else working.encode(),
            user_file=own,
            environment=environment or {},
            flags=flags or Flags(),
            base_name="main",
            trusted=trusted,
        )
        return load(sources)

    return merge
