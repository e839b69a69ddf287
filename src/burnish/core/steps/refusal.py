"""How a step says that an event does not fit."""


class RefusedError(Exception):
    """The event is legal in this phase, but not in this state. The loop turns it into an `IllegalEventError`."""
