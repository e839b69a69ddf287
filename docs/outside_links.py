"""A hook of mkdocs: links to files of the repository that are not part of the site become plain text there.

They lead somewhere where the pages are read in the repository, and `tests/documents` checks that.
"""

import re
from typing import Any

_OUTSIDE = re.compile(r"\[(?P<text>[^\]]+)\]\(\.\./[^)]*\)")


def on_page_markdown(markdown: str, *, page: Any, **_others: Any) -> str:
    """Called by mkdocs for each page. Pages in a folder of their own link to their siblings above, which stay."""
    return markdown if "/" in page.file.src_uri else _OUTSIDE.sub(r"\g<text>", markdown)
