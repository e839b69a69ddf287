"""The plugin is installed beside what is there, and taken away exactly; and what its hooks do when burnish is gone."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.cli.app import run as burnish
from burnish.settings.client_hooks import ClientSettingsError, add_hooks, remove_hooks
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.install_plugin import SCRIPT

GROUPS = {
    "Stop": [{"hooks": [{"type": "command", "command": f"sh {SCRIPT} Stop", "timeout": 20}]}],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": f"sh {SCRIPT}", "timeout": 5}]}],
}
FOREIGN = """{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "Stop": [
            { "hooks": [ {"type": "command", "command": "mine"} ] }
        ]
    },
    "model":   "\\u00e9"
}
"""
SETTINGS = ("", '{"a":1}', FOREIGN, '{\n\t"a": [1,2],\n\t"b": {}\n}', '\n\n {"x":[\n]}', '{"hooks":{"Stop":[{"x":1}]}}')


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    builder = RepositoryBuilder(tmp_path / "project").commit({"a.py": "a = 1\n"})
    monkeypatch.chdir(builder.path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "BURNISH_RUN"):
        monkeypatch.delenv(name, raising=False)
    return builder.path


def files(root: Path) -> dict[str, bytes]:
    found = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(".git/")}


@pytest.mark.parametrize("text", SETTINGS)
def test_hooks_are_added_and_removed_and_every_other_byte_stays(text: str) -> None:
    added = add_hooks(text, GROUPS, SCRIPT)
    assert json.loads(added)["hooks"]["Stop"][-1] == GROUPS["Stop"][0]
    assert add_hooks(added, GROUPS, SCRIPT) == added
    assert remove_hooks(added, SCRIPT) == text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
HOOKS = st.dictionaries(st.sampled_from(["Stop", "X"]), st.lists(VALUES, min_size=1, max_size=3), min_size=1)
INDENT = st.sampled_from([None, 1, 2, "\t"])


@settings(max_examples=25)
@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4), HOOKS, INDENT)
def test_any_settings_come_back_byte_for_byte(others: dict[str, Any], hooks: dict[str, Any], indent: Any) -> None:
    text = json.dumps({**others, "hooks": hooks}, indent=indent)
    added = add_hooks(text, GROUPS, SCRIPT)
    assert {**json.loads(added), "hooks": hooks} == json.loads(text)
    assert remove_hooks(added, SCRIPT) == text


@pytest.mark.parametrize("text", ["[]", "{", "nonsense", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_settings_that_are_not_understood_are_not_touched(text: str) -> None:
    with pytest.raises(ClientSettingsError):
        add_hooks(text, GROUPS, SCRIPT)


def test_a_project_gets_it_beside_what_it_has_and_loses_exactly_that(project: Path) -> None:
    own = {"agents/mine.md": "---\nname: mine\n---\n", "settings.json": FOREIGN, "commands/mine.md": "Hello.\n"}
    for name, text in own.items():
        (project / ".claude" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / ".claude" / name).write_text(text)
    before = files(project)
    assert burnish(["plugin", "install", "--project", "--guard", "--gate", "--dry-run"]) == 0
    assert files(project) == before
    assert burnish(["plugin", "install", "--project", "--guard", "--gate"]) == 0
    installed = files(project)
    assert ".claude/agents/burnish-critic.md" in installed
    assert b"\nname: burnish-critic\n" in installed[".claude/agents/burnish-critic.md"]
    assert ".claude/commands/burnish/fix.md" in installed
    hooks = json.loads(installed[".claude/settings.json"])["hooks"]
    assert hooks["Stop"][0] == {"hooks": [{"type": "command", "command": "mine"}]}
    assert [hook["hooks"][0]["command"].rpartition(" ")[2] for hook in hooks["Stop"][1:]] == ["hook", "gate"]
    assert burnish(["plugin", "install", "--project", "--guard", "--gate"]) == 0
    assert files(project) == installed
    assert burnish(["plugin", "uninstall", "--project"]) == 0
    assert files(project) == before
    assert not (project / ".claude" / "hooks").exists()


def test_what_a_person_has_edited_or_made_stays(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = project / ".claude" / "agents" / "burnish-critic.md"
    page.parent.mkdir(parents=True)
    page.write_text("mine\n")
    before = files(project)
    assert burnish(["plugin", "install", "--project"]) == 2
    assert "is not burnish's. Nothing was written" in capsys.readouterr().err
    assert files(project) == before
    page.unlink()
    assert burnish(["plugin", "install", "--project"]) == 0
    page.write_text(page.read_text() + "More.\n")
    assert burnish(["plugin", "uninstall", "--project"]) == 0
    assert "it was edited" in capsys.readouterr().out
    assert list(files(project / ".claude")) == ["agents/burnish-critic.md"]


def test_settings_that_cannot_be_read_are_named_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"hooks": ')
    before = files(project)
    assert burnish(["plugin", "install", "--project"]) == 2
    told = capsys.readouterr().err
    assert "settings.json: it is not JSON" in told
    assert files(project) == before


def test_it_is_not_installed_twice_and_not_by_an_agent(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / ".claude" / "settings.json").write_text('{"enabledPlugins": {"burnish@burnish": true}}')
    assert burnish(["plugin", "install", "--project"]) == 2
    assert "run twice" in capsys.readouterr().err
    monkeypatch.setenv("BURNISH_RUN", "x")
    assert burnish(["plugin", "install", "--project"]) == 2
    assert "inside one of its own agents" in capsys.readouterr().err


def test_codex_gets_the_guard_and_the_gate(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert burnish(["plugin", "install", "--client", "codex"]) == 2
    assert "codex mcp add" in capsys.readouterr().err
    assert burnish(["plugin", "install", "--client", "codex", "--guard", "--gate"]) == 0
    assert "until you trust it" in capsys.readouterr().err
    made = files(tmp_path / "home" / ".codex")
    assert list(json.loads(made["hooks.json"])["hooks"]) == ["PreToolUse", "Stop"]
    assert burnish(["plugin", "uninstall", "--client", "codex"]) == 0
    assert not (tmp_path / "home" / ".codex").exists()
    assert (tmp_path / "home").exists() is False or not files(tmp_path / "home")


def test_the_path_is_a_whole_plugin(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert burnish(["plugin", "path"]) == 0
    folder = Path(capsys.readouterr().out.splitlines()[-1])
    made = files(folder)
    assert {".claude-plugin/plugin.json", "hooks/hooks.json", "agents/critic.md", "commands/fix.md"} <= made.keys()
    commands = [
        hook["command"]
        for listed in json.loads(made["hooks/hooks.json"])["hooks"].values()
        for group in listed
        for hook in group["hooks"]
    ]
    assert set(commands) == {f'"${{CLAUDE_PLUGIN_ROOT}}"/hooks/{SCRIPT} hook'}
    listing = json.loads((folder.parent / ".claude-plugin" / "marketplace.json").read_text())
    assert all((folder.parent / plugin["source"]).is_dir() for plugin in listing["plugins"])


class Gone:
    """An installation whose burnish is no more."""

    def __init__(self, script: Path, home: Path) -> None:
        lines = script.read_text().splitlines(keepends=True)
        self.script = home / SCRIPT
        self.home = home
        home.mkdir(exist_ok=True)
        self.script.write_text(
            "".join(line if not line.startswith("package=") else "package=/gone\n" for line in lines)
        )

    def __call__(self, what: str, event: dict[str, Any]) -> tuple[int, str, str]:
        done = subprocess.run(
            ["/bin/sh", str(self.script), what],
            input=json.dumps(event),
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def gone(project: Path, tmp_path: Path) -> Gone:
    assert burnish(["plugin", "install", "--project"]) == 0
    return Gone(project / ".claude" / "hooks" / SCRIPT, tmp_path / "elsewhere")


@pytest.mark.skipif(shutil.which("burnish", path="/usr/bin:/bin") is not None, reason="optional: no other burnish")
def test_without_burnish_a_session_without_a_review_is_not_disturbed(gone: Gone) -> None:
    for event in ("PreToolUse", "Stop", "SubagentStop", "UserPromptSubmit", "SessionStart"):
        call = {"session_id": "abc", "hook_event_name": event, "tool_name": "Bash", "prompt": "hello"}
        assert gone("hook", call) == (0, "", "")
    assert gone("guard", {"tool_name": "Bash", "tool_input": {"command": "git status"}}) == (0, "", "")


@pytest.mark.skipif(shutil.which("burnish", path="/usr/bin:/bin") is not None, reason="optional: no other burnish")
def test_without_burnish_nothing_passes_that_it_guards(gone: Gone) -> None:
    cards = gone.home / ".local/state/burnish/sessions"
    cards.mkdir(parents=True)
    (cards / "abc.json").write_text("{}")
    code, _, told = gone("hook", {"session_id": "abc", "hook_event_name": "PreToolUse", "tool_name": "Edit"})
    assert (code, "A review is under way" in told, str(cards / "abc.json") in told) == (2, True, True)
    assert gone("hook", {"hook_event_name": "PreToolUse", "tool_name": "Edit"})[0] == 2
    assert gone("hook", {"session_id": "other", "hook_event_name": "PreToolUse", "tool_name": "Edit"})[0] == 0
    code, said, _ = gone("hook", {"session_id": "abc", "hook_event_name": "Stop"})
    assert (code, "NOT complete" in json.loads(said)["systemMessage"]) == (0, True)
    code, _, told = gone("hook", {"session_id": "x", "hook_event_name": "UserPromptSubmit", "prompt": "/burnish:fix"})
    assert (code, "There is no review" in told) == (2, True)
    for command in ("git commit --no-verify", "git push -f", "git -c core.hooksPath=x status"):
        code, _, told = gone("guard", {"tool_name": "Bash", "tool_input": {"command": command}})
        assert (code, "cannot be checked" in told) == (2, True)
    code, said, _ = gone("gate", {"session_id": "abc", "hook_event_name": "Stop"})
    assert (code, "did not check" in json.loads(said)["systemMessage"]) == (0, True)
