"""An epic as it is told to people: its plan, its tickets, what happens, how it ended, and what comes next."""

import pytest
from inline_snapshot import snapshot
from tests.records.epics import Story, mixed, plan_of, ticket

from burnish.core.epics.events import (
    EpicClosed,
    EpicReviewEnded,
    EpicReviewStarted,
    EpicStarted,
    PullRequestOpened,
    RolledBack,
)
from burnish.core.epics.loop import evolve
from burnish.core.epics.plan import Ticket
from burnish.core.events import Outcome
from burnish.core.values import replace
from burnish.report.epics import dry_run_lines, epic_lines, epic_object, epic_summary, event_line
from burnish.report.output import fitted, plain, width


def test_twelve_tickets_in_all_states_fit_a_terminal() -> None:
    story = mixed()
    lines = list(epic_lines(story.epic, story.runs, driver=True, now=story.at + 300))
    assert plain(lines) == snapshot("""\
20261116-0900-ab12: running
  user-auth: User accounts
  epic/user-auth against main, 27 min, $2.04
  12 tickets: 3 done, 2 running, 1 to be merged, 1 waiting for a person, 2 not begun, 1 failed, 1 blocked, 1 unreviewed

✓ base                merged · 2 reviews · 3 min · $0.34
✓   api               merged · 2 reviews · 3 min · $0.34
…     sessions        reviewing round 1 · 10 min
·   login-form        ready, waits for a free place
·     web             waits for login-form, sessions
✗   mail              failed · 3 reviews · 1 min · $0.34
      Review failed after 2 revisions (burnish show 20261116-0009-mail)
–     mail-templates  blocked: depends on mail, which failed
?   tokens            waits for a person · 3 reviews · 16 min
      3 rounds, and 1 finding blocks
…   audit             starting · 2 reviews · 2 runs · 14 min · $0.34
      Resolves conflicts in app/audit.py
✓ docs                done before, as the source says
… limits              approved, not merged yet · 2 reviews · 7 min · $0.34
– sketch              built, not reviewed, not merged · 1 min · $0.34
      The work is on burnish/20261116-0018-sketch

Next: burnish decide 20261116-0011-tokens a
      tokens: Manual review and fix (pause autonomous workflow)
Next: burnish decide 20261116-0011-tokens b
      tokens: Accept findings and mark story complete (not recommended)
Next: burnish decide 20261116-0011-tokens c
      tokens: Continue with 1 more review round (override limit)
""")
    rows = [plain([row]).rstrip("\n") for line in lines for row in fitted(line, 80)]
    assert max(map(width, rows)) <= 80


def test_without_a_driver_nothing_seems_to_run() -> None:
    story = mixed()
    told = plain(epic_lines(story.epic, story.runs, driver=False, now=story.at))
    assert told.startswith(f"{story.epic.id}: interrupted\n")
    assert "interrupted: reviewing round 1" in told
    assert f"Next: burnish resume {story.epic.id}" in told


def test_the_plan_before_anything_begins() -> None:
    started = mixed().events[0]
    assert isinstance(started, EpicStarted)
    told = "\n".join(dry_run_lines(started, {"build": "claude", "review": "codex"}, "$3.10 to $9.40"))
    assert told == snapshot("""\
Epic user-auth: User accounts
  12 tickets in plans/user-auth.yaml, at most 3 at a time
  each on its own branch ticket/ID, merged into epic/user-auth
  epic/user-auth begins at main (000000000000)
  build: claude
  review: codex

Order:
   1. base            starts at once, critical
   2. limits          starts at once
   3. sketch          starts at once, not reviewed
   4. api             after base
   5. login-form      after base
   6. mail            after base
   7. sessions        after api
   8. tokens          after base
   9. audit           after base
  10. mail-templates  after mail
  11. web             after api, login-form, sessions
Done already: docs

Then epic/user-auth is reviewed as a whole against main.
Estimated cost: $3.10 to $9.40\
""")


def test_a_line_for_each_event_that_is_worth_one() -> None:
    epic, told = None, list[str]()
    for event in mixed().events:
        epic = evolve(epic, event)
        told += [line] if (line := event_line(event, epic)) else []
    assert told == snapshot(
        [
            "… base: run 20261116-0001-base",
            "✓ base: approved",
            "✓ base: merged into epic/user-auth (2 of 12 done)",
            "… api: run 20261116-0005-api",
            "✓ api: approved",
            "✓ api: merged into epic/user-auth (3 of 12 done)",
            "… mail: run 20261116-0009-mail",
            "✗ mail: failed: Review failed after 2 revisions. Blocks mail-templates",
            "… tokens: run 20261116-0011-tokens",
            "? tokens: waits for a person: 3 rounds, and 1 finding blocks",
            "… audit: run 20261116-0013-audit",
            "✓ audit: approved",
            "– audit: conflicts in app/audit.py; an agent is going to resolve that",
            "… audit: run 20261116-0016-audit, to resolve conflicts in app/audit.py",
            "… sessions: run 20261116-0017-sessions",
            "… sketch: run 20261116-0018-sketch",
            "– sketch: built, not reviewed, not merged: The work is on burnish/20261116-0018-sketch",
            "… limits: run 20261116-0020-limits",
            "✓ limits: approved",
        ]
    )


