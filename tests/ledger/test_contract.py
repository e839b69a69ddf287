"""What every ledger promises, asked of the real one and of the fake alike."""

import hashlib
import math
import subprocess
import sys

import pytest

from burnish.core.errors import BurnishError
from burnish.ledger.errors import (
    BlobMissingError,
    LeaseHeldError,
    LeaseLostError,
    LeaseRequiredError,
    VersionConflictError,
)
from burnish.ledger.interface import Ledger, NewEvent, Pruned, StoredEvent
from burnish.system.identifiers import ProcessIdentity, identity_of, this_process

STREAM = "run/1"
ALICE = ProcessIdentity(host="far", pid=11, space="elsewhere", started="1")
BOB = ProcessIdentity(host="far", pid=22, space="elsewhere", started="2")


def fact(number: int) -> NewEvent:
    return NewEvent(kind="fact", body=b'{"number": %d}' % number, at=float(number))


def intent(number: int) -> NewEvent:
    return NewEvent(kind="decided", body=b'{"choice": "a"}', at=float(number), intent=True)


def test_an_unknown_stream_is_empty(ledger: Ledger) -> None:
    assert ledger.read(STREAM) == []
    assert ledger.version(STREAM) == 0
    assert ledger.streams() == []
    assert ledger.current_lease(STREAM) is None


def test_events_come_back_in_order_with_everything_they_had(ledger: Ledger) -> None:
    lease = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    assert ledger.append(STREAM, 0, [fact(1), fact(2)], lease) == 2
    assert ledger.append(STREAM, 2, [intent(3)]) == 3
    assert ledger.version(STREAM) == 3
    assert ledger.read(STREAM) == [
        StoredEvent(stream=STREAM, version=1, kind="fact", body=b'{"number": 1}', at=1.0),
        StoredEvent(stream=STREAM, version=2, kind="fact", body=b'{"number": 2}', at=2.0),
        StoredEvent(stream=STREAM, version=3, kind="decided", body=b'{"choice": "a"}', at=3.0, intent=True),
    ]


@pytest.mark.parametrize(("after", "versions"), [(-1, [1, 2, 3]), (0, [1, 2, 3]), (2, [3]), (3, []), (9, [])])
def test_reading_goes_on_after_a_version(ledger: Ledger, after: int, versions: list[int]) -> None:
    ledger.append(STREAM, 0, [intent(1), intent(2), intent(3)])
    assert [event.version for event in ledger.read(STREAM, after)] == versions


def test_streams_are_apart_and_listed_by_prefix(ledger: Ledger) -> None:
    for stream in ("run/2", "epic/1", "run/1", "running/1"):
        ledger.append(stream, 0, [intent(1)])
    ledger.acquire_lease("run/3", ALICE, now=0, seconds=10)
    assert ledger.streams("run/") == ["run/1", "run/2"]
    assert ledger.streams() == ["epic/1", "run/1", "run/2", "running/1"]
    assert ledger.version("run/1") == 1


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_writer_that_has_not_read_everything_is_refused(ledger: Ledger, expected: int) -> None:
    ledger.append(STREAM, 0, [intent(1), intent(2)])
    with pytest.raises(VersionConflictError) as refused:
        ledger.append(STREAM, expected, [intent(3)])
    assert refused.value.actual == 2
    assert ledger.version(STREAM) == 2


def test_an_empty_batch_checks_and_writes_nothing(ledger: Ledger) -> None:
    assert ledger.append(STREAM, 0, []) == 0
    with pytest.raises(VersionConflictError):
        ledger.append(STREAM, 1, [])
    assert ledger.streams() == []


