"""Whole epics with scripted agents on a real repository: what is built, reviewed, revised, merged and sealed."""

import asyncio
from pathlib import Path

from burnish.core.epics.effects import RollBack
from burnish.core.values import replace
from burnish.usecases.merge_ticket import TicketMerger
from burnish.workspace.repository import Repository
from tests.end_to_end.world import sealed_kinds
from tests.epics.project import FAILS, PASSES, REVISED, Project, Ticket

DIAMOND = (Ticket("a"), Ticket("b", ("a",)), Ticket("c", ("a",)), Ticket("d", ("b", "c")))


def test_a_diamond_is_built_reviewed_and_merged_in_order(tmp_path: Path) -> None:
    project = Project(tmp_path, DIAMOND)
    done = project.run()
    assert done.code == 0, done.err
    assert project.states() == dict.fromkeys("abcd", "completed")
    titles = project.merges()
    assert (titles[-1], titles[0]) == ("Merge a", "Merge d")
    assert sorted(titles) == [f"Merge {name}" for name in "abcd"]
    assert project.machine.git("ls-tree", "--name-only", "epic/demo").split() == sorted(
        ["a.txt", "b.txt", "burnish.toml", "c.txt", "d.txt", "plan", "shared.txt"]
    )
    tree = project.machine.git("rev-parse", "epic/demo^{tree}")
    assert set(sealed_kinds(project.machine, tree)) == {"approved"}
    verified = project.machine.burnish("verify", "epic/demo", "--protocol", "ticket", "--base", "main")
    assert verified.code == 0, verified.err
    # A dependent starts where all its dependencies are merged.
    start = project.machine.git("merge-base", "ticket/d", "epic/demo^1")
    assert {"b.txt", "c.txt"} <= set(project.machine.git("ls-tree", "--name-only", start).split())
    assert project.machine.git("status", "--porcelain") == "?? plan/artifacts/"  # records for other tools


