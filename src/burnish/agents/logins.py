"""Gives a client the user's login: a copy in the client's own home, which goes back if the client renewed it.

Clients renew their tokens, and the old ones may be void from then on: a user must not be logged out by a review. What
comes back may have been changed by a hostile agent. No link in that home is followed, and the user's file is only
replaced as a whole, by a login of the same form, and only if no other process has changed it in the meantime.
"""

import os
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from burnish.agents.interface import AgentError, Card, Needs
from burnish.agents.registry import clients
from burnish.contracts.json_text import Json
from burnish.core.values import Value
from burnish.system.files import write_atomically
from burnish.system.nofollow import READING, folder_of, regular_content, write_new

MOST_BYTES = 1024 * 1024
_GIVING_BACK = threading.Lock()


def moved_homes(card: Card, environment: Mapping[str, str]) -> dict[str, Path]:
    """The folders with logins that the user has moved, and where to."""
    named = {folder: (environment.get(variable, ""), below) for folder, (variable, below) in card.homes.items()}
    return {folder: Path(place) / below for folder, (place, below) in named.items() if place.startswith("/")}


def hidden_logins(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What a sandbox hides from every agent: each finds a copy of its own login in its own home, and none another's."""
    cards = [client.card for client in clients().values()]
    moved = (str(place) for card in cards for place in moved_homes(card, environment).values())
    return (*(path for card in cards for path in card.secrets), *moved)


class LoginError(AgentError):
    """A login that cannot be copied, or a home that cannot be furnished."""


class CopiedFile(Value):
    """One file of a login."""

    original: str
    place: str
    """Below the home."""
    data: bytes


class CredentialCopy(Value):
    """The login that a client was given."""

    home: Path
    copies: tuple[CopiedFile, ...]

    def give_back(self) -> None:
        """Take the copies away; what the client renewed replaces the user's own. Whatever it did, nothing is raised."""
        for copy in self.copies:
            renewed = _taken(self.home, copy.place)
            if renewed is not None and renewed != copy.data and _same_form(copy.data, renewed):
                with suppress(OSError), _GIVING_BACK:  # others may be giving back the same login
                    _replace(Path(copy.original), copy.data, renewed)


def copy_credentials(needs: Needs, home: Path) -> CredentialCopy:
    """Copy the files of a login to their places below a client's home, for its user's eyes only."""
    copies = tuple(
        CopiedFile(original=original, place=place, data=_read_original(Path(original)))
        for original, place in needs.files
    )
    copied = CredentialCopy(home=home, copies=copies)
    try:
        for copy in copies:
            put(home, copy.place, copy.data)
    except LoginError:
        copied.give_back()
        raise
    return copied


def _read_original(path: Path) -> bytes:
    """Its folder may be a link, as people keep such folders elsewhere; the file itself is replaced, so it may not."""
    try:
        descriptor = os.open(path, READING)
    except OSError as error:
        reason = "it is a link" if path.is_symlink() else error.strerror
        raise LoginError(f"The login '{path}' cannot be read: {reason}.", hint=_HINT) from None
    data = _content(descriptor)
    if data is None:
        raise LoginError(f"The login '{path}' is not a regular file of the usual size.", hint=_HINT)
    return data


_HINT = "Log in again with the client, or set its API key variable."


def _content(descriptor: int) -> bytes | None:
    """All of a regular file that is not too long; the descriptor is closed."""
    data = regular_content(descriptor, MOST_BYTES + 1)
    return data if data is not None and len(data) <= MOST_BYTES else None


def put(home: Path, place: str, data: bytes) -> None:
    """Write a file below a client's home, in place of what an earlier session in the same home left there."""
    try:
        write_new(home, place, data, mode=0o600, make=True)
    except OSError as error:
        raise LoginError(f"'{place}' cannot be written in the client's home: {error.strerror}.") from None


def _taken(home: Path, place: str) -> bytes | None:
    """What is in a place now, which is empty afterwards; None where that is nothing of use."""
    with suppress(OSError), folder_of(home, place) as (folder, name):
        try:
            return _content(os.open(name, READING, dir_fd=folder))
        finally:
            os.unlink(name, dir_fd=folder)
    return None


def _replace(original: Path, given: bytes, renewed: bytes) -> None:
    """Unless it is no longer what was given: then its user, or another client, has a newer one."""
    descriptor = os.open(original, READING)
    found = os.fstat(descriptor)
    # A file of another user would become ours.
    if _content(descriptor) == given and found.st_uid == os.geteuid():
        write_atomically(original, renewed, stat.S_IMODE(found.st_mode))


def _same_form(before: bytes, after: bytes) -> bool:
    """Whether a login can be a renewal of another: JSON that still has every field, with a value of the same kind."""
    try:
        return _has_fields(msgspec.json.decode(before), msgspec.json.decode(after))
    except (msgspec.DecodeError, RecursionError):
        return False


def _has_fields(before: Json, after: Json) -> bool:
    match before, after:
        case dict(), dict():
            return all(name in after and _has_fields(value, after[name]) for name, value in before.items())
        case None, _:  # a field that was still empty
            return True
        case _:
            return type(before) is type(after)