@pytest.mark.parametrize(
    "event",
    [
        NewEvent(kind="", body=b"{}", at=1.0, intent=True),
        NewEvent(kind="k", body=b"", at=1.0, intent=True),
        NewEvent(kind="k", body=b"{", at=1.0, intent=True),
        NewEvent(kind="k", body=b"{} {}", at=1.0, intent=True),
        NewEvent(kind="k", body=b'"\xff"', at=1.0, intent=True),
        NewEvent(kind="k", body=b"{}", at=math.nan, intent=True),
        NewEvent(kind="k", body=b"{}", at=math.inf, intent=True),
    ],
)
def test_what_could_not_be_read_again_is_refused_with_its_whole_batch(ledger: Ledger, event: NewEvent) -> None:
    with pytest.raises(ValueError, match=r"event needs|not JSON"):
        ledger.append(STREAM, 0, [intent(1), event])
    assert ledger.read(STREAM) == []


def test_facts_need_the_lease_and_intents_do_not(ledger: Ledger) -> None:
    with pytest.raises(LeaseRequiredError, match="fact"):
        ledger.append(STREAM, 0, [intent(1), fact(2)])
    assert ledger.append(STREAM, 0, [intent(1)]) == 1


def test_a_second_owner_is_told_who_writes_and_until_when(ledger: Ledger) -> None:
    lease = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    with pytest.raises(LeaseHeldError, match=r"process 11 on far.*until 1970-01-01 00:00:10 UTC") as refused:
        ledger.acquire_lease(STREAM, BOB, now=9.9, seconds=10)
    assert (refused.value.owner, refused.value.until) == (ALICE, 10)
    assert refused.value.kind.exit_code == 2
    assert ledger.current_lease(STREAM) == lease


def test_even_its_owner_gets_no_second_lease(ledger: Ledger) -> None:
    ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    with pytest.raises(LeaseHeldError):
        ledger.acquire_lease(STREAM, ALICE, now=1, seconds=10)


def test_a_lease_that_ran_out_is_taken_over_and_its_owner_can_write_no_more(ledger: Ledger) -> None:
    old = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    new = ledger.acquire_lease(STREAM, BOB, now=10, seconds=10)
    assert new.token == old.token + 1
    with pytest.raises(LeaseLostError) as lost:
        ledger.append(STREAM, 0, [fact(1)], old)
    assert (lost.value.token, lost.value.current) == (old.token, new.token)
    with pytest.raises(LeaseLostError):
        ledger.renew_lease(old, now=11, seconds=10)
    ledger.release_lease(old)
    assert ledger.current_lease(STREAM) == new
    assert ledger.append(STREAM, 0, [fact(1)], new) == 1


def test_a_lost_lease_is_told_before_a_conflict(ledger: Ledger) -> None:
    old = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    new = ledger.acquire_lease(STREAM, BOB, now=10, seconds=10)
    ledger.append(STREAM, 0, [fact(1)], new)
    with pytest.raises(LeaseLostError):
        ledger.append(STREAM, 0, [fact(1)], old)


def test_a_lease_that_ran_out_still_counts_until_somebody_takes_it(ledger: Ledger) -> None:
    lease = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=1)
    assert ledger.append(STREAM, 0, [fact(100)], lease) == 1
    renewed = ledger.renew_lease(lease, now=100, seconds=10)
    assert (renewed.token, renewed.until) == (lease.token, 110)
    with pytest.raises(LeaseHeldError):
        ledger.acquire_lease(STREAM, BOB, now=109, seconds=10)


def test_a_released_lease_is_free_at_once_and_writes_no_more(ledger: Ledger) -> None:
    first = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    ledger.append(STREAM, 0, [fact(1)], first)
    ledger.release_lease(first)
    ledger.release_lease(first)
    assert ledger.current_lease(STREAM) is None
    with pytest.raises(LeaseLostError):
        ledger.append(STREAM, 1, [fact(2)], first)
    second = ledger.acquire_lease(STREAM, BOB, now=1, seconds=10)
    assert second.token == first.token + 1
    assert ledger.append(STREAM, 1, [fact(2)], second) == 2


