"""The answers of hooks. Gates need the session's card alone; what moves the loop is handed to `driving`.

Only the standard library's JSON is imported here: a gate stands before every tool call of a session under review.
"""

import json
from typing import Any, cast

_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_AGENTS = ("Agent", "Task")
_PATHS = ("file_path", "notebook_path", "path")
ESCAPE = "/burnish:stop ends the review."
UNFINISHED = "burnish: the review is not finished, and nothing is approved."
REVIEW = "R1"
PHASES = (REVIEW, "R2")
"""In which subagents are wanted."""

_CARD = {"run": str, "phase": str, "root": str, "prefix": str, "say": str, "work": list, "kept": list}
Json = dict[str, Any]


def answer(data: bytes, card_path: bytes, folder: bytes, most: int) -> str:
    """What the hook prints: JSON, or nothing where the client goes on as it would without burnish."""
    call = _parsed(data) if len(data) <= most else {}
    event = str(call.get("hook_event_name", "")) if isinstance(call.get("hook_event_name"), str) else ""
    session = call.get("session_id")
    if isinstance(session, str) and session and _is_name(session):
        card_path = folder + session.encode() + b".json"
    try:
        card = _read_card(card_path)
    except OSError:
        card = None
    except ValueError:
        return _broken(event, data)
    if event == "PreToolUse" or not event:
        return dumped(_gate(call, card))
    return _driven(event, call, card)


def _driven(event: str, call: Json, card: Json | None) -> str:
    if event == "PostToolUse" and (card is None or call.get("tool_name") not in _AGENTS):
        return ""
    if event == "Stop":
        from burnish.plugin.stops import on_stop  # noqa: PLC0415 - gates must not pay for it

        return "" if card is None else dumped(on_stop(call, card))
    add_packages()
    from burnish.plugin.driving import drive_hook  # noqa: PLC0415 - nor for this

    return dumped(drive_hook(event, call, card))


def add_packages() -> None:
    """Find the packages that burnish needs: the interpreter was started without them."""
    try:
        __import__("msgspec")
    except ImportError:
        import site  # noqa: PLC0415

        site.main()


def dumped(answered: Json | None) -> str:
    return "" if answered is None else json.dumps(answered)


def _parsed(data: bytes) -> Json:
    """What the client sent; nothing where that is no object."""
    try:
        if data.count(b"[") + data.count(b"{") > 100_000:
            return {}
        return table(json.loads(data))
    except (ValueError, RecursionError):
        return {}


def table(value: object) -> Json:
    """An object of the client's; nothing where it is none."""
    return cast("Json", value) if isinstance(value, dict) else {}


def _is_name(session: str) -> bool:
    return len(session) <= 128 and session.isascii() and session.replace("-", "").replace("_", "").isalnum()


def _read_card(path: bytes) -> Json:
    with open(path, "rb") as file:  # noqa: PTH123 - without pathlib
        card: Any = json.loads(file.read())
    try:
        whole = all(isinstance(card[key], kind) for key, kind in _CARD.items())
    except (KeyError, TypeError):
        whole = False
    if not whole:
        raise ValueError(path)
    return card


def _broken(event: str, data: bytes) -> str:
    if b"/burnish:stop" in data and event == "UserPromptSubmit":
        return _driven(event, _parsed(data), None)
    what = f"burnish cannot read what it noted about this session's review. {ESCAPE}"
    return dumped(deny(what) if event in ("PreToolUse", "") else {"systemMessage": what})


def deny(reason: str) -> Json:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


# --- Gates


def _gate(call: Json, card: Json | None) -> Json | None:
    """What a tool call is answered. What cannot be understood is denied while a review may be under way."""
    tool, given = call.get("tool_name"), table(call.get("tool_input"))
    if card is None:
        if call:
            return None
        return deny(f"burnish cannot read this call, and a review is under way. {ESCAPE}")
    phase = card.get("phase")
    if phase not in PHASES:
        return None
    if not isinstance(tool, str) or not given:
        return deny(f"[PHASE {phase}] burnish cannot read this call. {ESCAPE}")
    if tool in _AGENTS:
        return _dispatch(given, card)
    if tool in _EDITS:
        return _edit(given, card, call)
    if tool == "Bash" and phase == REVIEW and not card.get("may_edit"):
        return _bash(given, card)
    return None


