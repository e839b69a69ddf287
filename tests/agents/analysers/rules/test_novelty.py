"""Which hits a change introduced: the laws, and the situations that led to them."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from burnish.agents.panel.comparison import MAX_COMPARED_LINES, MAX_EDITED_LINES, compare
from burnish.agents.panel.interface import Hit
from burnish.agents.panel.novelty import introduced
from tests.agents.analysers.rules.making import hit

FILE = "src/app.py"


def _hits(lines: Sequence[str], file: str = FILE) -> list[Hit]:
    """A tool that finds the rule X on every line that holds a bang, and says the word behind it."""
    found = [(number, word[1:]) for number, line in enumerate(lines, 1) for word in line.split() if word[0] == "!"]
    return [hit("ruff:X", file, number, message) for number, message in found]


def _new(base: str, head: str, *, renamed: Mapping[str, str] | None = None) -> list[int | None]:
    """The lines of the head on which something is new."""
    before, now = base.splitlines(), head.splitlines()
    old = (renamed or {}).get(FILE, FILE)
    found = introduced(
        _hits(now),
        _hits(before, old),
        head_lines={FILE: now}.get,
        base_lines={old: before}.get,
        renamed=renamed or {},
    )
    return [one.line for one in found]


def test_an_untouched_file_has_nothing_new() -> None:
    assert _new("a !\nb !\n", "a !\nb !\n") == []


def test_lines_that_moved_or_were_indented_are_not_new() -> None:
    assert _new("a !\nb\nc !\n", "new\nc !\n\n\n    a   !\n") == []


def test_a_duplicate_of_an_old_problem_is_one_new_hit() -> None:
    assert _new("a !\nb\n", "a !\nb\nadded\na !\n") == [4]


def test_of_equal_hits_the_ones_on_changed_lines_are_new() -> None:
    assert _new("one\na !\ntwo\n", "zero\na !\nzero\none\na !\ntwo\n") == [2]


def test_of_hits_on_one_line_the_one_that_says_something_new_is_new() -> None:
    before, now = ["import !os sys"], ["import !os sys"]
    hits = [hit("ruff:X", FILE, 1, "sys"), hit("ruff:X", FILE, 1, "os")]
    lines = {FILE: now}.get
    found = introduced(hits, _hits(before), head_lines=lines, base_lines={FILE: before}.get, renamed={})
    assert [one.message for one in found] == ["sys"]


def test_a_name_that_the_file_used_before_is_defined_somewhere_else() -> None:
    before, now = {"a.js": ["use(one)"]}, {"a.js": ["use(one)", "one.more()", "two.more()"]}
    base = [hit("oxlint:no-undef", "a.js", 1, "'one' is not defined.")]
    head = [
        *base,
        *(hit("oxlint:no-undef", "a.js", line, f"'{name}' is not defined.") for line, name in ((2, "one"), (3, "two"))),
    ]
    found = introduced(head, base, head_lines=now.get, base_lines=before.get, renamed={})
    assert [one.line for one in found] == [3]


def test_an_old_line_that_broke_by_a_change_elsewhere_is_new() -> None:
    lines = {FILE: ["use(name)"]}.get
    assert introduced([hit("ruff:F821", FILE)], [], head_lines=lines, base_lines=lines, renamed={})


def test_an_old_problem_on_an_edited_line_is_not_new() -> None:
    assert _new("a\nuses: action@1111 !pinned\nb\n", "a\nuses: action@2222 !pinned\nb\n") == []


def test_another_secret_on_an_edited_line_is_new() -> None:
    before, now = {FILE: ["key = 'AKIA1111'"]}, {FILE: ["key = 'AKIA2222'"]}
    secret = hit("kingfisher:aws", FILE, 1, "A key.")
    style = hit("ruff:Q000", FILE, 1, "Quotes.")
    hits = [secret, style]
    assert introduced(hits, hits, head_lines=now.get, base_lines=before.get, renamed={}) == (secret,)


def test_an_edit_makes_one_old_problem_of_one() -> None:
    assert _new("a\nx = f(1) !bad\nb\n", "a\nx = f(2) !bad\nx = f(3) !bad\nb\n") == [3]


def test_a_rewrite_of_many_lines_is_no_edit() -> None:
    many = [f"x{number} = f() !bad" for number in range(MAX_EDITED_LINES + 1)]
    assert _new("\n".join(["a", *many, "b"]), "\n".join(["a", *(f"y{line}" for line in many), "b"])) != []


def test_the_same_problem_on_another_line_is_new() -> None:
    assert _new("a\nfirst = one(1) !bad\nb\nc\n", "a\nb\nsecond = other(2) !bad\nc\n") == [3]
    assert _new("a\nfirst = one(1) !bad\nb\n", "a\nx\nqqqqqqqqqq !bad\nb\n") == [3]


def test_an_edited_line_that_says_something_else_is_new() -> None:
    assert _new("a\nuses: action@1 !pinned\nb\n", "a\nuses: action@1 !broken\nb\n") == [2]


def test_a_renamed_file_keeps_its_old_problems() -> None:
    assert _new("a !\n", "a !\nb !\n", renamed={FILE: "src/old.py"}) == [2]


def test_the_same_line_in_another_file_is_new() -> None:
    lines = {FILE: ["a !"], "other.py": ["a !"]}.get
    base, head = [hit("ruff:X", "other.py")], [hit("ruff:X", "other.py"), hit("ruff:X", FILE)]
    assert introduced(head, base, head_lines=lines, base_lines=lines, renamed={}) == (head[1],)


def test_without_lines_the_message_tells() -> None:
    base = [hit("zizmor:x", "a.yml", None, "one"), hit("zizmor:x", "a.yml", 9, "far")]
    head = [*base, hit("zizmor:x", "a.yml", None, "two")]
    assert introduced(head, base, head_lines=lambda _: None, base_lines=lambda _: None, renamed={}) == (head[2],)


LINES = st.lists(st.sampled_from(["a !", "b !x", "b !y", "  a !", "c", "", "a"]), max_size=12)


@given(base=LINES, head=LINES)
def test_nothing_is_lost_or_invented(base: list[str], head: list[str]) -> None:
    now, before = _hits(head), _hits(base)
    new = introduced(now, before, head_lines={FILE: head}.get, base_lines={FILE: base}.get, renamed={})
    assert set(new) <= set(now)
    assert max(0, len(now) - len(before)) <= len(new) <= len(now)
    assert list(new) == [one for one in now if one in new]


@given(base=LINES, head=LINES)
def test_a_rename_changes_nothing(base: list[str], head: list[str]) -> None:
    assert _new("\n".join(base), "\n".join(head)) == _new("\n".join(base), "\n".join(head), renamed={FILE: "old.py"})


@given(lines=LINES, data=st.data())
def test_lines_in_another_order_hold_nothing_new(lines: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(lines))
    assert _new("\n".join(lines), "\n".join(shuffled)) == []


@given(lines=LINES)
def test_everything_in_a_new_file_is_new(lines: list[str]) -> None:
    assert len(_new("", "\n".join(lines))) == len(_hits(lines))


def test_a_rewrite_of_a_huge_file_is_not_compared_line_by_line() -> None:
    size = MAX_COMPARED_LINES + 1
    seen = compare(["same", *(f"a{n}" for n in range(size))], ["same", *(f"b{n}" for n in range(size))])
    assert seen.unchanged == {1}
    assert seen.replaced == ()
