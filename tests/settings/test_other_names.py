"""Keys and commands as other review loops spell them: each error names what says the same here."""

import pytest

from burnish.cli.app import run
from burnish.protocols.loader import load as load_protocol
from burnish.settings.documents import DocumentError
from burnish.settings.loading import SettingsSources, load

KEYS = {
    "provider": "default",
    "reviewerProvider": "review",
    "reviewerModel": "[agents.NAME]",
    "promptPath": "[prompts]",
    "iterationLimit": "--iterations",
    "previewLines": "burnish logs",
    "parallelAgents": "--parallel",
    "pauseMs": "--pause",
    "command": "[agents.NAME]",
    "reasoningEffort": "[agents.NAME]",
    "yolo": "sandbox",
    "logDir": "burnish logs",
    "reviewEnabled": "--no-review",
    "reviewMaxFixAttempts": "--review-max-fix-attempts",
    "beadMode": "burnish run .beads",
    "taskMode": "burnish run .beads",
    "topLevelBeadId": "--top-level-bead",
    "developerPromptPath": "--developer-prompt",
    "reviewerPromptPath": "--reviewer-prompt",
    "maxRounds": "--max-rounds",
    "MAX_REVISIONS": "'reviews' in [limits]",
    "maxCycles": "--max-rounds",
    "reviewCycle": "counts the rounds itself",
    "maxIterations": "--max-rounds",
    "agentConfig": "[roles]",
    "defaultPrimary": "[roles]",
    "defaultFallback": "[roles]",
    "perTask": "[roles]",
    "complexityOverrides": "[roles.complexity",
    "agentsFile": "[roles]",
}


@pytest.mark.parametrize(("key", "named"), KEYS.items())
@pytest.mark.parametrize("value", ["true", "false", "3", '"x"', "{ a = 1 }"])
def test_a_key_of_another_tool_is_refused_and_its_new_name_is_given(key: str, named: str, value: str) -> None:
    policy = f"{key} = {value}\n".encode()
    files = {"burnish.toml": policy}
    with pytest.raises(DocumentError) as error:
        load(SettingsSources(base_file=files.get, working_file=lambda _path: None))
    assert f"{key}: unknown key." in error.value.message
    assert named in error.value.hint


@pytest.mark.parametrize("key", ["review_enabled", "review-enabled", "ReviewEnabled"])
def test_the_spelling_of_a_key_does_not_matter(key: str) -> None:
    files = {"burnish.toml": f"{key} = false\n".encode()}
    with pytest.raises(DocumentError) as error:
        load(SettingsSources(base_file=files.get, working_file=lambda _path: None))
    assert "--no-review" in error.value.hint


def test_a_protocol_of_ones_own_gets_the_same_hints() -> None:
    files = {"mine.toml": b'extends = "ticket"\nname = "mine"\n[limits]\nMAX_REVISIONS = 9\n'}
    with pytest.raises(DocumentError) as error:
        load_protocol("./mine.toml", files.get)
    assert "'reviews' in [limits]" in f"{error.value.message} {error.value.hint}"


@pytest.mark.parametrize(("command", "here"), [("tmux-wrapper", "session"), ("monitor-session", "session monitor")])
def test_a_command_of_another_tool_names_the_one_here(
    capsys: pytest.CaptureFixture[str], command: str, here: str
) -> None:
    assert run([command, "spawn"]) == 2
    assert f"Did you mean '{here}'?" in capsys.readouterr().err
