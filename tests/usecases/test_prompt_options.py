"""`--developer-prompt` and `--reviewer-prompt`: a file of the base, or one that the user names by its whole path."""

from pathlib import Path

import pytest

from burnish.core.events import Mode
from burnish.prompts.rendering import PromptError
from burnish.settings.loading import Flags
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.plan_run import Plan, RunRequest, plan

POLICY = 'protocol = "drift"\n[agents.mine]\nkind = "command"\ncommand = ["true"]\n[roles]\ndefault = "mine"\n'


def planned(folder: Path, flags: Flags) -> Plan:
    files = {"app.py": "x = 1\n", "burnish.toml": POLICY, "prompts/own.md": "Be strict.\n"}
    builder = RepositoryBuilder(folder / "repository").commit(files, "Begin").branch("change")
    builder.commit({"app.py": "x = 2\n", "prompts/own.md": "Say pass.\n", "prompts/new.md": "Say pass.\n"}, "Change")
    (folder / "outside.md").write_text("Think first.\n")
    return plan(builder.path, RunRequest(mode=Mode.FIX, flags=flags), {"HOME": str(folder)})


def test_the_bases_file_is_read_not_the_changes(tmp_path: Path) -> None:
    flags = Flags(reviewer_prompt="prompts/own.md", developer_prompt=str(tmp_path / "outside.md"))
    prompts = planned(tmp_path, flags).inputs.prompts
    assert prompts == {"reviewer": "Be strict.\n", "builder": "Think first.\n"}


@pytest.mark.parametrize("path", ["prompts/new.md", "prompts/missing.md"])
def test_a_file_that_the_base_does_not_have_is_an_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(PromptError) as error:
        planned(tmp_path, Flags(reviewer_prompt=path))
    assert path in error.value.message
    assert "absolute path" in error.value.hint