def test_a_review_that_fails_is_followed_by_a_revision(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a")])
    project.says("review", REVISED, "a")
    done = project.run()
    assert (done.code, project.states()) == (0, {"a": "completed"}), done.err
    assert project.show("epic/demo:a.txt") == "a\nrevision 1"
    record = project.record()["tickets"]["a"]
    assert (record["status"], record["revision_count"]) == ("completed", 1)
    assert [entry["status"] for entry in record["review_history"]] == ["fail", "pass"]


def test_beyond_the_last_revision_a_ticket_fails_and_blocks_what_depends_on_it(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b", ("a",)), Ticket("c", ("b",)), Ticket("other")])
    project.says("review", FAILS, "a")
    done = project.run()
    assert done.code == 1, done.err
    assert project.states() == {"a": "failed", "b": "blocked", "c": "blocked", "other": "completed"}
    tickets = project.record()["tickets"]
    assert tickets["a"]["failure_reason"] == "Review failed after 2 revisions"
    assert (tickets["a"]["revision_count"], tickets["b"]["blocking_dependency"]) == (2, "a")
    assert project.merges() == ["Merge other"]
    assert project.calls("build") == ["ticket/a", "ticket/other"] or project.calls("build") == [
        "ticket/other",
        "ticket/a",
    ]


def test_a_critical_ticket_that_fails_ends_the_epic_and_takes_everything_back(tmp_path: Path) -> None:
    tickets = [Ticket("a"), Ticket("b", ("a",), critical=True), Ticket("c", ("b",))]
    project = Project(tmp_path, tickets, rollback_on_failure=True)
    project.says("review", FAILS, "b")
    done = project.run()
    assert done.code == 1, done.err
    assert project.states() == {"a": "completed", "b": "failed", "c": "blocked"}
    assert project.merges() == []
    kept = project.state().rolled_back
    assert kept is not None
    assert project.show(f"{kept}:a.txt") == "a"
    assert project.record()["status"] == "rolled_back"
    # A process that is killed after it moved the branch, and before it said so, does it again: nothing is lost.
    again = replace(project.state(), end=None, rolled_back=None)
    with project.machine.ledger() as ledger:
        merger = TicketMerger(Repository.discover(project.machine.root), ledger, project.machine.environment)
        asyncio.run(merger.perform(RollBack(id="roll-back"), again))
    assert project.show(f"{kept}:a.txt") == "a"


def test_a_chain_of_ten_tickets_that_edit_one_file_merges_without_a_conflict(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(10)]
    project = Project(tmp_path, [Ticket(name, (names[at - 1],) if at else ()) for at, name in enumerate(names)])
    project.says("build", 'echo "$story" >> shared.txt; sed -i "1s/.*/$story/" shared.txt; echo Built.')
    done = project.run()
    assert done.code == 0, done.err
    text = project.show("epic/demo:shared.txt").splitlines()
    assert (text[0], text[-10:]) == ("t9", names)
    assert project.calls("fix") == []


def test_squashed_tickets_merge_as_single_commits(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b", ("a",))])
    project.says("build", 'echo "$story" >> shared.txt; echo Built.')
    assert project.run("--squash").code == 0
    assert project.machine.git("rev-list", "--count", "main..epic/demo") == "2"
    assert project.show("epic/demo:shared.txt").splitlines()[-2:] == ["a", "b"]


def test_tickets_without_review_are_built_and_validated_but_not_merged(tmp_path: Path) -> None:
    tickets = [Ticket("a", more={"review": False}), Ticket("b", ("a",)), Ticket("c")]
    project = Project(tmp_path, tickets, settings='[validate]\ncheck = "test -f shared.txt"\n')
    done = project.run()
    assert done.code == 1, done.err
    assert project.states() == {"a": "completed", "b": "blocked", "c": "completed"}
    assert (project.merges(), project.calls("review")) == (["Merge c"], ["epic/demo", "ticket/c"])
    assert "was not reviewed" in project.record()["tickets"]["b"]["failure_reason"]


def test_an_epic_that_is_approved_is_not_reviewed_again(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a")])
    project.run()
    reviews = len(project.calls("review"))
    done = project.run()
    assert (done.code, len(project.calls("review"))) == (0, reviews), done.err
    # An approval under other rules is none under these.
    done = project.run("--max-rounds", "2")
    assert (done.code, len(project.calls("review"))) == (0, reviews + 1), done.err


def test_after_the_epic_was_merged_the_next_one_begins_at_the_base(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a")])
    assert project.run().code == 0
    project.machine.git("merge", "-q", "epic/demo")
    done = project.run()
    assert (done.code, "nothing has changed since" in done.err) == (0, True), done.err
    project.machine.repository.commit({"later.txt": "later\n"})
    project.edit(tickets=[*project.listed, {"id": "b", "description": "More."}])
    done = project.run()
    assert (done.code, project.states()) == (0, {"a": "completed", "b": "completed"}), done.err
    assert project.show("ticket/b:later.txt") == "later"
    assert project.calls("build") == ["ticket/a", "ticket/b"]


def test_what_failed_is_tried_again_and_what_is_merged_is_not(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b", ("a",))])
    project.says("review", FAILS, "b")
    assert project.run().code == 1
    project.says("review", PASSES, "b")
    done = project.run()
    assert (done.code, project.states()) == (0, {"a": "completed", "b": "completed"}), done.err
    assert project.calls("build").count("ticket/a") == 1
    assert project.merges() == ["Merge b", "Merge a"]


def test_a_secret_never_reaches_a_reviewer_nor_the_epic(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a")], settings="[epics]\nsecrets = true\n")
    token = "AKIA" + "UJZDEGXDNCF32EPF"  # put together here, so that no scan finds it
    project.says("build", f"echo \"AWS_ACCESS_KEY_ID = '{token}'\" > settings.py; echo Built.")
    project.says("fix", "echo 'import os' > settings.py; echo Removed.")
    done = project.run()
    assert (done.code, project.calls("fix")) == (0, ["ticket/a"]), done.err
    assert project.show("epic/demo:settings.py") == "import os"
    assert token not in done.out + done.err
