"""`burnish init`: what it finds, what it asks, what it writes, and what it never touches."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.settings.loading import load_alone
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.init_repository import (
    GITHUB_PATH,
    GITLAB_MAIN,
    GITLAB_PATH,
    SKILL_PATH,
    CiSystem,
    Extra,
    InitError,
    Initialised,
    InitRequest,
    InitSurface,
    init_repository,
)
from burnish.usecases.plan_run import PlanError
from burnish.workspace.errors import HookError

PYTHON = {
    "app.py": "def double(number):\n    return number * 2\n",
    "tests/test_app.py": "from app import double\n\n\ndef test_double():\n    assert double(2) == 4\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
}
NO_WISHES = InitRequest()
PLAIN = {"notes.txt": "nothing to run\n"}


class Scene:
    """A repository, a user with a home, and everything that was said to them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.repository = RepositoryBuilder(folder / "repository")
        self.said: list[str] = []
        self.asked: list[str] = []
        self.progress: list[str] = []
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    @property
    def file(self) -> Path:
        return self.repository.path / "burnish.toml"

    def login(self) -> None:
        """A client that is installed and logged in."""
        program = self.home / "bin" / "claude"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        self.environment |= {"PATH": f"{program.parent}:{os.environ['PATH']}", "ANTHROPIC_API_KEY": "made-up"}

    def init(self, *answers: str, request: InitRequest = NO_WISHES) -> Initialised:
        left = list(answers)

        def ask(question: str) -> str:
            self.asked.append(question)
            return left.pop(0)

        surface = InitSurface(
            tell=self.said.append,
            show=self.said.append,
            progress=self.progress.append,
            ask=ask if answers else None,
        )
        return init_repository(self.repository.path, self.environment, request, surface)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_without_questions_it_tries_the_tests_and_names_no_model(scene: Scene) -> None:
    scene.login()
    scene.repository.commit(PYTHON)
    done = scene.init()
    text = scene.file.read_text()
    settings = load_alone(text.encode(), "burnish.toml")
    assert (settings.agents, settings.roles.review.agent, settings.protocol) == ({}, "", "default")
    assert "#   python -m pytest: 1 passed in" in text
    assert (done.base, done.needs_more, done.written) == ("main", False, ("burnish.toml",))
    assert done.usable_models == ("claude",)
    assert (done.hook, done.left_out) == (False, (Extra.HOOK, Extra.SKILL))  # no CI was found
    assert not (scene.repository.path / ".git" / "hooks" / "pre-push").exists()
    assert stat.S_IMODE(scene.file.stat().st_mode) & 0o444 == 0o444
    assert not (scene.repository.path / ".git" / "burnish").exists()
    assert "languages: Python (2 files)" in scene.said
    assert scene.progress[0] == "python -m pytest"


def test_three_questions_at_most_and_each_answer_counts(scene: Scene) -> None:
    scene.login()
    scene.repository.commit(PLAIN | {"check.sh": "exit 0\n", "app.py": "A = 1\n"})
    scene.repository.git.run("remote", "add", "origin", "git@github.invalid:owner/project.git")
    done = scene.init("sh check.sh", "claude", "s, c h")
    settings = load_alone(scene.file.read_bytes(), "burnish.toml")
    assert settings.validate.commands["tests"].line == "sh check.sh"
    assert (settings.roles.review.agent, settings.roles.fix.agent, settings.limits.cost_usd) == ("claude", "claude", 5)
    assert len(scene.asked) == 3
    assert done.written == ("burnish.toml", GITHUB_PATH, SKILL_PATH)
    assert (done.hook, done.left_out) == (True, ())
    assert os.access(scene.repository.path / ".git" / "hooks" / "pre-push", os.X_OK)
    assert "OWNER/burnish@HASH" in (scene.repository.path / GITHUB_PATH).read_text()
    assert (scene.repository.path / SKILL_PATH).read_text().startswith("---\nname: burnish\ndescription: ")


@pytest.mark.parametrize("answer", ["n", "no", "hx", "quit"])
def test_whatever_is_no_yes_writes_nothing(scene: Scene, answer: str) -> None:
    scene.repository.commit(PLAIN)
    assert scene.init("", answer).declined
    assert not scene.file.exists()