def _dispatch(given: Json, card: Json) -> Json:
    """Only what the phase asks for, with the prompt that burnish wrote, and in the foreground.

    No other field passes: a weaker model, or a work tree of its own, would make another review of it.
    """
    kind, phase = given.get("subagent_type"), card["phase"]
    agent = agent_name(kind) if isinstance(kind, str) else ""
    fitting = [work for work in card["work"] if work["agent"] == agent]
    if not fitting:
        wanted = ", ".join(dict.fromkeys(card["prefix"] + work["agent"] for work in card["work"])) or "none"
        named = kind[:60] if isinstance(kind, str) and kind else "This agent"
        return deny(f"[PHASE {phase}] {named} is not wanted now. Wanted: {wanted}. {ESCAPE}")
    said = f"{given.get('prompt', '')} {given.get('description', '')}"
    work = next((one for one in fitting if one["seat"] in said.split()), fitting[0])
    try:
        with open(work["prompt"], encoding="utf-8") as file:  # noqa: PTH123 - without pathlib
            prompt = file.read()
    except OSError:
        return deny(f"[PHASE {phase}] burnish cannot read the prompt of {work['seat']}. {ESCAPE}")
    prompt = f"{prompt}\n{seat_line(work['token'])}\n"
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": f"burnish asks for {work['seat']}",
            "updatedInput": {
                "subagent_type": kind,
                "description": work["seat"],
                "prompt": prompt,
                "run_in_background": False,
            },
        }
    }


def agent_name(kind: str) -> str:
    """One of burnish's subagents, of the plugin or of a project's own settings; empty for any other one."""
    return kind[len("burnish:") :] if kind.startswith(("burnish:", "burnish-")) else ""


def seat_line(token: str) -> str:
    """By which an answer is known to belong to a seat."""
    return f"Seat: {token}. It tells burnish whose answer this is; do not repeat it."


def _edit(given: Json, card: Json, call: Json) -> Json | None:
    from posixpath import dirname, expanduser, join, realpath  # noqa: PLC0415 - most calls are no edits; without pathlib

    phase, root = card["phase"], card["root"]
    paths = [given[key] for key in _PATHS if key in given]
    if len(paths) != 1 or not isinstance(paths[0], str) or "\0" in paths[0]:
        return deny(f"[PHASE {phase}] burnish cannot tell which file this would change. {ESCAPE}")
    path = paths[0]
    folder = call.get("cwd") if isinstance(call.get("cwd"), str) else root
    real = realpath(join(str(folder), expanduser(path)))
    if any(_inside(real, realpath(kept)) for kept in card["kept"]):
        return deny(f"[PHASE {phase}] {path[:200]} belongs to burnish. {ESCAPE}")
    transcripts = call.get("transcript_path")
    if isinstance(transcripts, str) and _inside(real, realpath(dirname(join(str(folder), transcripts)))):
        return deny(f"[PHASE {phase}] {path[:200]} is a transcript, from which burnish takes answers. {ESCAPE}")
    if phase != REVIEW or card.get("may_edit"):
        return None
    real_root = realpath(root)
    if not _inside(real, real_root) or _inside(real, join(real_root, ".agents")):
        return None
    return deny(
        f"[PHASE R1] Reviewers look at the tree as it is: {path[:200]} must not change until all have answered. "
        f"The fixer edits in phase R2. {ESCAPE}"
    )


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _bash(given: Json, card: Json) -> Json | None:
    from burnish.plugin.bash_rules import why_denied  # noqa: PLC0415 - only where a command is run

    command = given.get("command")
    if not isinstance(command, str):
        return deny(f"[PHASE R1] burnish cannot read this command. {ESCAPE}")
    why = why_denied(command, card.get("checks") or [])
    if not why:
        return None
    return deny(
        f"[PHASE R1] Reviewers look at the tree as it is, and this command might change it: {why}. Use Read, Grep or "
        f"Glob, or commands such as git diff, git show, cat and grep; the project's tests may run, too. {ESCAPE}"
    )