def test_the_lease_of_a_process_known_to_be_dead_is_taken_over_early(ledger: Ledger) -> None:
    me = this_process()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        other = identity_of(child.pid)
        first = ledger.acquire_lease(STREAM, other, now=0, seconds=1000)
        with pytest.raises(LeaseHeldError):
            ledger.acquire_lease(STREAM, me, now=1, seconds=1000)
        child.kill()
    second = ledger.acquire_lease(STREAM, me, now=1, seconds=1000)
    assert second.token == first.token + 1
    with pytest.raises(LeaseHeldError):
        ledger.acquire_lease(STREAM, ALICE, now=2, seconds=10)


def test_a_lease_is_good_for_its_own_stream_only(ledger: Ledger) -> None:
    lease = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    with pytest.raises(ValueError, match="gives no right"):
        ledger.append("run/2", 0, [fact(1)], lease)


@pytest.mark.parametrize(("now", "seconds"), [(0.0, 0.0), (0.0, -1.0), (math.inf, 1.0), (0.0, math.nan)])
def test_a_lease_needs_an_end(ledger: Ledger, now: float, seconds: float) -> None:
    with pytest.raises(ValueError, match="needs a stream and an end"):
        ledger.acquire_lease(STREAM, ALICE, now=now, seconds=seconds)
    assert ledger.current_lease(STREAM) is None


def test_blobs_come_back_by_digest(ledger: Ledger) -> None:
    for data in (b"", b"text", bytes(range(256)) * 1000):
        digest = ledger.put_blob(data, now=1)
        assert digest == hashlib.sha256(data).hexdigest()
        assert ledger.get_blob(digest) == data


def test_a_missing_blob_is_said_to_be_missing(ledger: Ledger) -> None:
    with pytest.raises(BlobMissingError, match="ab" * 32):
        ledger.get_blob("ab" * 32)


@pytest.mark.parametrize("digest", ["", "ab", "../../../etc/passwd", "AB" * 32, "ab" * 32 + "\n"])
def test_what_is_no_digest_is_refused(ledger: Ledger, digest: str) -> None:
    with pytest.raises(ValueError, match="Not a digest"):
        ledger.get_blob(digest)
    with pytest.raises(ValueError, match="Not a digest"):
        ledger.prune_blobs(older_than=1, keep={digest})


def test_pruning_takes_the_old_and_leaves_the_kept_the_young_and_all_events(ledger: Ledger) -> None:
    ledger.append(STREAM, 0, [intent(1)])
    assert ledger.prune_blobs(older_than=1e12, keep=()) == Pruned()
    old, kept, again, young = (ledger.put_blob(text, now=100) for text in (b"old", b"kept", b"again", b"young"))
    ledger.put_blob(b"again", now=300)
    ledger.put_blob(b"again", now=50)
    ledger.put_blob(b"young", now=200)
    assert ledger.blob_sizes() == {old: 3, kept: 4, again: 5, young: 5}
    assert ledger.prune_blobs(older_than=200, keep={kept}) == Pruned(blobs=1, bytes=3)
    assert old not in ledger.blob_sizes()
    with pytest.raises(BlobMissingError):
        ledger.get_blob(old)
    assert [ledger.get_blob(digest) for digest in (kept, again, young)] == [b"kept", b"again", b"young"]
    assert ledger.version(STREAM) == 1


def test_every_refusal_has_a_hint(ledger: Ledger) -> None:
    lease = ledger.acquire_lease(STREAM, ALICE, now=0, seconds=10)
    attempts = (
        lambda: ledger.append(STREAM, 5, [intent(1)]),
        lambda: ledger.append(STREAM, 0, [fact(1)]),
        lambda: ledger.acquire_lease(STREAM, BOB, now=0, seconds=10),
        lambda: (ledger.release_lease(lease), ledger.append(STREAM, 0, [fact(1)], lease)),
        lambda: ledger.get_blob("ab" * 32),
    )
    for attempt in attempts:
        with pytest.raises(BurnishError) as refused:
            attempt()
        assert refused.value.hint