def ended(review: Outcome, outcome: Outcome, *tickets: Ticket, lost: str = "") -> Story:
    story = Story(plan_of(*(tickets or (ticket("base"),))))
    story.complete("base")
    if lost:
        story.fail(lost)
    story.add(EpicReviewStarted(at=story.at, run="whole", onto="b"))
    story.add(EpicReviewEnded(at=story.at, run="whole", outcome=review, reason="as told", commit="c"))
    story.add(EpicClosed(at=story.at, outcome=outcome, reason="this is why"))
    return story


def commands(story: Story, *, driver: bool = False) -> list[str]:
    return [step["command"] for step in epic_object(story.epic, story.runs, driver=driver)["next"]]


def test_what_can_be_done_after_the_end() -> None:
    good = ended(Outcome.APPROVED, Outcome.APPROVED)
    assert commands(good) == ["git switch main && git merge epic/user-auth"]
    part = ended(Outcome.APPROVED, Outcome.FAILED, ticket("base"), ticket("extra"), lost="extra")
    assert commands(part) == ["burnish run plans/user-auth.yaml"]
    offered = ended(Outcome.APPROVED, Outcome.APPROVED)
    offered.events.insert(-1, PullRequestOpened(at=offered.at, url="https://example.com/pull/1"))
    assert commands(offered) == []
    assert "Pull request: https://example.com/pull/1" in plain(epic_summary(offered.epic, offered.runs))


def test_where_work_is_kept_that_was_rolled_back() -> None:
    plan = replace(plan_of(ticket("base"), ticket("core", critical=True)), rollback_on_failure=True)
    story = Story(plan)
    story.complete("base")
    story.fail("core")
    rolled = RolledBack(at=story.at, former="b", kept="refs/burnish/epics/one")
    story.add(rolled)
    assert "refs/burnish/epics/one" in (event_line(rolled, story.epic) or "")
    story.add(EpicClosed(at=story.at, outcome=Outcome.FAILED, reason="the critical ticket core failed"))
    told = plain(epic_summary(story.epic, story.runs))
    assert told == snapshot("""\

  ✗ core: failed: Review failed after 2 revisions (burnish show 20261116-0005-core)
2 tickets: 1 done, 1 failed
failed: the critical ticket core failed
Took 8 min, $0.68.
epic/user-auth is back at 000000000000. What it held is kept: refs/burnish/epics/one
Next: git log --oneline 000000000000..refs/burnish/epics/one
      shows the work that was rolled back
Next: burnish run plans/user-auth.yaml
      starts it again, without the tickets that are merged
""")


@pytest.mark.parametrize(
    ("review", "outcome", "mark"), [(Outcome.FAILED, Outcome.FAILED, "✗"), (Outcome.APPROVED, Outcome.APPROVED, "✓")]
)
def test_the_review_of_the_whole_is_told(review: Outcome, outcome: Outcome, mark: str) -> None:
    story = ended(review, outcome)
    told = plain(epic_lines(story.epic, story.runs, driver=False, now=story.at))
    assert f"{mark} review of the whole epic: {review.value}" in told
    assert told.startswith(f"{story.epic.id}: {outcome.value}: this is why\n")


def test_the_object_for_programs() -> None:
    story = mixed()
    told = epic_object(story.epic, story.runs)
    assert {one["id"]: (one["state"], one["outcome"]) for one in told["tickets"]} == snapshot(
        {
            "base": ("completed", "approved"),
            "api": ("completed", "approved"),
            "sessions": ("running", None),
            "login-form": ("queued", None),
            "web": ("pending", None),
            "mail": ("failed", "failed"),
            "mail-templates": ("blocked", None),
            "tokens": ("waiting", None),
            "audit": ("running", None),
            "docs": ("completed", None),
            "limits": ("approved", "approved"),
            "sketch": ("completed", "skipped"),
        }
    )
    assert (told["state"], told["interrupted"], told["outcome"]) == ("running", False, None)
    names = [one["id"] for one in told["tickets"]]
    assert all(names.index(needed) < names.index(one["id"]) for one in told["tickets"] for needed in one["depends_on"])


def test_names_and_reasons_do_not_steer_the_terminal() -> None:
    story = Story(plan_of(ticket("base\x1b[31m"), ticket("long" * 30)))
    run = story.start("base\x1b[31m")
    story.end("base\x1b[31m", run, Outcome.FAILED, "first\n✓ second\x1b[2J")
    told = plain(epic_lines(story.epic, story.runs, driver=True, now=story.at))
    assert "\x1b" not in told
    assert "\n✓" not in told
