"""The real ledger against the fake: any sequence of calls gives the same answers and the same refusals."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from burnish.ledger.errors import LedgerError
from burnish.ledger.interface import Lease, Ledger, NewEvent
from burnish.ledger.sqlite import SqliteLedger, open_ledger
from burnish.system.identifiers import ProcessIdentity
from burnish.testing.memory_ledger import MemoryLedger

STREAMS = st.sampled_from(["run/1", "run/2", "epic/ü"])
OWNERS = st.builds(ProcessIdentity, host=st.just("far"), pid=st.integers(1, 3), space=st.just("elsewhere"))
EVENTS = st.lists(
    st.builds(
        NewEvent,
        kind=st.sampled_from(["opened", "ended", "ß"]),
        body=st.sampled_from([b"{}", b'{"text":"\\u0000 \xc3\xa4"}', b"null", b"[1.5]"]),
        at=st.floats(allow_nan=False, allow_infinity=False),
        intent=st.booleans(),
    ),
    max_size=3,
)
TIMES = st.integers(0, 40)
MOST_OFTEN_RIGHT = st.sampled_from([0, 0, 0, 0, 1, -1])


class BothLedgers(RuleBasedStateMachine):
    """Does everything twice."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.real: SqliteLedger = open_ledger(self.directory)
        self.fake = MemoryLedger()
        self.leases: list[Lease | None] = []

    @initialize()
    def begin_without_a_lease(self) -> None:
        self.leases.append(None)

    def same(self, call: Callable[[Ledger], object]) -> object:
        answers: list[object] = []
        for ledger in (self.real, self.fake):
            try:
                answers.append(call(ledger))
            except (LedgerError, ValueError) as error:
                answers.append((type(error), str(error)))
        assert answers[0] == answers[1]
        return answers[0]

    @rule(stream=STREAMS, offset=MOST_OFTEN_RIGHT, events=EVENTS, choice=st.integers(min_value=0))
    def append(self, stream: str, offset: int, events: list[NewEvent], choice: int) -> None:
        lease = self.leases[-1 - choice % min(len(self.leases), 4)]
        expected = self.fake.version(stream) + offset
        self.same(lambda ledger: ledger.append(stream, expected, events, lease))

    @rule(stream=STREAMS, owner=OWNERS, now=TIMES, seconds=st.integers(0, 20))
    def acquire(self, stream: str, owner: ProcessIdentity, now: int, seconds: int) -> None:
        answer = self.same(lambda ledger: ledger.acquire_lease(stream, owner, now, seconds))
        if isinstance(answer, Lease):
            self.leases.append(answer)

    @rule(now=TIMES, choice=st.integers(min_value=0))
    def renew(self, now: int, choice: int) -> None:
        lease = self.leases[choice % len(self.leases)]
        if lease is not None:
            self.same(lambda ledger: ledger.renew_lease(lease, now, 5))

    @rule(choice=st.integers(min_value=0))
    def release(self, choice: int) -> None:
        lease = self.leases[choice % len(self.leases)]
        if lease is not None:
            self.same(lambda ledger: ledger.release_lease(lease))

    @rule(text=st.binary(max_size=2), now=TIMES)
    def put_blob(self, text: bytes, now: int) -> None:
        digest = self.same(lambda ledger: ledger.put_blob(text, now))
        assert isinstance(digest, str)
        self.same(lambda ledger: ledger.get_blob(digest))

    @rule(now=TIMES)
    def prune(self, now: int) -> None:
        self.same(lambda ledger: ledger.prune_blobs(now, ()))

    @rule()
    def open_again(self) -> None:
        self.real.close()
        self.real = open_ledger(self.directory)

    @rule(stream=STREAMS, after=st.integers(-1, 5))
    def read(self, stream: str, after: int) -> None:
        self.same(lambda ledger: ledger.read(stream, after))

    @invariant()
    def both_stand_at_the_same_place(self) -> None:
        self.same(lambda ledger: ledger.streams())
        for stream in ("run/1", "run/2", "epic/ü"):
            self.same(lambda ledger, stream=stream: ledger.version(stream))
            self.same(lambda ledger, stream=stream: ledger.current_lease(stream))

    def teardown(self) -> None:
        self.real.verify()
        self.real.close()
        shutil.rmtree(self.directory)


BothLedgers.TestCase.settings = settings(max_examples=30, stateful_step_count=25, deadline=None, derandomize=True)
TestBothLedgers = BothLedgers.TestCase
