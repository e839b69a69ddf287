"""A protocol written out again: it must be the same when it is read, and harmless when it is shown."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.protocols.loader import BUILT_IN, load
from burnish.protocols.rendering import render
from burnish.protocols.summary import summarise


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_written_out_loads_as_the_same_protocol(name: str, tmp_path: Path) -> None:
    file = tmp_path / "copy.toml"
    file.write_text(render(load(name)), encoding="utf-8")
    assert load(str(file)).protocol == load(name).protocol


def test_text_that_could_steer_a_terminal_is_escaped_and_survives(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    nasty = '\\u001b[2J\\u202e\\u2066 \\"quoted\\" back\\\\slash\\nline \\u009b \\U0001F600'
    file.write_text(f'extends = "epic"\ndescription = "{nasty}"\n', encoding="utf-8")
    text = render(load(str(file)))
    assert not set(text) & set("\x1b\x9b\u202e\u2066")
    copy = tmp_path / "copy.toml"
    copy.write_text(text, encoding="utf-8")
    assert load(str(copy)).protocol.description == load(str(file)).protocol.description


def test_each_value_has_its_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('extends = "drift"\nskip_when = []\n[limits]\nhard_cap = 7\n', encoding="utf-8")
    assert render(load("mine.toml")) == snapshot("""\
name = "mine"                                             # (not set)
description = "Extends drift."                            # (not set)
contract = "verdict"                                      # drift
skip_when = []                                            # mine.toml:2
records = "drift"                                         # drift

[[panel]]
name = "reviewer"                                         # drift
kind = "reviewer"                                         # (not set)
scratch = false                                           # (not set)

[gate]
type = "verdict"                                          # drift

[limits]
reviews = 6                                               # drift
hard_cap = 7                                              # mine.toml:4
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


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_summary_is_made_of_sentences(name: str) -> None:
    for sentence in summarise(load(name).protocol):
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
        assert "  " not in sentence


def test_summaries_of_gates() -> None:
    lines = {name: summarise(load(name).protocol) for name in ("epic", "story", "panel", "drift")}
    assert {name: [line for line in lines[name] if line.startswith("The gate")] for name in lines} == snapshot(
        {
            "epic": ["The gate passes if nothing of severity high or worse is found."],
            "story": ["The gate passes if nothing critical is found."],
            "panel": ["The gate passes if nothing of any severity is found."],
            "drift": ["The gate passes if the verdict is 'pass'."],
        }
    )
