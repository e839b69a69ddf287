"""The hooks that move the loop: a prompt of the user, a subagent that has ended, a tool that has returned, a stop.

Each calls one use case, brings the session's card up to date, and says what comes next. The client shows
`additionalContext` to the model and `systemMessage` to the person.
"""

import os
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.core.errors import BurnishError
from burnish.plugin.cards import card_path, hand_over, is_current, note_told, read_card, remove_card, sessions_folder
from burnish.plugin.gates import ESCAPE, PHASES, UNFINISHED, Json, agent_name, seat_line, table
from burnish.plugin.transcripts import MOST_BYTES, Transcript, tables, transcript_of

if TYPE_CHECKING:
    from burnish.usecases.session_owners import SessionOwner
    from burnish.usecases.session_review import SessionRequest

_COMMAND = "/burnish:"
_OPTIONS = ("--protocol", "--base", "--max-rounds", "--brief")
_ADOPT = "--adopt"


def drive_hook(event: str, call: Json, card: Json | None) -> Json | None:
    """The answer of a hook that is no gate. An error becomes a message: the client must never believe it a success."""
    try:
        match event:
            case "UserPromptSubmit":
                return _on_prompt(call, card)
            case "SubagentStop" if card is not None:
                return _on_subagent_stop(call, card)
            case "PostToolUse" if card is not None:
                return _on_tool(call, card)
            case "SessionStart":
                return _on_session(call, card)
            case _:
                return None
    except BurnishError as error:
        said = said_of(error, card)
        return _block(said) if event == "UserPromptSubmit" else {"systemMessage": said}


def said_of(error: BurnishError, card: Json | None) -> str:
    """What the person is told of an error. Where another session owns the review now, this one lets go of it."""
    from burnish.usecases.session_review import NotOwnerError  # noqa: PLC0415

    said = f"burnish: {error.message} {error.hint}".strip()
    if not isinstance(error, NotOwnerError) or card is None:
        return said if card is None else f"{said} {UNFINISHED} {ESCAPE}"
    path = card_path(_environment(), card["session"])
    if path is not None:
        remove_card(path)
    return said


