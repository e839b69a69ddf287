"""The base is looked at only where it can tell anything, and leaving it out changes nothing."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from burnish.agents.panel.interface import Hit, ToolName
from burnish.agents.panel.novelty import LinesOf, introduced
from burnish.agents.panel.undecided import undecided

_LINES = st.lists(st.sampled_from(["a = 1", "b = 2", "b = 3", "call(some_name)", "call(some_names)", ""]), max_size=8)
_HITS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["E1", "E2"])), max_size=6)


def _hit(line: int | None, rule: str = "E1", file: str = "new.py") -> Hit:
    return Hit(tool=ToolName.RUFF, rule=rule, file=file, line=line or None, message="It is wrong.")


def _lines_of(**files: Sequence[str]) -> LinesOf:
    return lambda path: files.get(path.removesuffix(".py"))


@given(base=_LINES, head=_LINES, before=_HITS, now=_HITS)
def test_a_file_that_is_decided_would_have_told_nothing(
    base: list[str], head: list[str], before: list[tuple[int, str]], now: list[tuple[int, str]]
) -> None:
    hits = [_hit(line, rule) for line, rule in now]
    old = [_hit(line, rule, "old.py") for line, rule in before]
    head_lines, base_lines, renamed = _lines_of(new=head), _lines_of(old=base), {"new.py": "old.py"}

    known = undecided(hits, head_lines=head_lines, base_lines=base_lines, renamed=renamed)

    looked_at = [hit for hit in old if hit.file in known]
    everything = introduced(hits, old, head_lines=head_lines, base_lines=base_lines, renamed=renamed)
    assert introduced(hits, looked_at, head_lines=head_lines, base_lines=base_lines, renamed=renamed) == everything


def test_a_hit_on_an_added_line_is_new_without_a_look_at_the_base() -> None:
    head = _lines_of(new=["a = 1", "b = undefined"])
    base = _lines_of(new=["a = 1"])

    assert undecided([_hit(2)], head_lines=head, base_lines=base, renamed={}) == frozenset()


def test_what_is_said_of_a_whole_file_may_be_an_old_hit_wherever_it_is() -> None:
    head = _lines_of(new=["a = 1", "b = undefined"])
    base = _lines_of(new=["a = 1"])
    hit = Hit(tool=ToolName.OXLINT, rule="no-undef", file="new.py", line=2, message="It is wrong.")

    assert undecided([hit], head_lines=head, base_lines=base, renamed={}) == {"new.py"}


def test_a_hit_on_an_old_an_edited_or_no_line_may_be_an_old_one() -> None:
    head = _lines_of(new=["a = 1", "b = 3", "c = 4"])
    base = _lines_of(new=["a = 1", "b = 2", "c = 4"])

    for line in (1, 2, 3, None):
        assert undecided([_hit(line)], head_lines=head, base_lines=base, renamed={}) == {"new.py"}


def test_a_file_that_the_base_does_not_have_is_decided() -> None:
    assert undecided([_hit(1)], head_lines=_lines_of(new=["a"]), base_lines=_lines_of(), renamed={}) == frozenset()
