"""Signatures with an SSH key, as git itself uses them: made and checked by `ssh-keygen`, under a name of our own."""

import os
import tempfile
from pathlib import Path

from burnish.system.process import Command, Finished, How, run_now
from burnish.workspace.errors import SealError

NAMESPACE = "burnish"
_SECONDS = 60.0


def sign(body: bytes, key: Path) -> bytes:
    """A signature over these bytes. The key may be a public one whose private half an agent holds."""
    if not key.is_file():
        raise SealError(f"There is no signing key '{key}'.", hint="Name the file of an SSH key.")
    finished = _ssh_keygen("sign", "-q", "-n", NAMESPACE, "-f", str(key), stdin=body)
    if finished.code != 0 or not finished.stdout:
        raise SealError(
            f"The seal cannot be signed with '{key}': {_last_line(finished)}.",
            hint="A key with a passphrase must be in an ssh-agent: `ssh-add`, and name the public key.",
        )
    return finished.stdout


def signer_of(body: bytes, signature: bytes, allowed_signers: Path) -> str | None:
    """Who signed these bytes, of those that are allowed to (in the format of `ssh-keygen`); None where nobody did."""
    if not allowed_signers.is_file():
        raise SealError(
            f"There is no file '{allowed_signers}' of allowed signers.", hint="See ALLOWED SIGNERS in ssh-keygen(1)."
        )
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        file = Path(folder) / "signature"
        file.write_bytes(signature)
        allowed = ("-f", str(allowed_signers), "-s", str(file))
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
