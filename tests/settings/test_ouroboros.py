"""`.ouroboros/config.toml`: which of its keys say something about the loop, and what is told of the others."""

import pytest

from burnish.settings.documents import DocumentError
from burnish.settings.ouroboros import OuroborosFile, OuroborosSettings, read_ouroboros


def read(*texts: str | None, names_prompts: bool = True) -> OuroborosSettings:
    return read_ouroboros(
        OuroborosFile(f"file{number}", text if text is None else text.encode(), names_prompts=names_prompts)
        for number, text in enumerate(texts, start=1)
    )


def test_without_a_file_nothing_is_said() -> None:
    assert read(None, None) == OuroborosSettings()


def test_every_key_of_the_loop() -> None:
    found = read(
        'reviewEnabled = true\nreviewMaxFixAttempts = 3\ndeveloperPromptPath = "d.md"\nreviewerPromptPath = "r.md"\n'
        'iterationLimit = 7\nparallelAgents = 2\npauseMs = 1500\ntopLevelBeadId = "bd-1"\n'
    )
    assert (found.exists, found.review, found.fix_attempts, found.iterations) == (True, True, 3, 7)
    assert (found.developer_prompt, found.reviewer_prompt) == ("d.md", "r.md")
    assert (found.parallel, found.pause_ms, found.top) == (2, 1500, "bd-1")
    assert found.places["pause_ms"] == "file1:7"
    assert found.notices == ()


def test_the_repositorys_file_is_over_the_users_own() -> None:
    found = read("iterationLimit = 7\nparallelAgents = 2\n", "iterationLimit = 3\n")
    assert (found.iterations, found.parallel) == (3, 2)


def test_keys_that_name_programs_are_hinted_at() -> None:
    found = read('command = "rm -rf /"\nprovider = "codex"\nyolo = true\nreviewEnable = true\n')
    assert [notice.partition(" does")[0] for notice in found.notices] == [
        *("file1:1: command", "file1:2: provider", "file1:3: yolo", "file1:4: reviewEnable")
    ]
    assert "[agents.NAME]" in found.notices[0]
    assert "Did you mean 'reviewEnabled'?" in found.notices[3]


def test_prompts_of_a_file_that_may_be_the_changes_own_do_not_count() -> None:
    found = read('reviewerPromptPath = "/etc/passwd"\npauseMs = 5\n', names_prompts=False)
    assert (found.reviewer_prompt, found.pause_ms) == (None, 5)
    assert "Use --reviewer-prompt meanwhile." in found.notices[0]


def test_all_that_is_wrong_is_told_with_its_line() -> None:
    with pytest.raises(DocumentError) as error:
        read('reviewEnabled = "no"\niterationLimit = 0\npauseMs = 1.5\ntopLevelBeadId = 7\nparallelAgents = true\n')
    told = [problem.sentence for problem in error.value.problems]
    assert told == [
        "file1:1: reviewEnabled: it must be true or false.",
        "file1:2: iterationLimit: it must be a whole number, at least 1.",
        "file1:3: pauseMs: it must be a whole number.",
        "file1:4: topLevelBeadId: it must be a text in quotes.",
        "file1:5: parallelAgents: it must be a whole number, at least 1.",
    ]
    assert error.value.problems[0].hint == "Write reviewEnabled = true."
