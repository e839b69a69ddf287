"""`burnish protocol list|show|check`, whole output and exit code."""

import json
from collections.abc import Callable
from pathlib import Path

from inline_snapshot import snapshot

from burnish.protocols.loader import BUILT_IN, load

Burnish = Callable[..., tuple[int, str, str]]

STRICT = """\
extends = "drift"
name = "strict"

[limits]
reviews = 2
"""
BROKEN = """\
extends = "drift"

[limits]
reviws = 2
hard_cap = "two"
"""


def test_list(burnish: Burnish) -> None:
    assert burnish("protocol", "list") == snapshot(
        (
            0,
            """\
default  Five checks without a model, plus a reviewer if you name one; nothing high or worse may remain.
epic     One fresh reviewer; nothing high or worse may remain; after three reviews a person decides.
ticket   A score card over six dimensions; every criterion must be met; at most two revisions.
story    One session reviews and fixes; nothing critical may remain; after five cycles a person decides.
panel    Five reviewers in parallel; no issue of any severity may remain; at most five rounds.
drift    A reviewer says pass or drift; at most five fixes; a broken answer ends the run at once.
""",
            "",
        )
    )


def test_list_as_json(burnish: Burnish) -> None:
    code, out, _ = burnish("protocol", "list", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["version"] == 1
    assert [protocol["name"] for protocol in document["protocols"]] == list(BUILT_IN)


def test_show_a_protocol_of_ones_own(burnish: Burnish, folder: Path) -> None:
    (folder / "strict.toml").write_text(STRICT)
    code, out, err = burnish("protocol", "show", "strict.toml")
    assert (code, err) == (0, "")
    assert out == snapshot("""\
# strict = strict.toml → drift
#
# - The project's checks run before the first review.
# - One reviewer (reviewer) answers in the contract 'verdict'. Each round is a fresh review. Later reviewers
#   get the attempt number and the follow-up of the previous round.
# - The gate passes if the verdict is 'pass'.
# - Each round is judged by its own findings; a blocking finding that was not fixed still prevents the seal.
# - The fixer gets the reviewer's follow-up.
# - An unreadable answer ends the run at once; an agent that crashed ends the run at once.
# - A run has at most 2 reviews; up to 2 failed validations in a row go to the fixer.
# - When the limit is reached, the run fails: Drift remains after {revisions} fix attempts.
# - A source skips the review if: review-disabled, no-reviewer-prompt, nothing-picked, build-failed.
# - Records are written in the layout 'drift'.

name = "strict"                                           # strict.toml:2
description = "Extends drift."                            # (not set)
contract = "verdict"                                      # drift
skip_when = ["review-disabled", "no-reviewer-prompt", "nothing-picked", "build-failed"]  # drift
records = "drift"                                         # drift

[[panel]]
name = "reviewer"                                         # drift
kind = "reviewer"                                         # (not set)
scratch = false                                           # (not set)

[gate]
type = "verdict"                                          # drift

[limits]
reviews = 2                                               # strict.toml:5
hard_cap = 6                                              # drift
validation_fixes = 2                                      # (not set)

[fix]
input = "follow-up"                                       # drift
unchanged = "continue"                                    # drift
by_round = []                                             # (not set)

[exhausted]
then = "fail"                                             # drift
reason = "Drift remains after {revisions} fix attempts"   # drift

[review]
by = "panel"                                              # (not set)
mode = "fresh"                                            # drift
feedback = "follow-up"                                    # drift
open_blockers = "seal"                                    # drift

[validate]
before_first_review = true                                # drift
after_fix = false                                         # drift
acceptance = false                                        # (not set)

[failures]
unreadable = "end"                                        # drift
crashed = "end"                                           # drift
retries = 2                                               # (not set)
fallback = "last"                                         # (not set)
""")


def test_what_is_shown_can_be_used_as_it_is(burnish: Burnish, folder: Path) -> None:
    (folder / "strict.toml").write_text(STRICT)
    (folder / "copy.toml").write_text(burnish("protocol", "show", "strict.toml")[1])
    assert load("copy.toml").protocol == load("strict.toml").protocol


def test_show_as_json(burnish: Burnish, folder: Path) -> None:
    (folder / "strict.toml").write_text(STRICT)
    code, out, err = burnish("protocol", "show", "--json", "strict.toml")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["version"] == 1
    assert document["chain"] == ["strict.toml", "drift"]
    assert document["protocol"]["limits"] == {"reviews": 2, "hard_cap": 6, "validation_fixes": 2}
    assert document["protocol"]["gate"] == {"type": "verdict"}
    assert document["origins"]["limits.reviews"] == "strict.toml:5"
    assert document["origins"]["limits.hard_cap"] == "drift"
    assert document["summary"]


def test_show_of_what_is_not_there(burnish: Burnish, folder: Path) -> None:
    assert burnish("protocol", "show", "pannel") == snapshot(
        (
            2,
            "",
            """\
error: There is no protocol 'pannel'.
hint: Did you mean 'panel'? Built in: default, epic, ticket, story, panel, drift. Refer to your own by its path.
""",
        )
    )


def test_show_of_a_broken_file_names_every_fault(burnish: Burnish, folder: Path) -> None:
    (folder / "broken.toml").write_text(BROKEN)
    code, out, err = burnish("protocol", "show", "broken.toml")
    assert (code, out) == (2, "")
    assert err == snapshot("""\
error: There are 2 errors.
  broken.toml:4: limits.reviws: unknown key. Hint: Did you mean 'reviews'?
  broken.toml:5: limits.hard_cap: expected a whole number, got "two". Hint: Write digits, without quotes.
""")


def test_check_of_a_good_file(burnish: Burnish, folder: Path) -> None:
    (folder / "strict.toml").write_text(STRICT)
    code, out, err = burnish("protocol", "check", "strict.toml")
    assert (code, err) == (0, "")
    assert out == snapshot("""\
ok: strict.toml is the protocol 'strict'.
- The project's checks run before the first review.
- One reviewer (reviewer) answers in the contract 'verdict'. Each round is a fresh review. Later reviewers get
  the attempt number and the follow-up of the previous round.
- The gate passes if the verdict is 'pass'.
- Each round is judged by its own findings; a blocking finding that was not fixed still prevents the seal.
- The fixer gets the reviewer's follow-up.
- An unreadable answer ends the run at once; an agent that crashed ends the run at once.
- A run has at most 2 reviews; up to 2 failed validations in a row go to the fixer.
- When the limit is reached, the run fails: Drift remains after {revisions} fix attempts.
- A source skips the review if: review-disabled, no-reviewer-prompt, nothing-picked, build-failed.
- Records are written in the layout 'drift'.
""")


def test_check_of_a_broken_file(burnish: Burnish, folder: Path) -> None:
    (folder / "broken.toml").write_text(BROKEN)
    code, out, err = burnish("protocol", "check", "broken.toml")
    assert (code, out) == (2, "")
    assert err == snapshot("""\
broken.toml:4: limits.reviws: unknown key. Hint: Did you mean 'reviews'?
broken.toml:5: limits.hard_cap: expected a whole number, got "two". Hint: Write digits, without quotes.
broken.toml is not a valid protocol: 2 errors.
""")


def test_check_as_json(burnish: Burnish, folder: Path) -> None:
    (folder / "strict.toml").write_text(STRICT)
    (folder / "broken.toml").write_text(BROKEN)
    code, out, err = burnish("protocol", "check", "--json", "strict.toml")
    good = json.loads(out)
    assert (code, err) == (0, "")
    assert (good["version"], good["file"], good["ok"], good["name"]) == (1, "strict.toml", True, "strict")
    code, out, err = burnish("protocol", "check", "--json", "broken.toml")
    assert (code, err) == (2, "")
    assert json.loads(out) == snapshot(
        {
            "version": 1,
            "file": "broken.toml",
            "ok": False,
            "faults": [
                {
                    "file": "broken.toml",
                    "line": 4,
                    "key": "limits.reviws",
                    "message": "unknown key.",
                    "hint": "Did you mean 'reviews'?",
                },
                {
                    "file": "broken.toml",
                    "line": 5,
                    "key": "limits.hard_cap",
                    "message": 'expected a whole number, got "two".',
                    "hint": "Write digits, without quotes.",
                },
            ],
        }
    )


def test_check_of_a_missing_file(burnish: Burnish, folder: Path) -> None:
    assert burnish("protocol", "check", "gone.toml") == snapshot(
        (
            2,
            "",
            """\
gone.toml: There is no such file. Hint: Check the path; it is relative to the current folder.
gone.toml is not a valid protocol: 1 error.
""",
        )
    )


def test_text_of_a_file_does_not_steer_the_terminal(burnish: Burnish, folder: Path) -> None:
    (folder / "nasty.toml").write_text('extends = "ticket"\n[exhausted]\nreason = "\\u001b[2J\\ngone = 1"\n')
    code, out, _ = burnish("protocol", "show", "nasty.toml")
    assert code == 0
    assert "\x1b" not in out
    (folder / "copy.toml").write_text(out)
    assert load("copy.toml").protocol.exhausted == load("nasty.toml").protocol.exhausted
