"""What a model says and does in the suite, and the same for an agent without a model: each scenario is written once."""

from burnish.testing.model_server.scenario import (
    Fault,
    ModelAnswer,
    RunCommand,
    Scenario,
    TokenCounts,
    Write,
    ready_made,
)
from burnish.testing.scripted_agent import Background
from burnish.testing.scripted_agent import ScriptedAnswer as Deed

READABLE = "# Code Review Findings\n\n## Critical\n\nNone.\n\n## Important\n\nNone.\n\n## Minor\n\nNone.\n"
TOKENS = 120
"""What each answer of the model is said to have used."""
COSTLY = 12_000
"""What an answer uses that is beyond its share."""

SCENARIOS: dict[str, Scenario] = {
    **ready_made(),
    "limited": (ModelAnswer(status=429, retry_after=1),),
    "told-to-repair": (ModelAnswer(when=("could not be read",), say=READABLE), ModelAnswer(say="It looks good to me.")),
    "wrong-form": (ModelAnswer(answer='{"issues": "none"}'),),
    "refused-later": (ModelAnswer(turn=1, call=(RunCommand(command="git status --short"),)), ModelAnswer(status=401)),
    "hangs-later": (
        ModelAnswer(turn=1, call=(RunCommand(command="git status --short"),)),
        ModelAnswer(fault=Fault.HANG),
    ),
    "costly-repair": (
        ModelAnswer(when=("could not be read",), say=READABLE, usage=TokenCounts(input=10_000, cached=0, output=2_000)),
        ModelAnswer(say="It looks good to me.", usage=TokenCounts(input=10_000, cached=0, output=2_000)),
    ),
    "costly": (
        ModelAnswer(answer=ready_made()["clean"][0].answer, usage=TokenCounts(input=10_000, cached=0, output=2_000)),
    ),
    "fixes": (
        ModelAnswer(turn=1, call=(Write(file="app.py", text="x = 1\n"),)),
        ModelAnswer(turn=2, call=(RunCommand(command="echo done > made-by-the-shell.txt"),)),
        ModelAnswer(say="I have put it right."),
    ),
    "fixes-again": (
        ModelAnswer(turn=1, call=(Write(file="app.py", text="x = 2\n"),)),
        ModelAnswer(turn=2, say="The first part is done."),
        ModelAnswer(when=("The first part is done.",), turn=3, call=(Write(file="new.py", text="y = 2\n"),)),
        ModelAnswer(when=("The first part is done.",), say="So is the second."),
    ),
    "leaves-a-child": (
        ModelAnswer(turn=1, call=(RunCommand(command="setsid sleep 600 >/dev/null 2>&1 </dev/null & echo left it"),)),
        ModelAnswer(fault=Fault.HANG),
    ),
}
READY = "it is ready"
"""What the scripted agent writes where a model would be asked the last time."""


def deed(scenario: str) -> Deed:
    """What an agent does that is to behave as a client with this model does: all that it is asked for, then its end."""
    steps = SCENARIOS[scenario]
    calls = [call for step in steps for call in step.call]
    last = steps[-1]
    refused = last.status != 200
    pause = f"retry-after: {last.retry_after:g}" if last.retry_after else ""
    return Deed(
        write={call.file: call.text for call in calls if isinstance(call, Write)},
        run=tuple(("sh", "-c", call.command) for call in calls if isinstance(call, RunCommand)),
        background=Background.SESSION if scenario == "leaves-a-child" else Background.NONE,
        stderr=f"HTTP status {last.status}. {pause}\n" if refused else f"{READY}\n",
        text=last.say or last.answer,
        hang=last.fault is Fault.HANG,
        exit_code=int(refused),
    )
