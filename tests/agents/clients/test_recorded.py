"""Every client in every situation, as the real ones ended: the same question, the same kind of end."""

import json
from typing import Any

import pytest

from burnish.agents.interface import Reply
from burnish.agents.registry import clients
from burnish.agents.streams import read_answer
from burnish.contracts.text import UnreadableError
from burnish.core.reviews import ContractName, Failure, FailureKind
from burnish.core.values import replace
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished, How
from tests.agents.building import request
from tests.agents.clients.live import ISSUES_SCHEMA, MODELS
from tests.agents.clients.recordings import recorded

KINDS = tuple(MODELS)
every_client = pytest.mark.parametrize("kind", KINDS, ids=[kind.value for kind in KINDS])


def read(kind: AgentKind, finished: Finished, **changes: Any) -> Reply | Failure:
    asked = {"schema": ISSUES_SCHEMA, "model": MODELS[kind], **changes}
    return clients()[kind].read(finished, request(**asked), None)


def reply(kind: AgentKind, situation: str, **changes: Any) -> Reply:
    found = read(kind, recorded(kind, situation), **changes)
    assert isinstance(found, Reply), found
    return found


@every_client
def test_a_clean_review_is_read(kind: AgentKind) -> None:
    found = reply(kind, "clean")
    assert read_answer(ContractName.ISSUES, found.text).clean
    assert found.session
    assert found.transcript == recorded(kind, "clean").stdout


@every_client
def test_findings_are_read(kind: AgentKind) -> None:
    answer = read_answer(ContractName.ISSUES, reply(kind, "findings").text)
    assert [finding.severity.value for finding in answer.findings] == ["critical", "info"]


@every_client
def test_what_is_said_before_a_tool_is_no_part_of_the_answer(kind: AgentKind) -> None:
    found = reply(kind, "tool-calls")
    assert json.loads(found.text)["issues"] == []


@every_client
def test_a_fixer_answers_in_words(kind: AgentKind) -> None:
    assert reply(kind, "fixed", schema="").text.strip() == b"I have put it right."


@every_client
def test_words_instead_of_json_are_no_review(kind: AgentKind) -> None:
    found = read(kind, recorded(kind, "plain-text"))
    if isinstance(found, Reply):
        with pytest.raises(UnreadableError):
            read_answer(ContractName.ISSUES, found.text)
    else:
        assert found.kind is FailureKind.UNREADABLE
        assert "seems fine to me" in found.message


@every_client
@pytest.mark.parametrize(
    ("situation", "kind_of_failure"),
    [
        ("unauthorised", FailureKind.UNAUTHORISED),
        ("rate-limited", FailureKind.RATE_LIMITED),
        ("server-error", FailureKind.CRASHED),
        ("terminated", FailureKind.CRASHED),
    ],
)
def test_every_failure_has_its_kind(kind: AgentKind, situation: str, kind_of_failure: FailureKind) -> None:
    found = read(kind, recorded(kind, situation))
    assert isinstance(found, Failure), found
    assert found.kind is kind_of_failure, found.message
    assert found.message


@every_client
def test_a_connection_that_breaks_is_never_an_answer(kind: AgentKind) -> None:
    found = read(kind, recorded(kind, "cut"))
    assert isinstance(found, Failure), found
    # Only Claude Code says that it was the connection.
    wanted = FailureKind.UNREACHABLE if kind is AgentKind.CLAUDE else FailureKind.CRASHED
    assert found.kind is wanted, found.message


@every_client
@pytest.mark.parametrize("situation", ["clean", "findings", "tool-calls"])
def test_a_stream_that_lost_its_end_has_no_answer(kind: AgentKind, situation: str) -> None:
    """Wherever it was cut: at each line, and in the middle of the last ones."""
    whole = recorded(kind, situation)
    lines = whole.stdout.rstrip().split(b"\n")
    cuts = [b"\n".join(lines[:number]) for number in range(len(lines))]
    cuts += [whole.stdout.rstrip()[: -len(lines[-1]) // 2], whole.stdout.rstrip()[:-1]]
    for cut in cuts:
        assert isinstance(read(kind, replace(whole, stdout=cut)), Failure), cut[-300:]


@every_client
def test_an_exit_code_that_is_not_0_is_believed_before_the_stream(kind: AgentKind) -> None:
    found = read(kind, replace(recorded(kind, "clean"), code=1))
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.CRASHED


@every_client
@pytest.mark.parametrize(
    ("how", "kind_of_failure"), [(How.TIMED_OUT, FailureKind.TIMED_OUT), (How.SILENT, FailureKind.STUCK)]
)
def test_a_client_that_was_ended_has_no_answer(kind: AgentKind, how: How, kind_of_failure: FailureKind) -> None:
    found = read(kind, replace(recorded(kind, "clean"), how=how, code=None, signal=15))
    assert isinstance(found, Failure)
    assert found.kind is kind_of_failure


@every_client
def test_a_stream_too_long_to_keep_has_no_answer(kind: AgentKind) -> None:
    found = read(kind, replace(recorded(kind, "clean"), stdout_cut=True))
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.UNREADABLE


@every_client
def test_events_and_noise_that_nobody_knows_are_ignored(kind: AgentKind) -> None:
    whole = recorded(kind, "findings")
    noise = b'Warning: a newer version exists\n{"type":"novelty","payload":[1]}\n{}\n[]\n\xff\xfe\n'
    found = read(kind, replace(whole, stdout=noise + whole.stdout + noise))
    assert isinstance(found, Reply), found
    assert len(read_answer(ContractName.ISSUES, found.text).findings) == 2


@every_client
def test_usage_is_counted_also_where_the_answer_is_no_good(kind: AgentKind) -> None:
    client, asked = clients()[kind], request(model=MODELS[kind])
    assert client.spent(recorded(kind, "clean"), asked).tokens == 120
    assert client.spent(recorded(kind, "tool-calls"), asked).tokens == 360
    assert client.spent(recorded(kind, "plain-text"), asked).tokens >= 120
    assert client.spent(recorded(kind, "unauthorised"), asked).tokens == 0


@every_client
def test_progress_names_the_tool_and_what_it_works_on(kind: AgentKind) -> None:
    lines = recorded(kind, "tool-calls").stdout.split(b"\n")
    shown = [words for line in lines if (words := clients()[kind].progress(line))]
    assert any("app.py" in words for words in shown), shown
    assert all(len(words) < 140 and "\n" not in words for words in shown)


@every_client
@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"null", b'{"type":7}', b'{"type":"item.started","item":[]}', b"\xff"]
)
def test_a_line_that_says_nothing_shows_nothing(kind: AgentKind, line: bytes) -> None:
    assert not clients()[kind].progress(line)
