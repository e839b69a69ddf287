"""The MCP server, driven by the client of the official SDK on a real repository."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

from burnish.cli.app import run as burnish
from burnish.core.events import Outcome
from burnish.mcp import server
from burnish.mcp.server import MainThread, ReviewTools
from burnish.usecases.runs import open_runs
from burnish.usecases.session_review import SessionReviewError
from tests.mcp_server.conversation import (
    ISSUE,
    RIGHT,
    Caller,
    ClientSession,
    environment,
    here,
    parameters,
    project,
    stdio_client,
)
from tests.usecases.cloned_projects import READER
from tests.usecases.sealed_runs import Project


def test_a_whole_review_over_the_wire_ends_with_a_seal(tmp_path: Path) -> None:
    """Start, seats, findings, fix, clean, sealed; and a second server at the same time."""
    builder = project(tmp_path / "project")
    variables = environment(tmp_path)

    async def script(call: Caller, other: Caller) -> dict[str, Any]:
        now = await call("start_session_review", protocol="panel")
        run, seats = now["run"], now["seats"]
        assert (now["phase"], len(seats), len({seat["token"] for seat in seats})) == ("R1", 5, 5)
        assert {seat["answer_with"] for seat in seats} == {"submit_review"}
        refused = await other.refused("start_session_review", protocol="panel")
        assert "under review in another session" in refused
        assert "hint: " in refused
        clean: dict[str, Any] = {"run": run, "verdict": "clean", "issues": []}
        assert "not a review of this session" in await other.refused("submit_review", **clean, token=seats[0]["token"])
        assert "No seat waits" in await call.refused("submit_review", **clean, token="0" * 24)

        now = await call.answer_seats(now, {"critic": [ISSUE]})
        assert "No seat waits" in await call.refused("submit_review", **clean, token=seats[0]["token"])
        assert (now["phase"], now["blocking"], [seat["role"] for seat in now["seats"]]) == ("R2", 1, ["fix"])
        (finding,) = (await other("list_findings", run=run))["findings"]
        assert (finding["file"], finding["line"], finding["blocking"]) == ("calc.py", 3, True)

        fixer = now["seats"][0]["token"]
        assert finding["id"] in await call.read_all(run, fixer)
        builder.write({"calc.py": RIGHT})
        answers = [{"id": finding["id"], "answer": "fixed", "text": "It adds."}]
        now = await call("submit_fix", run=run, token=fixer, summary="Add again.", answers=answers)
        assert (now["phase"], now["round"]) == ("R1", 2)
        now = await call.answer_seats(now, {})
        assert (now["phase"], now["outcome"]) == ("DONE", "approved")
        return await other("review_status", run=run)

    async def talk() -> dict[str, Any]:
        server = parameters(builder.path, variables)
        async with (
            stdio_client(server) as first,
            stdio_client(server) as second,
            ClientSession(*first) as one,
            ClientSession(*second) as two,
        ):
            await one.initialize()
            await two.initialize()
            return await script(Caller(one), Caller(two))

    status = anyio.run(talk)
    assert (status["state"], status["findings"], status["seal_kinds"]) == ("ended", {"resolved": 1}, ["self-reviewed"])
    assert builder.git.text("diff", "--name-only", "HEAD") == "calc.py"  # burnish commits nothing


def test_answers_that_contradict_themselves_or_cannot_be_read_are_refused(tmp_path: Path) -> None:
    builder = project(tmp_path / "project")

    async def script(call: Caller) -> None:
        now = await call("start_session_review", protocol="panel")
        words = {"run": now["run"], "token": now["seats"][0]["token"]}
        assert "contradicts" in await call.refused("submit_review", **words, verdict="clean", issues=[ISSUE])
        assert "contradicts" in await call.refused("submit_review", **words, verdict="issues_found", issues=[])
        for broken in ({**ISSUE, "severity": "bad"}, {"severity": "info"}, {**ISSUE, "extra": 1}, {**ISSUE, "line": 0}):
            await call.refused("submit_review", **words, verdict="issues_found", issues=[broken])
        await call.refused("submit_review", **words, verdict="fine", issues=[])
        await call.refused("submit_review", **words, verdict="clean")
        assert "Answer with submit_review" in await call.refused("submit_text", **words, answer="LGTM")
        assert "Answer with submit_review" in await call.refused("submit_fix", **words, summary="x", answers=[])
        assert "There is no run" in await call.refused("session_status", run="nonsense")
        await call.refused("no_such_tool")
        now = await call("session_status", run=now["run"])
        assert (len(now["seats"]), now["answered"]) == (5, [])  # nothing of all that was recorded

    here(builder.path, environment(tmp_path), script)


def test_a_reviewer_that_has_not_read_its_prompt_proves_nothing(tmp_path: Path) -> None:
    builder = project(tmp_path / "project").write({"calc.py": RIGHT})

    async def script(call: Caller) -> dict[str, Any]:
        now = await call("start_session_review", protocol="panel", fix=False)
        for seat in now["seats"]:
            now = await call("submit_review", run=now["run"], token=seat["token"], verdict="clean", issues=[])
        return now

    now = here(builder.path, environment(tmp_path), script)
    assert now["outcome"] == Outcome.UNPROVEN.value
    with open_runs(builder.path) as runs:
        assert not runs.load(now["run"]).seal


@pytest.mark.prove
def test_text_that_cannot_be_read_is_asked_for_again_and_then_did_not_run(tmp_path: Path) -> None:
    builder = project(tmp_path / "project")

    async def script(call: Caller) -> str:
        now = await call("start_session_review", protocol="epic", fix=False)
        tokens: set[str] = set()
        for _ in range(20):
            if not now["seats"]:
                break
            token = now["seats"][0]["token"]
            tokens.add(token)
            await call.refused("submit_text", run=now["run"], token=token, answer="Looks good to me!")
            now = await call("session_status", run=now["run"])
        assert 1 < len(tokens) < 5
        return now["outcome"]

    assert here(builder.path, environment(tmp_path), script) == Outcome.DID_NOT_RUN.value


@pytest.mark.prove
def test_a_review_by_the_runner_is_followed_and_its_findings_are_read(tmp_path: Path) -> None:
    builder = Project(tmp_path, READER).builder.commit({"app.py": "broken = 1\n"})

    async def script(call: Caller) -> tuple[dict[str, Any], dict[str, Any]]:
        started = await call("start_review", branch="change", base="main")
        status = await call("review_status", run=started["run"])
        while status["state"] == "running":
            status = await call("review_status", run=started["run"], wait_seconds=20)
        found = await call("list_findings", run=started["run"], limit=1)
        worst = found["findings"][0]
        assert "needs evidence" in await call.refused(
            "refute_finding", run=started["run"], finding=worst["id"], evidence=" "
        )
        refuted = await call("refute_finding", run=started["run"], finding=worst["id"], evidence="It is a global.")
        assert refuted["findings"]["refuted"] == 1
        sealed = await call("verify_seal", base="main")
        assert not sealed["sealed"]
        return status, found

    status, found = here(builder.path, environment(tmp_path), script)
    assert (status["state"], status["outcome"]) == ("ended", "failed")
    assert (len(found["findings"]), found["findings"][0]["blocking"]) == (1, True)
    assert "mend it" in found["findings"][0]["problem"]


def test_inside_an_agent_of_a_run_nothing_is_started_and_no_answer_is_taken(tmp_path: Path) -> None:
    builder = project(tmp_path / "project")

    async def script(call: Caller) -> list[str]:
        return [
            await call.refused("start_review"),
            await call.refused("start_session_review"),
            await call.refused("refute_finding", run="latest", finding="x", evidence="y"),
            await call.refused("submit_review", run="latest", token="0" * 24, verdict="clean", issues=[]),
        ]

    told = here(builder.path, environment(tmp_path, BURNISH_RUN="20260101-000000-aaaaaa"), script)
    assert all("inside one of its own agents" in each for each in told)


def test_every_tool_says_what_it_takes_and_none_decides_for_a_person(tmp_path: Path) -> None:
    builder = project(tmp_path / "project")

    async def script(call: Caller) -> list[Any]:
        return (await call.session.list_tools()).tools

    tools = here(builder.path, environment(tmp_path), script)
    assert {"start_review", "submit_review", "refute_finding"} <= {tool.name for tool in tools}
    assert not [
        tool.name for tool in tools if any(word in tool.name for word in ("decide", "waive", "accept", "adopt"))
    ]
    assert all(tool.description and tool.output_schema for tool in tools)
    assert all(len(json.dumps(tool.input_schema)) < 8_000 for tool in tools)


def test_without_the_sdk_there_is_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_name: str) -> None:
        return None

    monkeypatch.setattr("burnish.mcp.command.find_spec", missing)
    assert burnish(["mcp", "--folder", str(tmp_path)]) == 2
    assert "pip install 'burnish[mcp]'" in capsys.readouterr().err


def test_while_burnish_is_at_work_a_call_says_so_and_names_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path / "project")
    main, busy, free = MainThread(), threading.Event(), threading.Event()
    tools = ReviewTools(tmp_path / "project", environment(tmp_path), main)
    said: list[object] = []

    def run_tests() -> None:
        busy.set()
        free.wait()

    def calls() -> None:
        begun = tools.start_session_review(protocol="panel")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(main.do, run_tests, 60.0)
            busy.wait()
            monkeypatch.setattr(server, "_WAIT", 0.01)
            now = tools.session_status(begun.run)
            said.extend((now.run == begun.run, now.phase, now.seats))
            said.append(tools.read_prompt(begun.run, begun.seats[0].token).seat)  # known already
            with pytest.raises(SessionReviewError) as raised:
                tools.read_prompt(begun.run, "0" * 24)
            said.append(str(raised.value.message))
            free.set()

    try:
        main.serve(calls)
    finally:
        free.set()
    assert said[:4] == [True, "working", [], "critic"]
    assert "is running checks or tests" in str(said[4])
