"""Which reader a source gets, what is said of the others, and that no text at all causes anything else."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.epics.plan import cycle_in
from burnish.sources.interface import SourceError
from burnish.sources.registry import read_source
from tests.sources.reading import read


def said(path: Path) -> tuple[str, str]:
    with pytest.raises(SourceError) as raised:
        read_source(path, path.parent)
    return raised.value.message.removeprefix(f"{path}: "), raised.value.hint


def test_words_instead_of_a_path() -> None:
    message, hint = said(Path("Let people's pages load"))
    assert message == "This is neither a file nor a folder."
    assert hint.endswith("""type: burnish fix --build --intent 'Let people'"'"'s pages load'""")
    assert said(Path("word " * 1000))[1].endswith("--intent TEXT")


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "login.yaml").touch()
    assert said(tmp_path / "logon.yaml") == ("There is no such file or folder.", "Did you mean 'login.yaml'?")
    assert said(tmp_path / "none" / "x.md")[0] == "There is no such file or folder."


def test_what_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "a.toml").touch()
    assert said(tmp_path / "a.toml")[0] == "Files of this kind are not a source of tickets."
    os.mkfifo(tmp_path / "pipe.yaml")
    assert said(tmp_path / "pipe.yaml")[0] == "It is not a regular file."


def test_a_folder(tmp_path: Path) -> None:
    assert said(tmp_path)[0] == (
        "The folder holds no epic.yaml, epic.yml, *.epic.yaml, *.epic.yml, sprint-status.yaml or .beads."
    )
    (tmp_path / "b.epic.yml").write_text("tickets: [id: a]")
    assert read_source(tmp_path, tmp_path).source == "b.epic.yml"
    (tmp_path / "epic.yaml").touch()
    message, hint = said(tmp_path)
    assert message == "The folder holds several epics: 'b.epic.yml', 'epic.yaml'."
    assert hint == f"Name one of them: {tmp_path / 'b.epic.yml'}"


PIECES = st.sampled_from(
    [
        *("tickets:\n", "- ", "  - ", "id: a\n", "id: b\n", "name: c\n", "depends_on: ", "[a, b]\n", "critical: yes\n"),
        *(
            "'",
            '"',
            "{",
            "}",
            "[",
            "]",
            "&x ",
            "*x ",
            "<<: ",
            "? ",
            ": ",
            "\n",
            "\t",
            "---\n",
            "!!binary ",
            "|\n",
            "~\n",
        ),
        *("- [ ] ", "- [x] ", "  - [ ] T1: ", "**T2** ", "(after T1)", "depends on: ", "# H\n", "```\n", "<!--", "-->"),
        *("## Dependencies\n", "## Files to Modify\n", "\r\n", "\ufeff", "\x00", "\u2028", "\x85", "é", "path: t.md\n"),
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=25).map("".join).map(str.encode),
    st.text(max_size=40).map(lambda text: text.encode("utf-8", errors="replace")),
    st.binary(max_size=40),
)


@settings(deadline=None, max_examples=150)
@given(TEXTS, TEXTS)
def test_any_text_is_a_plan_or_refused(text: bytes, ticket: bytes) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.md").write_bytes(ticket)
        for source in ("t.md", "epic.yaml"):
            try:
                plan = read(folder, source, b"tickets:\n- id: a\n  " + text if source == "epic.yaml" else text)
            except SourceError:
                continue
            names = [ticket.id for ticket in plan.tickets]
            assert len(set(names)) == len(names) > 0
            assert cycle_in(plan.tickets) == ()
            assert all(set(ticket.depends_on) <= set(names) for ticket in plan.tickets)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 999), min_size=1, max_size=20, unique=True))
def test_the_order_is_that_of_the_file(numbers: list[int]) -> None:
    with TemporaryDirectory() as name:
        tasks = "".join(f"- [ ] T{number}: do\n" for number in numbers)
        epic = "tickets:\n" + "".join(f"- id: T{number}\n" for number in numbers)
        for file, text in (("t.md", tasks), ("epic.yaml", epic)):
            plan = read(Path(name), file, text)
            assert [ticket.id for ticket in plan.tickets] == [f"T{number}" for number in numbers]
