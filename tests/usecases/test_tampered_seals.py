"""Whatever is written into a seal, and under whichever tree it is put: only the very seal that was made holds."""

import hashlib
import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.workspace.seals import PREFIX, find
from tests.usecases.sealed_runs import Project

_WORDS = ("approved", "accepted", "unproven", "mine", "yes", "analysers", "default", "read", "resolved", "base", "")
_OBJECTS = ("main", "change", "other", "other^{tree}", "other:app.py")


class Tampering:
    """A sealed branch, another whose tree was never reviewed, and the bytes of the one true seal."""

    def __init__(self, project: Project) -> None:
        self.project = project
        assert project.run().seal
        builder = project.builder
        builder.commit({"app.py": "import os\n"}, "Not reviewed")
        builder.git.run("branch", "other")
        builder.git.run("reset", "--quiet", "--hard", "HEAD~1")
        self.trees = {name: project.repository.tree_of(name) for name in ("change", "other")}
        self.names = [builder.git.text("rev-parse", name) for name in _OBJECTS]
        (seal,) = find(project.repository, self.trees["change"])
        self.original = seal.body

    def plant(self, tree: str, body: bytes) -> None:
        """The only seal of a tree, under the name that its content has."""
        git = self.project.builder.git
        lines = [f"delete {seal.ref}\n" for seal in find(self.project.repository, tree)]
        blob = git.text("hash-object", "-w", "--stdin", stdin=body)
        name = f"{PREFIX}{tree}/{hashlib.sha256(body).hexdigest()[:16]}"
        if f"delete {name}\n" in lines:
            return
        git.run("update-ref", "--stdin", stdin="".join([*lines, f"update {name} {blob}\n"]).encode())


@pytest.fixture(scope="module")
def tampering(tmp_path_factory: pytest.TempPathFactory) -> Tampering:
    return Tampering(Project(tmp_path_factory.mktemp("tampered")))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_edit_of_a_seal_holds(tampering: Tampering, data: st.DataObject) -> None:
    document: dict[str, Any] = json.loads(tampering.original)
    values = st.one_of(st.sampled_from((*tampering.names, *_WORDS)), st.text(max_size=8), st.booleans())
    for _ in range(data.draw(st.integers(0, 3), label="edits")):
        path = data.draw(st.sampled_from(_leaves(document)), label="place")
        _put(document, path, data.draw(values, label="value"))
    branch = data.draw(st.sampled_from(["change", "other"]), label="branch")
    tree = tampering.trees[branch]
    if data.draw(st.booleans(), label="about this tree"):
        document["subject"] = [{"name": document["predicate"]["branch"], "digest": {"gitTree": tree}}]
        document["predicate"]["tree"] = tree
    body = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
    tampering.plant(tree, body)
    verdict = tampering.project.verify(branch)
    assert verdict.ok == (body == tampering.original and branch == "change"), verdict


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        table = cast("dict[str, Any]", value) if isinstance(value, dict) else dict(enumerate(cast("list[Any]", value)))
        inner += table.items()
    return [each for key, one in inner for each in _leaves(one, (*path, key))] or ([path] if path else [])


def _put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for part in path[:-1]:
        document = document[part]
    document[path[-1]] = value