def _context(event: str, text: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _block(reason: str) -> Json:
    return {"decision": "block", "reason": reason}


def _text(call: Json, key: str) -> str:
    found = call.get(key)
    return found if isinstance(found, str) else ""


def _environment() -> dict[str, str]:
    return dict(os.environ)


# --- A prompt of the user


def _on_prompt(call: Json, card: Json | None) -> Json | None:
    prompt = _text(call, "prompt").strip()
    session, folder = _text(call, "session_id"), Path(_text(call, "cwd") or ".")
    if not prompt.startswith(_COMMAND):
        if card is None or card["phase"] not in PHASES:
            return None
        return _context("UserPromptSubmit", f"burnish: a review of this tree is under way.\n\n{card['say']}")
    name, _, rest = prompt.removeprefix(_COMMAND).partition(" ")
    match name:
        case "review" | "fix":
            return _start(name, rest, session, folder)
        case "stop":
            return _stop(session, folder, card)
        case "status":
            return _block(_status(session, folder))
        case "decide":
            return _decide(rest, session, folder)
        case _:
            return None


def _owner(session: str) -> "SessionOwner":
    from burnish.usecases.session_owners import owner_of  # noqa: PLC0415

    return owner_of(session)


def _start(name: str, rest: str, session: str, folder: Path) -> Json:
    from burnish.plugin.instructions import words_for, write_card  # noqa: PLC0415
    from burnish.usecases.session_review import start_review  # noqa: PLC0415

    if not session:
        return _block("burnish: the client names no session, so no review can belong to it.")
    if card_path(_environment(), session) is None:
        return _block("burnish: there is no place for the card of a review. Set HOME or XDG_STATE_HOME.")
    owner, environment = _owner(session), _environment()
    standing = start_review(folder, owner, _request(name, rest), environment)
    write_card(standing, owner, environment, told=True)
    _tell_former(standing.run, standing.taken_from, session)
    said = words_for(standing, environment)
    notices = "\n".join(standing.notices)
    answer = _context("UserPromptSubmit", f"{said}\n{notices}".strip())
    if standing.is_over:
        answer["systemMessage"] = said
    return answer


def _tell_former(run: str, former: str, session: str) -> None:
    path = card_path(_environment(), former) if former else None
    if path is not None:
        hand_over(path, f"burnish: session {session[:8]} has taken over the review of this tree, {run}.")


def _request(name: str, rest: str) -> "SessionRequest":
    """What was typed after the command: options, and the intent in words."""
    from burnish.core.events import Mode  # noqa: PLC0415
    from burnish.usecases.session_review import SessionRequest, SessionReviewError  # noqa: PLC0415

    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    given: dict[str, str] = {}
    intent: list[str] = []
    while words:
        word = words.pop(0)
        if word in _OPTIONS:
            if not words:
                raise SessionReviewError(f"{word} needs a value.", hint=f"Type it after {word}.")
            given[word] = words.pop(0)
        elif word == _ADOPT:
            given[word] = ""
        elif word.startswith("--"):
            known = ", ".join((*_OPTIONS, _ADOPT))
            raise SessionReviewError(f"/burnish:{name} does not know {word}.", hint=f"It knows {known}.")
        else:
            intent.append(word)
    rounds = given.get("--max-rounds", "")
    if rounds and not (rounds.isascii() and rounds.isdigit()):
        raise SessionReviewError(f"--max-rounds {rounds} is not a number.", hint="Type one, such as 3.")
    return SessionRequest(
        mode=Mode.REVIEW if name == "review" else Mode.FIX,
        protocol=given.get("--protocol"),
        base=given.get("--base"),
        max_rounds=int(rounds) if rounds else None,
        brief=given.get("--brief", ""),
        intent=" ".join(intent),
        adopt=_ADOPT in given,
    )


def _run_of(session: str, folder: Path) -> str:
    from burnish.usecases.session_review import SessionReviewError, run_of_session  # noqa: PLC0415

    run = run_of_session(folder, session) if session else None
    if run is None:
        raise SessionReviewError(
            "This session has no review under way.", hint="/burnish:fix starts one, or goes on with one left here."
        )
    return run


def _stop(session: str, folder: Path, card: Json | None) -> Json:
    """End the review, and whatever happens, let go of the session."""
    from burnish.plugin.instructions import aloud  # noqa: PLC0415
    from burnish.usecases.session_review import stop_review  # noqa: PLC0415

    environment = _environment()
    place = Path(card["root"]) if card is not None else folder
    try:
        run = card["run"] if card else _run_of(session, place)
        standing = stop_review(place, run, environment, "in the session", session=session)
    finally:
        path = card_path(environment, session)
        if path is not None and session:
            remove_card(path)
    return _block(aloud(standing))


def _status(session: str, folder: Path) -> str:
    from burnish.usecases.session_review import look  # noqa: PLC0415

    return look(folder, _run_of(session, folder))


def _decide(rest: str, session: str, folder: Path) -> Json:
    from burnish.plugin.instructions import words_for, write_card  # noqa: PLC0415
    from burnish.usecases.session_review import decide_review  # noqa: PLC0415

    key, _, note = rest.strip().partition(" ")
    environment = _environment()
    standing = decide_review(folder, _run_of(session, folder), key, note.strip(), environment, session=session)
    write_card(standing, _owner(session), environment, told=True)
    said = words_for(standing, environment)
    return _context("UserPromptSubmit", said) if standing.wanted else _block(said)


# --- A subagent has ended


def _on_subagent_stop(call: Json, card: Json) -> Json | None:
    transcript = Transcript.read_to_its_end(_text(call, "agent_transcript_path"))
    work = _work_of(call, card, transcript)
    if work is None:
        return None
    answers = [_text(call, "last_assistant_message"), transcript.last_text, _own_file(card, work)]
    problem = _take(card, work, answers, transcript, repairable=call.get("stop_hook_active") is not True)
    if not problem:
        return None
    from burnish.prompts.rendering import fill  # noqa: PLC0415

    return _block(fill("repair", problem=problem))


def _work_of(call: Json, card: Json, transcript: Transcript) -> Json | None:
    """The work that a subagent was given: by the line that only its prompt holds, else by its type."""
    for work in card["work"]:
        if seat_line(work["token"]) in transcript.prompt:
            return work
    kind = agent_name(_text(call, "agent_type"))
    fitting = [work for work in card["work"] if work["agent"] == kind]
    # One of an earlier attempt, or of another review, carries the line of another seat.
    return fitting[0] if len(fitting) == 1 and "\nSeat: " not in transcript.prompt else None


def _own_file(card: Json, work: Json) -> str:
    """What a reviewer may have written by itself, where the seed's reviewers do, since it was asked.

    What stands there from before is a record of an earlier round or run.
    """
    if work["role"] != "review":
        return ""
    folder = Path(card["root"]) / ".agents" / "tmp" / "phases"
    path = folder / f"review-{card['round']}" / f"r1-{work['seat']}.json"
    try:
        found, asked = path.lstat(), Path(work["prompt"]).stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES or found.st_mtime_ns <= asked.st_mtime_ns:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _take(card: Json, work: Json, answers: list[str], transcript: Transcript, *, repairable: bool) -> str:
    """Submit the first answer that can be read. What is wrong with it, where the subagent can still repair it."""
    from burnish.plugin.instructions import write_card  # noqa: PLC0415
    from burnish.usecases.session_review import submit_answer  # noqa: PLC0415

    environment = _environment()
    found = list(dict.fromkeys(text for text in answers if text.strip())) or [""]
    if work["role"] != "review":
        found = found[:1]
    prompt = _prompt_of(work)
    submission = None
    for number, text in enumerate(found, start=1):
        submission = submit_answer(
            Path(card["root"]),
            card["run"],
            work["token"],
            text,
            environment,
            session=card["session"],
            transcript=transcript.calls,
            was_given=bool(prompt) and prompt.strip() in transcript.prompt,
            repairable=repairable or number < len(found),
        )
        if submission.accepted or not submission.may_repair:
            break
    if submission is None:
        return ""
    if submission.may_repair:
        return submission.problem
    write_card(submission.standing, _owner(card["session"]), environment)
    return ""


def _prompt_of(work: Json) -> str:
    try:
        return Path(work["prompt"]).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# --- The tool that starts subagents has returned


def _on_tool(call: Json, card: Json) -> Json | None:
    """Take an answer that no SubagentStop brought, then say what comes next: once for each question."""
    response = table(call.get("tool_response"))
    prompt = _text(response, "prompt") or _text(table(call.get("tool_input")), "prompt")
    work = next((one for one in card["work"] if seat_line(one["token"]) in prompt), None)
    if work is not None and response.get("status") == "completed":
        said = "\n".join(str(part.get("text", "")) for part in tables(response.get("content")))
        transcript = transcript_of(call, _text(response, "agentId"))
        transcript.prompt = transcript.prompt or prompt
        _take(card, work, [said], transcript, repairable=False)
    return _tell("PostToolUse", card)


def _tell(event: str, card: Json) -> Json | None:
    """What the session has not been asked yet."""
    path = card_path(_environment(), card["session"])
    current = note_told(path) if path is not None else None
    if current is None:
        return None
    answer = _context(event, current["say"])
    if current["phase"] not in PHASES:
        answer["systemMessage"] = current["say"]
    return answer


# --- What the end of a turn brings


def take_found(card: Json, found: "list[tuple[Json, Transcript]]") -> None:
    """Take answers that no hook brought. One that cannot be read is left: its subagent may not have come to an end."""
    for work, transcript in found:
        _take(card, work, [transcript.last_text, _own_file(card, work)], transcript, repairable=True)
    path = card_path(_environment(), card["session"])
    now = read_card(path) if path is not None else None
    if now is None or not is_current(now):
        _refresh(card)


def _refresh(card: Json) -> None:
    """Make the card anew from how the review stands: something else has moved it, such as `burnish cancel`."""
    from burnish.plugin.instructions import write_card  # noqa: PLC0415
    from burnish.usecases.session_review import standing  # noqa: PLC0415

    environment = _environment()
    now = standing(Path(card["root"]), card["run"], environment, session=card["session"])
    write_card(now, _owner(card["session"]), environment, missed=card["missed"])


def give_up(card: Json) -> None:
    """Give up on what was asked for again and did not come. What the protocol wants then counts as told."""
    from burnish.plugin.instructions import write_card  # noqa: PLC0415
    from burnish.usecases.session_review import give_up_on_missing  # noqa: PLC0415

    environment = _environment()
    now = give_up_on_missing(Path(card["root"]), card["run"], environment, session=card["session"])
    write_card(now, _owner(card["session"]), environment, told=True, missed=card["missed"])


# --- A session begins, or its context was compacted


def _on_session(call: Json, card: Json | None) -> Json | None:
    if card is not None:
        return _go_on(card) if card["phase"] in (*PHASES, "WAITING") else None
    return _clean_up(_text(call, "cwd"))


def _go_on(card: Json) -> Json:
    """The session was compacted, or resumed in another process, which is its owner's from now on."""
    from burnish.plugin.instructions import words_for, write_card  # noqa: PLC0415
    from burnish.usecases.session_review import continue_review  # noqa: PLC0415

    environment, owner = _environment(), _owner(card["session"])
    now = continue_review(Path(card["root"]), card["run"], owner, environment)
    write_card(now, owner, environment, told=True, missed=card["missed"])
    return _context("SessionStart", words_for(now, environment))


def _clean_up(folder: str) -> Json | None:
    """Let go of sessions that are gone; say where they left a review of this tree unfinished."""
    from burnish.usecases.session_owners import living_owner  # noqa: PLC0415
    from burnish.workspace.repository import Repository  # noqa: PLC0415

    cards = sessions_folder(_environment())
    left: list[str] = []
    for path in sorted(cards.glob("*.json")) if cards is not None else ():
        card = read_card(path)
        if card is None or not folder or not os.path.realpath(folder).startswith(os.path.realpath(card["root"])):
            continue
        if living_owner(Repository.discover(Path(card["root"])), card["run"]) is None:
            remove_card(path)
            left.append(card["run"])
    if not left:
        return None
    return {
        "systemMessage": f"burnish: a session that is gone left {', '.join(left)} unfinished. /burnish:fix goes on."
    }
