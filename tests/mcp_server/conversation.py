"""A client of the official SDK that talks to the server: in this process, or to `burnish mcp` as a client starts it."""

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
from mcp import Client, ClientSession, StdioServerParameters, stdio_client

from burnish.mcp.server import MainThread, ReviewTools, build_server
from burnish.testing.repositories import RepositoryBuilder

_T = TypeVar("_T")
WRONG = 'def add(a, b):\n    """Add."""\n    return a - b\n'
RIGHT = WRONG.replace("-", "+")
ISSUE = {
    "severity": "critical",
    "category": "logic",
    "file": "calc.py",
    "line": 3,
    "description": "add subtracts",
    "evidence": "return a - b",
    "suggestion": "Use +.",
}


class RefusedError(Exception):
    """What a tool said instead of an answer."""


class Caller:
    """Calls tools, and takes their structured answers."""

    def __init__(self, session: Client | ClientSession) -> None:
        self.session = session

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.session.call_tool(tool, arguments)
        text = "".join(getattr(part, "text", "") for part in answer.content)
        if answer.is_error:
            assert "Traceback" not in text
            raise RefusedError(text)
        content: Any = answer.structured_content
        assert isinstance(content, dict)
        return cast("dict[str, Any]", content)

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must refuse; what it says."""
        try:
            got = await self(tool, **arguments)
        except RefusedError as error:
            return str(error)
        raise AssertionError(f"{tool} answered: {got}")

    async def read_all(self, run: str, token: str) -> str:
        text, offset = "", 0
        while offset is not None:
            page = await self("read_prompt", run=run, token=token, offset=offset)
            text += page["text"]
            offset = page["next_offset"]
        return text

    async def answer_seats(self, now: dict[str, Any], issues: Mapping[str, list[Any]]) -> dict[str, Any]:
        """Have each seat read its prompt and answer: clean, or with its issues."""
        for seat in now["seats"]:
            await self.read_all(now["run"], seat["token"])
            found = issues.get(seat["seat"], [])
            verdict = "issues_found" if found else "clean"
            words = {"run": now["run"], "token": seat["token"]}
            now_then = await self("submit_review", **words, verdict=verdict, issues=found)
            now = (
                {**now_then, "seats": now["seats"]}
                if now_then["phase"] == "R1" and len(now_then["seats"])
                else now_then
            )
        return now


def project(path: Path) -> RepositoryBuilder:
    """A repository with a change in its working tree that subtracts where it should add."""
    builder = RepositoryBuilder(path).commit({"calc.py": "def add(a, b):\n    return a + b\n"})
    builder.git.run("checkout", "--quiet", "-b", "change")
    return builder.write({"calc.py": WRONG})


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    return {**kept, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), **more}


def here(folder: Path, variables: Mapping[str, str], script: Callable[[Caller], Awaitable[_T]]) -> _T:
    """Talk to a server in this process. What drives runs is done in this thread, as in the real one."""
    main = MainThread()
    server = build_server(ReviewTools(folder, variables, main))
    ended: Future[_T] = Future()

    async def talk() -> None:
        async with Client(server) as client:
            try:
                ended.set_result(await script(Caller(client)))
            except BaseException as error:  # noqa: BLE001 - the test is told of it
                ended.set_exception(error)

    main.serve(partial(anyio.run, talk))
    return ended.result(0)


def parameters(folder: Path, variables: Mapping[str, str]) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "burnish", "mcp"], cwd=folder, env=dict(variables)
    )


__all__ = ["ClientSession", "stdio_client"]
