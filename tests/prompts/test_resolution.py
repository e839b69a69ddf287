"""Where a prompt comes from: an explicit path, the usual places, the built-in text; the base first."""

from collections.abc import Callable

import pytest

from burnish.core.errors import ErrorKind
from burnish.prompts.rendering import PromptError
from burnish.prompts.resolution import PromptOrigin, PromptRole, ResolvedPrompt, resolve_prompt

REVIEWER = ".ai_agents/prompts/reviewer.md"
DEVELOPER = ".ai_agents/prompts/developer.md"
FORMER_DEVELOPER = ".ai_agents/prompt.md"


def files(**texts: str) -> Callable[[str], bytes | None]:
    return lambda path: texts[path].encode() if path in texts else None


def resolved(
    role: PromptRole, explicit: str = "", *, base: dict[str, str] | None = None, working: dict[str, str] | None = None
) -> ResolvedPrompt:
    return resolve_prompt(role, explicit, base_file=files(**(base or {})), working_file=files(**(working or {})))


def test_without_any_file_the_built_in_text_is_meant() -> None:
    assert resolved(PromptRole.REVIEWER) == ResolvedPrompt()


def test_the_usual_place_is_read_from_the_base() -> None:
    found = resolved(PromptRole.REVIEWER, base={REVIEWER: "from base"}, working={REVIEWER: "from the change"})
    assert found == ResolvedPrompt(text="from base", origin=PromptOrigin.BASE, path=REVIEWER)


def test_where_the_base_has_none_the_working_tree_is_used_and_said() -> None:
    found = resolved(PromptRole.REVIEWER, working={REVIEWER: "from the change"})
    assert (found.text, found.origin) == ("from the change", PromptOrigin.WORKING_TREE)
    assert found.notice == f"The base has no {REVIEWER}: burnish uses the one in the working tree."


def test_a_builder_has_two_usual_places() -> None:
    both = {DEVELOPER: "new", FORMER_DEVELOPER: "old"}
    assert resolved(PromptRole.BUILDER, base=both).text == "new"
    assert resolved(PromptRole.BUILDER, base={FORMER_DEVELOPER: "old"}).text == "old"
    # What the base has counts, even at the lesser place.
    assert resolved(PromptRole.BUILDER, base={FORMER_DEVELOPER: "old"}, working=both).text == "old"


def test_a_fixer_has_a_place_of_its_own() -> None:
    assert resolved(PromptRole.FIXER, base={".ai_agents/prompts/fixer.md": "mine"}).text == "mine"


def test_an_explicit_path_beats_the_usual_place() -> None:
    found = resolved(PromptRole.REVIEWER, "./mine.md", base={REVIEWER: "usual", "mine.md": "named"})
    assert (found.text, found.path) == ("named", "mine.md")


@pytest.mark.parametrize("path", ["mine.md", "/somewhere/mine.md"])
def test_a_missing_explicit_path_is_an_error(path: str) -> None:
    with pytest.raises(PromptError) as caught:
        resolved(PromptRole.REVIEWER, path, base={REVIEWER: "usual"})
    assert caught.value.kind is ErrorKind.CONFIGURATION
    assert path in caught.value.message
    assert "prompts.reviewer" in caught.value.hint


def test_an_absolute_path_is_outside_the_change() -> None:
    found = resolved(PromptRole.REVIEWER, "/etc/prompt.md", working={"/etc/prompt.md": "mine"})
    assert (found.text, found.origin, found.notice) == ("mine", PromptOrigin.OUTSIDE, "")


def test_a_path_that_climbs_out_is_refused() -> None:
    with pytest.raises(PromptError, match="leads out"):
        resolved(PromptRole.REVIEWER, "a/../../x.md", working={"a/../../x.md": "x"})


@pytest.mark.parametrize(("raw", "message"), [(b" \n", "empty"), (b"\xff", "UTF-8"), (b"x" * 300_000, "longer")])
def test_files_that_cannot_be_a_prompt(raw: bytes, message: str) -> None:
    with pytest.raises(PromptError, match=message):
        resolve_prompt(PromptRole.REVIEWER, "", base_file=lambda _: raw, working_file=lambda _: None)


def test_line_ends_and_marks_of_other_systems_are_read() -> None:
    found = resolve_prompt(PromptRole.FIXER, "", base_file=lambda _: b"\xef\xbb\xbfa\r\nb", working_file=lambda _: None)
    assert found.text == "a\nb"
