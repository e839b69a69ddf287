"""A long diff says what is missing from it."""

from burnish.prompts.fences import shortened_diff


def part(path: str, lines: int, old: str | None = None) -> str:
    body = "".join(f"+line {number}\n" for number in range(lines))
    return f"diff --git a/{old or path} b/{path}\n--- a/{old or path}\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"


def test_a_short_diff_is_whole() -> None:
    diff = part("a.py", 3)
    assert shortened_diff(diff, len(diff)) == diff


def test_files_are_named_that_are_cut_or_missing() -> None:
    diff = part("a.py", 3) + part("dir/b c.py", 100) + part("c.py", 1) + part("new.py", 1, old="old.py")
    *kept, count, cut, missing = shortened_diff(diff, 400).split("\n")
    kept_characters = len("\n".join(kept))
    assert [count, cut, missing] == [
        f"… {len(diff) - kept_characters:,} characters left out",
        "Cut off in: dir/b c.py",
        "Not shown at all: c.py, new.py",
    ]


def test_a_cut_between_two_files_cuts_none() -> None:
    first = part("a.py", 30)
    short = shortened_diff(first + part("b.py", 30), len(first) + 3)
    assert "Cut off in" not in short
    assert short.endswith("Not shown at all: b.py")


def test_a_path_that_looks_like_two_is_read_right() -> None:
    diff = part("x b/y.py", 50)
    assert shortened_diff(diff, 100).endswith("Cut off in: x b/y.py")


def test_many_missing_files_are_counted() -> None:
    diff = "".join(part(f"f{number}.py", 1) for number in range(300))
    assert shortened_diff(diff, 70).endswith("f100.py and 199 more")


def test_a_line_of_code_that_looks_like_a_header_is_no_file() -> None:
    diff = part("a.py", 2) + "+diff --git a/no b/no\n" * 50
    assert "Not shown" not in shortened_diff(diff, 100)
