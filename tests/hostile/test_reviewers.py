"""Hostile reviewers: whoever wrote does not count, and the user's repository is as it was."""

import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from burnish.system.sandbox import SandboxKind
from tests.hostile.reviewers import BACKGROUND, ON_THE_CLONE, ON_THE_USER, Attack
from tests.hostile.scene import CLEAN, Ended, Scene, changed, content, make_scene, processes_with

A_SAMPLE = (
    "edits",
    "deletes",
    "commits",
    "amends",
    "checks-out",
    "tags",
    "configures",
    "installs-a-hook",
    "replaces-git",
)


def _attacked(scene: Scene, attacks: Mapping[str, Attack], *options: str) -> Ended:
    """One round, in which each reviewer makes one of the attacks and answers that all is clean."""
    return scene.burnish("review", *options, "--protocol", scene.protocol(*attacks))


def _prepared(scene: Scene, attacks: Mapping[str, Attack]) -> tuple[dict[str, str], dict[str, str]]:
    """Everything of the user's before an attack: the repository and the home."""
    cases = "".join(f"{name}) {attack.script} ;;\n" for name, attack in attacks.items())
    scene.configure(f"( case $BURNISH_REVIEWER in\n{cases}esac ) >/dev/null 2>&1\necho '{CLEAN}'")
    return content(scene.checkout), content(scene.home)


def _assert_untouched(scene: Scene, before: tuple[dict[str, str], dict[str, str]]) -> None:
    assert changed(before[0], content(scene.checkout)) == []
    home = content(scene.home)
    assert {name: home[name] for name in home if not name.startswith(".cache")} == before[1]
    assert scene.leftovers() == []


def test_a_reviewer_that_wrote_to_its_clone_does_not_count(any_scene: Scene) -> None:
    _assert_only_readers_count(any_scene, {name: ON_THE_CLONE[name] for name in A_SAMPLE})


@pytest.mark.prove
def test_whatever_a_reviewer_writes_it_does_not_count(any_scene: Scene) -> None:
    _assert_only_readers_count(any_scene, ON_THE_CLONE)


def _assert_only_readers_count(any_scene: Scene, attacks: Mapping[str, Attack]) -> None:
    before = _prepared(any_scene, attacks)
    ended = _attacked(any_scene, attacks, "--json")
    assert set(ended.failures) == set(attacks)
    match any_scene.kind:
        case SandboxKind.BUBBLEWRAP:  # nobody could
            assert set(ended.failures.values()) == {""}
            assert ended.code == 0
        case SandboxKind.LANDLOCK:  # modes can be changed, and nothing else
            assert set(ended.failures.values()) == {"wrote-to-tree"}
            told = [review["failure"]["message"].partition(": ")[2] for review in ended.reviews.values()]
            assert {line.partition(": ")[0] for lines in told for line in lines.split("; ")} == {"mode changed"}
        case SandboxKind.NONE:
            assert set(ended.failures.values()) == {"wrote-to-tree"}
            assert ended.view["outcome"] == "did-not-run"
            assert ended.code == 4
    _assert_untouched(any_scene, before)


def test_a_user_is_told_who_wrote_and_what(open_scene: Scene) -> None:
    attacks = {"edits": ON_THE_CLONE["edits"], "tags": ON_THE_CLONE["tags"]}
    _prepared(open_scene, attacks)
    ended = _attacked(open_scene, attacks, "--json")
    assert b"edits: wrote-to-tree" in ended.stderr
    assert b"tags: wrote-to-tree" in ended.stderr
    shown = open_scene.burnish("show", ended.view["run"]).stdout.decode()
    assert "the reviewer wrote to its clone: changed: app.py" in shown
    assert "new: .git/refs/tags/mine" in shown


def test_a_sandboxed_reviewer_cannot_reach_the_user_even_where_it_knows_the_path(confined_scene: Scene) -> None:
    _assert_out_of_reach(confined_scene, dict(list(ON_THE_USER.items())[::2]))


@pytest.mark.prove
def test_no_attack_on_the_user_reaches_out_of_a_sandbox(confined_scene: Scene) -> None:
    _assert_out_of_reach(confined_scene, ON_THE_USER)


def _assert_out_of_reach(confined_scene: Scene, attacks: Mapping[str, Attack]) -> None:
    before = _prepared(confined_scene, attacks)
    ended = _attacked(confined_scene, attacks, "--json")
    # Nobody wrote to its clone, so they count: their attacks failed.
    assert set(ended.failures.values()) == {""}
    _assert_untouched(confined_scene, before)


@pytest.mark.parametrize("name", ON_THE_USER)
@pytest.mark.prove
def test_each_attack_on_the_user_is_real(open_scene: Scene, name: str) -> None:
    """What `sandbox = "off"` cannot protect, as docs/security.md says; else the attacks above would prove nothing."""
    attacks = {name: ON_THE_USER[name]}
    before = _prepared(open_scene, attacks)
    _attacked(open_scene, attacks, "--json")
    with pytest.raises(AssertionError):
        _assert_untouched(open_scene, before)


def test_modes_of_the_checkout_are_kept_by_bubblewrap(bubblewrap_scene: Scene) -> None:
    attacks = {"opens": Attack(script='chmod -R 777 "$CHECKOUT"')}
    before = _prepared(bubblewrap_scene, attacks)
    _attacked(bubblewrap_scene, attacks, "--json")
    _assert_untouched(bubblewrap_scene, before)


@pytest.fixture(
    params=[
        SandboxKind.BUBBLEWRAP,
        pytest.param(SandboxKind.NONE, marks=pytest.mark.prove),
        pytest.param(SandboxKind.LANDLOCK, marks=pytest.mark.prove),  # which knows nothing of processes either
    ],
    ids=lambda kind: kind.value,
)
def stragglers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    """A scene after which nothing is left of a failed test."""
    scene = make_scene(tmp_path, request.param)
    yield scene
    for pid in processes_with(scene.token):
        os.kill(pid, signal.SIGKILL)


def test_nothing_that_a_reviewer_started_is_left(stragglers: Scene) -> None:
    before = _prepared(stragglers, BACKGROUND)
    ended = _attacked(stragglers, BACKGROUND, "--json")
    assert processes_with(stragglers.token) == []
    assert set(ended.failures.values()) == {""}
    _assert_untouched(stragglers, before)
