"""Line by line: what changed, what of it is taken, and where a line is afterwards."""

from hypothesis import given
from hypothesis import strategies as st

from burnish.agents.panel.autofix.blocks import as_spans, blocks, lines_of, moved
from burnish.agents.panel.autofix.edits import apply
from burnish.agents.panel.autofix.rewriting import confined
from burnish.agents.panel.interface import ToolName
from tests.agents.analysers.autofix.making import hit, target

_FILES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d\r"]), max_size=9).map(b"\n".join)


@given(_FILES, _FILES)
def test_all_blocks_together_are_the_whole_change(before: bytes, after: bytes) -> None:
    assert b"".join(lines_of(before)) == before
    assert apply(before, as_spans(before, after, blocks(before, after))) == after


@given(_FILES, _FILES, st.integers(1, 9), st.integers(0, 3))
def test_a_confined_rewriting_touches_only_wanted_lines(before: bytes, after: bytes, first: int, more: int) -> None:
    last = first + more
    wanted = [(target(0, "oxlint:no-empty", first, last), hit("oxlint:no-empty", first))]
    fixes = confined(before, after, wanted, ToolName.OXLINT, safe=True)
    result = apply(before, [span for fix in fixes for span in fix.spans])
    touched = [block for block in blocks(before, after) if block.touches(first, last)]
    expected = lines_of(before)
    for block in reversed(touched):
        expected[block.start : block.end] = lines_of(after)[block.new_start : block.new_end]
    assert result == b"".join(expected)


@given(st.lists(st.integers(0, 6), unique=True, min_size=1), st.integers(0, 6))
def test_lines_rewritten_in_place_are_taken_one_by_one(rewritten: list[int], wanted: int) -> None:
    old = [b"line %d\n" % number for number in range(7)]
    new = [line.upper() if number in rewritten else line for number, line in enumerate(old)]
    pairs = [(target(0, "oxlint:no-empty", wanted + 1), hit("oxlint:no-empty", wanted + 1))]
    fixes = confined(b"".join(old), b"".join(new), pairs, ToolName.OXLINT, safe=True)
    result = apply(b"".join(old), [span for fix in fixes for span in fix.spans])
    expected = [new[number] if number == wanted else line for number, line in enumerate(old)]
    assert result == b"".join(expected)


def test_blocks_that_share_a_target_are_one_fix_and_others_are_apart() -> None:
    before, after = b"a\nb\nc\nd\n", b"A\nb\nC\nD\n"
    wanted = [
        (target(0, "zizmor:obfuscation", 1, 3), hit("zizmor:obfuscation", 1)),
        (target(1, "zizmor:unsound-condition", 4), hit("zizmor:unsound-condition", 4)),
    ]
    fixes = confined(before, after, wanted, ToolName.ZIZMOR, safe=True)
    assert [[one.number for one in fix.targets] for fix in fixes] == [[0], [1]]
    assert [apply(before, fix.spans) for fix in fixes] == [b"A\nb\nC\nd\n", b"a\nb\nc\nD\n"]


def test_lines_that_come_directly_after_a_wanted_one_are_taken() -> None:
    before, after = b"uses: x\nrun: y\nrun: z\n", b"uses: x\nwith: q\nrun: y\nrun: z\nenv: e\n"
    wanted = [(target(0, "zizmor:artipacked", 1), hit("zizmor:artipacked", 1))]
    (fix,) = confined(before, after, wanted, ToolName.ZIZMOR, safe=False)
    assert apply(before, fix.spans) == b"uses: x\nwith: q\nrun: y\nrun: z\n"
    assert not fix.safe


def test_a_line_is_followed_through_a_change() -> None:
    before, after = b"a\nb\nc\nd\ne\n", b"new\na\nB\nc\ne\n"
    changed = blocks(before, after)
    assert [moved(line, line, changed) for line in (1, 2, 3, 5)] == [(2, 2), (3, 3), (4, 4), (5, 5)]
    assert moved(1, 5, changed) == (2, 5)


def test_lines_that_were_replaced_by_more_or_less_mean_all_that_replaced_them() -> None:
    changed = blocks(b"a\nb\nc\nd\n", b"a\nX\nY\nZ\nd\n")
    assert moved(2, 2, changed) == (2, 4)
    assert moved(4, 4, changed) == (5, 5)
    assert moved(2, 2, blocks(b"a\nb\nc\n", b"a\nc\n")) == (2, 2)
