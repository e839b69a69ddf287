"""Signatures with an SSH key, as git itself uses them: made and checked by `ssh-keygen`, under a name of our own."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from burnish.system.process import Command, Finished, How, run_now
from burnish.workspace.errors import SealError
from burnish.workspace.repository import Repository

NAMESPACE = "burnish"
_SECONDS = 60.0
_LITERAL = ("key::", "ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")
"""How git's user.signingKey begins where it is a public key, not the path of one."""


def signing_key(repository: Repository, path: str, *, ask_git: bool) -> Path | str | None:
    """The key that seals are signed with: the one that is named, else git's own where it is asked for.

    A text is a public key whose private half an ssh-agent holds. Raises `SealError` where git has no SSH key.
    """
    if path:
        return Path(path).expanduser()
    if not ask_git:
        return None
    own = {
        name: repository.git.text("config", "--get", name, check=False) for name in ("gpg.format", "user.signingKey")
    }
    if own["gpg.format"] != "ssh" or not own["user.signingKey"]:
        raise SealError(
            "The seal cannot be signed: git has no SSH key to sign with.",
            hint="Set gpg.format to ssh and user.signingKey in git, or signing_key in [seal] of your own settings.",
        )
    key = own["user.signingKey"]
    return key.removeprefix("key::") if key.startswith(_LITERAL) else Path(key).expanduser()


def sign(body: bytes, key: Path | str) -> bytes:
    """A signature over these bytes. The key may be a public one whose private half an ssh-agent holds."""
    with _file_of(key) as path:
        finished = _ssh_keygen("sign", "-q", "-n", NAMESPACE, "-f", str(path), stdin=body)
    if finished.code != 0 or not finished.stdout:
        raise SealError(
            f"The seal cannot be signed with '{key}': {_last_line(finished)}.",
            hint="A key with a passphrase must be in an ssh-agent: run `ssh-add`, and name the public key.",
        )
    return finished.stdout


@contextmanager
def _file_of(key: Path | str) -> Generator[Path]:
    if isinstance(key, str):
        with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
            path = Path(folder) / "key.pub"
            path.write_text(f"{key}\n", encoding="utf-8")
            yield path
        return
    if not key.is_file():
        raise SealError(f"There is no signing key '{key}'.", hint="Set it to the file of an SSH key.")
    yield key


def signer_of(body: bytes, signature: bytes, allowed_signers: bytes) -> str | None:
    """Which of the allowed signers (in the format of `ssh-keygen`) signed these bytes; None where none did."""
    if not signature:
        return None
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        file, signers = Path(folder) / "signature", Path(folder) / "signers"
        file.write_bytes(signature)
        signers.write_bytes(allowed_signers)
        allowed = ("-f", str(signers), "-s", str(file))
        found = _ssh_keygen("find-principals", *allowed, stdin=body)
        names = found.stdout.decode("utf-8", errors="replace").splitlines() if found.code == 0 else []
        for name in names:
            if _ssh_keygen("verify", "-I", name, "-n", NAMESPACE, *allowed, stdin=body).code == 0:
                return name
    return None


def _ssh_keygen(action: str, *arguments: str, stdin: bytes) -> Finished:
    kept = ("PATH", "HOME", "SSH_AUTH_SOCK")
    environment = {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C"}
    command = Command(argv=("ssh-keygen", "-Y", action, *arguments), folder="/", environment=environment, stdin=stdin)
    finished = run_now(command, seconds=_SECONDS)
    if finished.how is not How.EXITED:
        raise SealError(
            f"`ssh-keygen` did not run: {finished.message or finished.how.value}.",
            hint="Signatures need OpenSSH 8.2 or later.",
        )
    return finished


def _last_line(finished: Finished) -> str:
    lines = finished.stderr_tail.strip().splitlines()
    return lines[-1].strip() if lines else f"exit code {finished.code}"
