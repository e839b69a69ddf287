"""The words for events: there are some for each."""

from typing import get_args

from burnish.core.events import AnyEvent
from burnish.report.words import EVENT_WORDS


def test_every_event_has_words() -> None:
    assert EVENT_WORDS.keys() == set(get_args(AnyEvent))
