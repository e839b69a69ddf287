"""No output but the one that is exactly understood is taken for an answer: what is not is an error, never clean."""

import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.agents.panel.interface import Hit, RuleSelection, ToolError, ToolName
from burnish.agents.panel.tools.reading import UNREADABLE
from burnish.agents.panel.tools.registry import TOOLS
from burnish.contracts.json_text import Json
from burnish.core.values import replace
from burnish.system.process import Finished, How
from tests.agents.analysers.tools.samples import sample

pytestmark = pytest.mark.parametrize("tool", TOOLS)

SPOILED: dict[str, Callable[[Finished], Finished]] = {
    "empty": lambda found: replace(found, stdout=b""),
    "white": lambda found: replace(found, stdout=b" \n"),
    "cut": lambda found: replace(found, stdout=found.stdout[: len(found.stdout) // 2]),
    "last-byte-missing": lambda found: replace(found, stdout=found.stdout.rstrip()[:-1]),
    "null": lambda found: replace(found, stdout=b"null"),
    "object": lambda found: replace(found, stdout=b"{}"),
    "list": lambda found: replace(found, stdout=b"[]"),
    "list-of-null": lambda found: replace(found, stdout=b"[null]"),
    "number": lambda found: replace(found, stdout=b"0"),
    "html": lambda found: replace(found, stdout=b"<html><body>502</body></html>"),
    "two-documents": lambda found: replace(found, stdout=found.stdout * 2),
    "text-before": lambda found: replace(found, stdout=b"warning\n" + found.stdout),
    "text-behind": lambda found: replace(found, stdout=found.stdout + b"panic"),
    "not-utf-8": lambda found: replace(found, stdout=b"\xff" + found.stdout),
    "nested": lambda found: replace(found, stdout=b"[" * 100_000),
    "not-all-kept": lambda found: replace(found, stdout_cut=True),
    "exit-2": lambda found: replace(found, code=2),
    "exit-101": lambda found: replace(found, code=101),
    "signal": lambda found: replace(found, code=None, signal=11),
    "time-out": lambda found: replace(found, how=How.TIMED_OUT),
    "silent": lambda found: replace(found, how=How.SILENT),
    "stopped": lambda found: replace(found, how=How.STOPPED),
    "not-started": lambda found: replace(found, how=How.COULD_NOT_START, message="no such file"),
}


def _read(tool: ToolName, finished: Finished, *files: str) -> tuple[Hit, ...]:
    return TOOLS[tool].read(finished, files or (sample(tool).file,))


def test_what_the_tool_really_says_is_understood(tool: ToolName) -> None:
    assert {hit.file for hit in _read(tool, sample(tool).found)} == {sample(tool).file}
    assert _read(tool, sample(tool).clean) == ()


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_spoiled_answer_is_an_error(tool: ToolName, spoil: Callable[[Finished], Finished]) -> None:
    with pytest.raises(ToolError) as caught:
        _read(tool, spoil(sample(tool).found))
    assert tool.value in caught.value.message
    assert len(caught.value.message) < 2_000


def test_a_problem_in_a_file_that_was_not_asked_for_is_an_error(tool: ToolName) -> None:
    if tool is ToolName.KINGFISHER:
        return  # its folder may hold more than it is asked about
    with pytest.raises(ToolError):
        _read(tool, sample(tool).found, "other.txt")


def test_an_exit_code_that_says_found_above_an_empty_list_is_an_error(tool: ToolName) -> None:
    found, clean = sample(tool).found, sample(tool).clean
    with pytest.raises(ToolError, match="reported no problem"):
        _read(tool, replace(clean, code=found.code))


def test_the_last_line_of_standard_error_is_told(tool: ToolName) -> None:
    with pytest.raises(ToolError, match=r"Its last line: out of memory$"):
        _read(tool, Finished(how=How.EXITED, code=2, stderr_tail="hello\nout of \x1b[1mmemory\n\n"))


def test_every_value_may_be_spoiled_and_nothing_becomes_clean(tool: ToolName) -> None:
    found = sample(tool).found
    for spoiled in _spoiled(json.loads(found.stdout)):
        try:
            hits = _read(tool, replace(found, stdout=json.dumps(spoiled).encode()))
        except ToolError:
            continue
        assert hits, spoiled


def test_control_characters_and_long_texts_stay_outside(tool: ToolName) -> None:
    found = sample(tool).found
    marked = _with_texts(json.loads(found.stdout), "\x1b[2J\x07hello\x00" + "x" * 10_000, keep={sample(tool).file})
    for text in _told(tool, replace(found, stdout=json.dumps(marked).encode())):
        assert text.replace("\n", "").isprintable()
        assert len(text) < 3_000


def _told(tool: ToolName, finished: Finished) -> tuple[str, ...]:
    """All that a person will read of an answer."""
    try:
        hits = _read(tool, finished)
    except ToolError as error:
        return (error.message,)
    return tuple(text for hit in hits for text in (hit.rule, hit.message, hit.suggestion, hit.link, hit.snippet))


def test_a_name_that_is_not_utf_8_is_reported_and_hides_nothing(tool: ToolName) -> None:
    if tool is ToolName.KINGFISHER:
        return  # is given names of burnish's own
    hits = _read(tool, sample(tool).found, sample(tool).file, "b\udcff")
    assert [hit.file for hit in hits if hit.rule == UNREADABLE] == ["b\udcff"]
    assert any(hit.file == sample(tool).file for hit in hits)


def test_no_name_that_could_be_given_is_an_error(tool: ToolName) -> None:
    if tool is ToolName.KINGFISHER:
        return  # is given names of burnish's own
    with pytest.raises(ToolError, match="no name is UTF-8"):
        TOOLS[tool].invocation(("b\udcff",), RuleSelection())


@given(data=st.data())
def test_noise_is_never_clean(tool: ToolName, data: st.DataObject) -> None:
    one = sample(tool)
    finished = data.draw(st.sampled_from([one.found, one.clean]))
    raw = data.draw(
        st.one_of(st.binary(max_size=200), _json_texts(), _broken(one.found.stdout), _broken(one.clean.stdout))
    )
    try:
        hits = _read(tool, replace(finished, stdout=raw))
    except ToolError:
        return
    assert hits or _is_empty(json.loads(raw))


def _json_texts() -> st.SearchStrategy[bytes]:
    words = st.sampled_from(["comments", "diagnostics", "findings", "audit", "summary", "messages", "filePath", "x"])
    leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))
    values = st.recursive(leaves, lambda inner: st.one_of(st.lists(inner), st.dictionaries(words, inner)), max_leaves=8)
    return values.map(lambda value: json.dumps(value).encode())


