"""Long texts lose the lines that are comments, and nothing that runs."""

import pytest

from burnish.agents.panel.suppressions import disarmed, without_padding

LONG = 300_000


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("a.py", 'x = b"\\\n#\\xb6\\xe5\\\n"\n'),
        ("a.py", "x = '''\n# '''; run()\n'''\n"),
        ("a.py", "x = f'''\n# {run()}\n'''\n"),
        ("a.py", "x = 1\n# a\rrun()\n"),
        ("a.js", "x = `\n// `; run()\n`\n"),
        ("a.js", "x = `\n// ${run()}\n`\n"),
        ("a.js", "/* a\n// */ run()\n/* b */\n"),
        ("a.js", "/* a\n/* b */\nrun()\n/* c */\n"),
        ("a.js", "x = 1\n// a\u2028run()\n"),
        ("a.jsx", "x = <a>\n// </a>; run()\n"),
        ("a.sh", "cat <<'# END'\nx\n# END\nrun\n"),
        ("a.sh", "cat <<END\n# $(run)\nEND\n"),
    ],
)
def test_what_looks_like_a_comment_and_is_none_stays(path: str, kept: str) -> None:
    text = kept.encode() + b"x\n" * LONG
    assert without_padding(path, text) == text


@pytest.mark.parametrize(("path", "mark"), [("a.py", "#"), ("a.sh", "  #"), ("a.ts", "//"), ("a.go", "\t//")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_go_and_lines_stay(path: str, mark: str, end: str) -> None:
    text = f"x{end}{mark} padding{end}y{end}".encode()
    short = without_padding(path, text * LONG)
    assert short.count(b"\n") == 3 * LONG
    assert b"padding" not in short
    assert without_padding(path, text) == text


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("import os  # noqa\n", "import os  # noqx\n"),
        ("a = 1  # why  # NOQA: F401, then noqa\n", "a = 1  # why  # NOQx: F401, then noqx\n"),
        ("from shop.noqa import noqa\nnoqa()  # noqa\n", "from shop.noqa import noqa\nnoqa()  # noqx\n"),
        ("a = 1  # b\rnoqa = 2\n", "a = 1  # b\rnoqa = 2\n"),
        ("# noqas\n", "# noqas\n"),
    ],
)
def test_only_in_comments_a_word_silences_ruff(code: str, after: str) -> None:
    assert disarmed(code.encode()) == after.encode()
