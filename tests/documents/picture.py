"""Draws docs/images/review.svg: a real review of a small branch, as a terminal of 80 columns shows it.

`python -m tests.documents.picture` makes the repository, runs `burnish review` at a terminal, and writes the picture.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

from burnish.testing.repositories import RepositoryBuilder
from tests.end_to_end.screen import Screen

TARGET = Path(__file__).parents[2] / "docs" / "images" / "review.svg"
COLUMNS = 80
BASE = {
    "conftest.py": "",
    "shop/__init__.py": "",
    "shop/prices.py": "def shipping(cents):\n    return 500\n",
    "tests/test_prices.py": "from shop.prices import shipping\n\n\ndef test_shipping():\n"
    "    assert shipping(10) == 500\n",
}
CHANGE = {
    "shop/prices.py": "def discounted(cents, percent):\n    if percent > 90:\n"
    '        raise ValueError(f"{percent} % is too much: the most is {MOST}")\n'
    "    return cents - cents * percent // 100\n\n\n"
    "def shipping(cents):\n    if cents >= 5000:\n        return 0\n    return 500\n",
    "tests/test_prices.py": "from shop.prices import discounted, shipping\n\n\ndef test_shipping():\n"
    "    assert shipping(10) == 500\n    assert shipping(9000) == 0\n\n\n"
    "def test_discounts():\n    discounted(1000, 10)\n",
}
WIDTH, HEIGHT, MARGIN = 8.4, 18, 14
COLOURS = {"1": "#ffffff", "01": "#ffffff", "2": "#9aa4b2", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341"}
PLAIN, CODE = "#d5dae0", "#79c0ff"
_PIECES = re.compile(r"\x1b\[(\d+)m(.*?)\x1b\[0m|([^\x1b]+)")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="burnish-picture-") as folder:
        repository = RepositoryBuilder(Path(folder) / "shop").commit(BASE).branch("discounts").commit(CHANGE)
        # pytest is in the environment of the tests.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        user = {"PATH": path, "HOME": folder, "LANG": "C.UTF-8"}
        shown = Screen(repository.path, user, COLUMNS, "review").text()
    TARGET.write_text(_picture(["$ burnish review", *shown.strip("\n").splitlines()]), encoding="utf-8")


def _picture(lines: list[str]) -> str:
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    font = "font-family='ui-monospace, SFMono-Regular, Menlo, Consolas, monospace' font-size='14'"
    rows = "\n".join(
        f"<text x='{MARGIN}' y='{MARGIN + HEIGHT * row - 5}' xml:space='preserve'>{''.join(_spans(line))}</text>"
        for row, line in enumerate(lines, start=1)
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height}' "
        f"viewBox='0 0 {width:.0f} {height}' role='img' aria-label='burnish review in a terminal' {font}>\n"
        f"<rect width='100%' height='100%' rx='8' fill='#0f1419'/>\n{rows}\n</svg>\n"
    )


def _spans(line: str) -> Iterator[str]:
    for code, painted, plain in _PIECES.findall(line):
        text = painted or plain
        colour = COLOURS.get(code, CODE) if code else PLAIN
        weight = " font-weight='bold'" if code in ("1", "01") else ""
        yield f"<tspan fill='{colour}'{weight}>{escape(text)}</tspan>"


if __name__ == "__main__":
    main()