def test_an_existing_file_stays_and_what_it_lacks_is_shown(scene: Scene) -> None:
    own = "# mine\n[limits]\nminutes = 5\n"
    scene.repository.commit(PLAIN | {"burnish.toml": own})
    with pytest.raises(InitError) as error:
        scene.init("unused")
    assert error.value.message == "There is a burnish.toml already. Nothing was changed."
    assert any(said.startswith('protocol = "default"') for said in scene.said)
    assert (scene.file.read_text(), scene.asked) == (own, [])
    assert scene.init(request=InitRequest(extras=(Extra.SKILL,))).written == (SKILL_PATH,)
    (scene.repository.path / SKILL_PATH).write_text("mine, too\n")
    assert scene.init(request=InitRequest(extras=(Extra.SKILL,))).written == ()
    assert (scene.repository.path / SKILL_PATH).read_text() == "mine, too\n"


def test_ci_files_that_are_there_stay_and_the_lines_to_add_are_said(scene: Scene) -> None:
    scene.repository.commit(PLAIN | {"burnish.toml": "", GITLAB_MAIN: "# mine\n", GITHUB_PATH: "# mine\n"})
    done = scene.init(request=InitRequest(extras=(Extra.CI,), ci=CiSystem.GITLAB))
    assert done.written == (GITLAB_PATH,)
    assert "include:\n  - local: .gitlab/burnish.yml" in done.to_do[-1]
    assert scene.init(request=InitRequest(extras=(Extra.CI,), ci=CiSystem.GITHUB)).written == ()
    assert {(scene.repository.path / name).read_text() for name in (GITLAB_MAIN, GITHUB_PATH)} == {"# mine\n"}


def test_a_hook_that_is_refused_leaves_nothing_written(scene: Scene, tmp_path: Path) -> None:
    scene.repository.commit(PLAIN).git.run("config", "core.hooksPath", str(tmp_path / "everywhere"))
    with pytest.raises(HookError, match="other repositories"):
        scene.init(request=InitRequest(extras=(Extra.HOOK,)))
    assert not scene.file.exists()


def test_a_link_is_not_written_through(scene: Scene, tmp_path: Path) -> None:
    scene.repository.commit(PLAIN)
    outside = tmp_path / "outside"
    scene.repository.link("burnish.toml", str(outside)).link(".agents", str(tmp_path))
    with pytest.raises(InitError):
        scene.init()
    with pytest.raises(InitError):
        scene.init(request=InitRequest(extras=(Extra.SKILL,)))
    assert not outside.exists()
    assert not (tmp_path / "skills").exists()


def test_a_command_that_cannot_run_is_not_written(scene: Scene) -> None:
    scene.repository.commit({"app.py": "A = 1\n"})
    with pytest.raises(InitError) as error:
        scene.init(request=InitRequest(tests="no-such-program --all"))
    assert "no-such-program" in error.value.message
    assert scene.init("no-such-program", "y").written == ("burnish.toml",)
    assert load_alone(scene.file.read_bytes(), "burnish.toml").validate.commands == {}


def test_text_of_the_project_does_not_become_a_setting(scene: Scene) -> None:
    scene.repository.commit({"app.py": "A = 1\n"})
    command = 'echo "a\\b" # ] = ["x"]'
    scene.init(request=InitRequest(tests=command))
    assert load_alone(scene.file.read_bytes(), "burnish.toml").validate.commands["tests"].line == command


def _bare(scene: Scene) -> None:
    scene.repository.commit(PLAIN).git.run("config", "core.bare", "true")


def _unborn(scene: Scene) -> None:
    scene.repository.write(PLAIN)


@pytest.mark.parametrize(("situation", "words"), [(_bare, "is bare"), (_unborn, "no commits")])
def test_where_nothing_can_be_set_up_it_says_so(scene: Scene, situation: Callable[[Scene], None], words: str) -> None:
    situation(scene)
    with pytest.raises(InitError, match=words):
        scene.init()


def test_an_agent_of_a_run_sets_up_nothing(scene: Scene) -> None:
    scene.repository.commit(PLAIN)
    scene.environment["BURNISH_RUN"] = "20260101-000000-abc"
    with pytest.raises(PlanError):
        scene.init()


def test_a_model_that_is_not_there_is_refused(scene: Scene) -> None:
    scene.repository.commit(PLAIN)
    with pytest.raises(InitError, match="'gpt' is not installed"):
        scene.init(request=InitRequest(agent="gpt"))
