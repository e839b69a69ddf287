"""Loading a user's own protocol: what it may start from, and every way in which it can be wrong."""

import textwrap
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.core.errors import ErrorKind
from burnish.core.findings import Severity
from burnish.core.protocol import Fail, Reviewer, SeverityGate, VerdictGate
from burnish.protocols.loader import LoadedProtocol, load
from burnish.settings.documents import DocumentError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(folder: Path, text: str, file: str = "mine.toml") -> LoadedProtocol:
    (folder / file).write_text(text, encoding="utf-8")
    return load(file)


def problems(reference: str) -> str:
    """Every problem, wrapped to the width of this file."""
    with pytest.raises(DocumentError) as caught:
        load(reference)
    assert caught.value.kind is ErrorKind.CONFIGURATION
    wrap = textwrap.TextWrapper(100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "".join(f"{wrap.fill(problem.text)}\n" for problem in caught.value.problems)


def problems_of(folder: Path, text: str) -> str:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return problems("mine.toml")


def test_a_file_that_changes_one_limit_keeps_everything_else(folder: Path) -> None:
    mine = loaded(folder, 'extends = "epic"\n[limits]\nreviews = 2\n')
    epic = load("epic").protocol
    assert mine.protocol.limits.reviews == 2
    assert mine.protocol.limits.hard_cap == epic.limits.hard_cap
    assert mine.protocol.exhausted == epic.exhausted
    assert mine.chain == ("mine.toml", "epic")
    assert mine.places["limits", "reviews"].text == "mine.toml:3"
    assert mine.places["limits", "hard_cap"].text == "epic"


def test_name_and_description_are_not_taken_from_below(folder: Path) -> None:
    mine = loaded(folder, 'extends = "epic"\n')
    assert mine.protocol.name == "mine"
    assert mine.protocol.description == "Extends epic."
    assert ("name",) not in mine.places


def test_name_and_description_of_its_own(folder: Path) -> None:
    mine = loaded(folder, 'extends = "epic"\nname = "strict"\ndescription = "No excuses."\n')
    assert (mine.protocol.name, mine.protocol.description) == ("strict", "No excuses.")


def test_a_panel_replaces_the_panel(folder: Path) -> None:
    mine = loaded(folder, 'extends = "panel"\n[[panel]]\nname = "critic"\n')
    assert mine.protocol.panel == (Reviewer(name="critic"),)


def test_another_kind_of_gate_or_end_leaves_no_stale_keys(folder: Path) -> None:
    text = 'extends = "epic"\n[gate]\ntype = "verdict"\n[exhausted]\nthen = "fail"\nreason = "enough"\n'
    mine = loaded(folder, text)
    assert mine.protocol.gate == VerdictGate()
    assert mine.protocol.exhausted == Fail(reason="enough")


def test_a_file_may_start_from_a_file_beside_it_which_starts_from_a_name(folder: Path) -> None:
    (folder / "team").mkdir()
    (folder / "team" / "base.toml").write_text('extends = "epic"\n[gate]\nblock = "low"\n', encoding="utf-8")
    (folder / "team" / "mine.toml").write_text('extends = "./base.toml"\n[limits]\nreviews = 1\n', encoding="utf-8")
    mine = load("team/mine.toml")
    assert mine.chain == ("team/mine.toml", "team/base.toml", "epic")
    assert mine.protocol.gate == SeverityGate(block=Severity.LOW)
    assert mine.protocol.limits.reviews == 1


def test_a_fault_is_named_where_it_was_written(folder: Path) -> None:
    (folder / "base.toml").write_text('extends = "epic"\n\n[gate]\nblock = "hihg"\n', encoding="utf-8")
    assert problems_of(folder, 'extends = "base.toml"\n[limits]\nreviews = true\n') == snapshot("""\
base.toml:4: gate.block: expected one of 'critical', 'high', 'medium', 'low', 'info', got "hihg".
    Hint: Did you mean 'high'?
mine.toml:3: limits.reviews: expected a whole number, got true. Hint: Write digits, without quotes.
""")


@pytest.mark.parametrize(
    ("text", "start", "hint"),
    [
        ('extends = "epic"\nrecords = "pannel"\n', "mine.toml:2: records: expected one of 'none', ", "'panel'?"),
        ('extends = "epic"\nrecords = true\n', "mine.toml:2: records: expected one of 'none', ", "in quotes."),
        ('extends = "epic"\nrecords = "ticket"\n', "mine.toml:2: records: Ticket records need", "'score'."),
        (
            'extends = "panel"\n[[panel]]\nname = "a-b"\n[[panel]]\nname = "A_b"\n',
            "mine.toml:5: panel[1].name: 'A_b' would use the same record file",
            "'verdict' is reserved.",
        ),
        (
            'extends = "panel"\n[[panel]]\nname = "Verdict"\n',
            "mine.toml:3: panel[0].name: 'Verdict' would use the same record file",
            "'verdict' is reserved.",
        ),
    ],
)
def test_records_that_cannot_be_written_are_refused(folder: Path, text: str, start: str, hint: str) -> None:
    problem = problems_of(folder, text)
    assert problem.startswith(start)
    assert problem.endswith(f"{hint}\n")


def test_every_fault_is_reported_at_once(folder: Path) -> None:
    text = """\
extends = "epic"
contract = "findngs"
skip_when = "never"
colour = "red"

[[panel]]
name = 7
scratch = "yes"

[gate]
type = "severty"

[limits]
reviews = "three"
hard_cap = 5.5
slow_review_seconds = nan

[fix]
input = ["all"]
by_round = [1]

[exhausted]
then = "fail"

[validate]
after_fixing = true

[failures]
retries = 1979-05-27
"""
    assert problems_of(folder, text) == snapshot("""\
mine.toml:2: contract: expected one of 'findings', 'report', 'issues', 'verdict', 'sarif', got
    "findngs". Hint: Did you mean 'findings'?
mine.toml:3: skip_when: expected an array, got "never". Hint: Write it in square brackets.
mine.toml:4: colour: unknown key. Hint: The keys here are 'name', 'description', 'contract',
    'panel', 'gate', 'limits', 'fix', 'exhausted', 'review', 'validate', 'failures', 'skip_when',
    'records'.
mine.toml:7: panel[0].name: expected text, got 7. Hint: Put the text in quotes.
mine.toml:8: panel[0].scratch: expected true or false, got "yes". Hint: Write true or false, without
    quotes.
mine.toml:11: gate.type: expected one of 'severity', 'score', 'verdict', got "severty". Hint: Did
    you mean 'severity'?
mine.toml:14: limits.reviews: expected a whole number, got "three". Hint: Write digits, without
    quotes.
mine.toml:15: limits.hard_cap: expected a whole number, got 5.5. Hint: Write digits, without quotes.
mine.toml:16: limits.slow_review_seconds: expected a number, got nan. Hint: Write digits, without
    quotes.
mine.toml:19: fix.input: expected one of 'blocking', 'blocking-then-rest', 'all', 'revision',
    'follow-up', 'nothing', got an array. Hint: Choose one of them, in quotes.
mine.toml:20: fix.by_round[0]: expected text, got 1. Hint: Put the text in quotes.
mine.toml:22: exhausted.reason: missing. Hint: Add it: text.
mine.toml:26: validate.after_fixing: unknown key. Hint: Did you mean 'after_fix'?
mine.toml:29: failures.retries: expected a whole number, got a date or time. Hint: Write digits,
    without quotes.
""")


def test_rules_between_fields_are_named_with_their_place(folder: Path) -> None:
    text = 'extends = "epic"\n\n[limits]\nreviews = 9\n\n[review]\nby = "session"\n'
    assert problems_of(folder, text) == snapshot("""\
mine.toml:1: fix.input: fix.input does not match review.by. (Set in epic.) Hint: Set fix.input to
    'nothing' if review.by is 'session', and only then.
mine.toml:3: limits.hard_cap: The hard cap 5 is lower than limits.reviews, 9. (Set in epic.) Hint:
    Raise limits.hard_cap or lower limits.reviews.
""")


def test_an_empty_file_misses_what_it_must_say(folder: Path) -> None:
    assert problems_of(folder, "") == snapshot("""\
mine.toml:1: contract: missing. Hint: Add it: one of 'findings', 'report', 'issues', 'verdict',
    'sarif'.
mine.toml:1: panel: missing. Hint: Add it: an array of tables.
mine.toml:1: gate: missing. Hint: Add it: a table.
mine.toml:1: limits: missing. Hint: Add it: a table.
mine.toml:1: fix: missing. Hint: Add it: a table.
mine.toml:1: exhausted: missing. Hint: Add it: a table.
""")


def test_a_syntax_error_has_its_line(folder: Path) -> None:
    assert problems_of(folder, 'extends = "epic"\n[limits]\nreviews = three\n') == snapshot(
        'mine.toml:3: Invalid value, at column 11. Hint: Put text in quotes: key = "text".\n'
    )


def test_what_is_no_file(folder: Path) -> None:
    (folder / "some.toml").mkdir()
    (folder / "other.toml").write_bytes(b"\xff")
    (folder / "local.toml").write_text("")
    assert problems("othr.toml") == snapshot("othr.toml: There is no such file. Hint: Did you mean 'other.toml'?\n")
    assert problems("some.toml") == snapshot(
        "some.toml: It is a directory. Hint: Name the protocol's .toml file in it.\n"
    )
    assert problems("other.toml") == snapshot("other.toml:1: The file is not UTF-8 text. Hint: Save it as UTF-8.\n")
    assert problems("gone/mine.toml") == snapshot(
        "gone/mine.toml: There is no such file. Hint: Check the path; it is relative to the current folder.\n"
    )
    assert problems("nul\0.toml") == snapshot(
        "nul\x00.toml: The file cannot be read: embedded null byte. Hint: Check its path.\n"
    )


def test_an_unknown_name_lists_the_names(folder: Path) -> None:
    (folder / "local.toml").write_text("")
    assert problems("epci") == snapshot("""\
There is no protocol 'epci'. Hint: Did you mean 'epic'? Built in: default, epic, ticket, story,
    panel, drift. Refer to your own by its path.
""")
    assert problems("local") == snapshot("""\
There is no protocol 'local'. Hint: To use the file in this folder, write 'local.toml'. Built in:
    default, epic, ticket, story, panel, drift. Refer to your own by its path.
""")


def test_extending_what_is_not_there(folder: Path) -> None:
    assert problems_of(folder, '\nextends = "epci"\n') == snapshot("""\
mine.toml:2: extends: There is no protocol 'epci'. Hint: Did you mean 'epic'? Built in: default,
    epic, ticket, story, panel, drift. Refer to your own by its path.
""")
    assert problems_of(folder, '\nextends = "./gone.toml"\n') == snapshot("""\
mine.toml:2: extends: There is no file 'gone.toml'. Hint: The path is relative to the file that
    contains it.
""")
    assert problems_of(folder, "\nextends = 3\n") == snapshot(
        "mine.toml:2: extends: expected text. Hint: Use the name or path of a protocol, in quotes.\n"
    )


def test_extending_in_a_circle(folder: Path) -> None:
    (folder / "other.toml").write_text('extends = "./mine.toml"\n')
    assert problems_of(folder, 'extends = "other.toml"\n') == snapshot("""\
other.toml:1: extends: Protocols extend each other in a circle: mine.toml → other.toml → mine.toml.
    Hint: Remove one 'extends'.
""")
    assert problems_of(folder, 'extends = "./mine.toml"\n') == snapshot("""\
mine.toml:1: extends: Protocols extend each other in a circle: mine.toml → mine.toml. Hint: Remove
    one 'extends'.
""")


@pytest.mark.parametrize(("files", "loads"), [(10, True), (11, False)])
def test_a_chain_may_have_ten_steps(folder: Path, files: int, *, loads: bool) -> None:
    for number in range(1, files):
        (folder / f"{number}.toml").write_text(f'extends = "{number + 1}.toml"\n')
    (folder / f"{files}.toml").write_text('extends = "epic"\n')
    if loads:
        assert len(load("1.toml").chain) == 11
    else:
        assert problems("1.toml") == snapshot(
            "11.toml:1: extends: More than 10 protocols extend one another. Hint: Merge some of the files.\n"
        )