def _broken(raw: bytes) -> st.SearchStrategy[bytes]:
    places = st.tuples(st.integers(0, len(raw)), st.integers(0, len(raw)), st.binary(max_size=4))
    return places.map(lambda at: raw[: min(at[:2])] + at[2] + raw[max(at[:2]) :])


def _is_empty(document: Json) -> bool:
    """Whether a document says that nothing was found, read with other eyes than the tools' own."""
    match document:
        case []:
            return True
        case {"comments": []} | {"diagnostics": []} | {"findings": []}:
            return True
        case [{"messages": []}]:
            return True
        case [{"messages": [{"message": str(message), "ruleId": None}]}]:
            return message.startswith("File ignored")
        case _:
            return False


_WRONG: tuple[Json, ...] = (None, "x", -1, 10**30, True, [], {}, [[]])


def _spoiled(document: Json) -> Iterator[Json]:
    """The document with each of its values, one at a time, replaced by each of several wrong ones."""
    yield from _WRONG
    match document:
        case dict():
            for key, value in document.items():
                yield {name: other for name, other in document.items() if name != key}
                yield from ({**document, key: wrong} for wrong in _spoiled(value))
        case list():
            for place, value in enumerate(document):
                yield from ([*document[:place], wrong, *document[place + 1 :]] for wrong in _spoiled(value))
        case _:
            pass


def _with_texts(document: Json, text: str, keep: set[str]) -> Json:
    match document:
        case dict():
            return {key: _with_texts(value, text, keep) for key, value in document.items()}
        case list():
            return [_with_texts(value, text, keep) for value in document]
        case str() if not any(document.endswith(name) for name in keep):
            return text
        case _:
            return document
