"""kingfisher on files with made-up secrets. They are put together here, so that none stands in this repository."""

import sqlite3
import zipfile
from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError
from burnish.agents.panel.tools.kingfisher import Kingfisher
from tests.agents.analysers.tools.running import look, places, start, write, write_for

TOKEN_RULE, KEY_RULE = "betterleaks.github-pat", "betterleaks.private-key"
SOME = RuleSelection(select=(TOKEN_RULE, KEY_RULE))
"""Compiling all rules takes seconds."""
TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nR6"
LINE = f't = "{TOKEN}"\n'
_MARK = "RSA PRI{}VATE KEY-----\n".format("")
KEY = f"-----BEGIN {_MARK}{'MIIEpAIBAAKCAQEA7bq9x8Zt' * 8}\n-----END {_MARK}"


def test_what_is_found_where_and_the_secret_is_not_repeated(tmp_path: Path) -> None:
    (hit,) = look(Kingfisher(), tmp_path, {"a.py": f"# é𝒳\n{LINE}"}, SOME)
    assert places([hit]) == [("a.py", 2, TOKEN_RULE)]
    assert hit.confidence == "high"
    assert TOKEN not in str(hit)


def test_the_same_secret_is_found_in_every_place(tmp_path: Path) -> None:
    hits = look(Kingfisher(), tmp_path, {"a.py": LINE + LINE, "b.py": LINE}, SOME)
    assert places(hits) == [("a.py", 1, TOKEN_RULE), ("a.py", 2, TOKEN_RULE), ("b.py", 1, TOKEN_RULE)]


def test_every_name_is_looked_at(tmp_path: Path) -> None:
    odd = ("-f.py", "sp ace.py", "new\nline.py", "[id].py", "é.txt", "a/b", "github.com/a/b")
    hidden = (".hidden/a", ".env", "ignored.py", "tests/a.py", "dist/a.min.js", "b\udcff.py")
    passed_over = (
        "package-lock.json",
        "yarn.lock",
        "go.sum",
        "a.svg",
        "a.png",
        "node_modules/a.js",
        "vendor/bundle/a.rb",
    )
    write(tmp_path, {".gitignore": "*\n"})
    hits = look(Kingfisher(), tmp_path, dict.fromkeys((*odd, *hidden, *passed_over), LINE), SOME)
    assert [hit.file for hit in hits] == sorted((*odd, *hidden, *passed_over))


def test_a_private_key_is_found_in_a_file_named_like_one(tmp_path: Path) -> None:
    assert places(look(Kingfisher(), tmp_path, {"server.key": KEY}, SOME)) == [("server.key", 1, KEY_RULE)]


def test_bytes_that_are_no_text_hide_nothing(tmp_path: Path) -> None:
    hits = look(Kingfisher(), tmp_path, {"a.bin": b"\x00\x01\xff\n" + LINE.encode(), "b.py": b"\xff\n"}, SOME)
    assert places(hits) == [("a.bin", 2, TOKEN_RULE)]


def test_a_comment_silences_nothing(tmp_path: Path) -> None:
    hits = look(Kingfisher(), tmp_path, {"a.py": f't = "{TOKEN}"  # kingfisher:ignore\n'}, SOME)
    assert places(hits) == [("a.py", 1, TOKEN_RULE)]


def test_a_secret_in_an_archive_belongs_to_the_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inner/settings.py", LINE)
    with sqlite3.connect(tmp_path / "b.sqlite") as database:
        database.execute("create table t (x)")
        database.execute("insert into t values (?)", (LINE,))
    database.close()
    content = {name: (tmp_path / name).read_bytes() for name in ("a.zip", "b.sqlite")}
    hits = look(Kingfisher(), tmp_path / "scan", {**content, "a.zi": "x\n"}, SOME)
    assert sorted((hit.file, hit.line) for hit in hits) == [("a.zip", None), ("b.sqlite", None)]
    assert "inner/settings.py" in next(hit.message for hit in hits if hit.file == "a.zip")


def test_behind_the_end_of_an_archive_nothing_hides(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w"):
        pass
    empty = (tmp_path / "a.zip").read_bytes()
    names = ("a.zip", "b.docx", "c.tar")
    contents = (empty + LINE.encode(), empty, b"\0" * 10_240 + LINE.encode())
    hits = look(Kingfisher(), tmp_path / "scan", dict(zip(names, contents, strict=True)), SOME)
    assert [(hit.file, hit.rule) for hit in hits] == [("a.zip", TOKEN_RULE), ("c.tar", TOKEN_RULE)]


def test_a_clean_file_gives_nothing_and_nothing_is_written(tmp_path: Path) -> None:
    assert look(Kingfisher(), tmp_path, {"a.py": "x = 1\n", "empty": ""}, SOME) == ()
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    names = (*write_for(Kingfisher(), tmp_path, {"a.py": LINE}), "missing.py")
    with pytest.raises(ToolError, match="checked 1 of 2 files"):
        Kingfisher().read(start(Kingfisher(), tmp_path, names, SOME), names)


def test_a_file_that_nobody_asked_about_is_left_alone(tmp_path: Path) -> None:
    write_for(Kingfisher(), tmp_path, {"a.js": "x = 1\n", "a.js.map": LINE, "b.js": LINE})
    names = ("a.js", "b.js")
    hits = Kingfisher().read(start(Kingfisher(), tmp_path, names, SOME), names)
    assert places(hits) == [("b.js", 1, TOKEN_RULE)]


def test_an_unknown_rule_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": LINE})
    with pytest.raises(ToolError):
        Kingfisher().read(start(Kingfisher(), tmp_path, ("a.py",), RuleSelection(select=("nope",))), ("a.py",))


@pytest.mark.prove
def test_all_rules_together(tmp_path: Path) -> None:
    hits = look(Kingfisher(), tmp_path, {"a.py": LINE, "server.key": KEY, "b.py": "x = 1\n"})
    assert {(hit.file, hit.rule) for hit in hits} == {("a.py", TOKEN_RULE), ("server.key", KEY_RULE)}


def test_it_takes_every_file() -> None:
    assert Kingfisher().takes(SourceFile(path="anything"))
