"""The search keeps what does no harm, whatever that is, and never tries what is known to be harmless alone twice."""

from hypothesis import given
from hypothesis import strategies as st

from burnish.agents.panel.autofix.halving import Halving


@given(st.sets(st.integers(0, 15)), st.sets(st.integers(0, 15)))
def test_exactly_the_harmful_parts_are_refused(parts: set[int], harmful: set[int]) -> None:
    search = Halving(sorted(parts))
    while search.group:
        if harmful.intersection(search.group):
            search.fails()
        else:
            search.holds()
    assert set(search.kept) == parts - harmful
    assert set(search.refused) == parts & harmful
    assert len(search.kept) + len(search.refused) == len(parts)


@given(st.integers(1, 12), st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=6))
def test_parts_that_only_harm_together_are_not_all_refused(number: int, enemies: set[tuple[int, int]]) -> None:
    def harms(group: tuple[int, ...]) -> bool:
        return any(one != other and one in group and other in group for one, other in enemies)

    search = Halving(range(number))
    while search.group:
        if harms(search.kept + search.group):
            search.fails()
        else:
            search.holds()
    assert not harms(search.kept)
    for part in search.refused:
        assert harms((*search.kept, part)), "what could have stayed must stay"


def test_one_harmful_part_among_many_is_found_quickly() -> None:
    search, tries = Halving(range(64)), 0
    while search.group:
        tries += 1
        if 41 in search.group:
            search.fails()
        else:
            search.holds()
    assert search.refused == (41,)
    assert tries <= 2 * 7


def test_giving_up_refuses_what_is_undecided() -> None:
    search = Halving("abcd")
    search.fails()
    search.holds()
    assert search.undecided == ("c", "d")
    search.give_up()
    assert (search.kept, search.refused, search.group) == (("a", "b"), ("c", "d"), ())
