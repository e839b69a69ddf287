"""SSH keys for tests, and files that allow them to sign."""

from pathlib import Path

from burnish.system.process import Command, run_now


def make_key(path: Path, passphrase: str = "") -> Path:
    argv = ("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(path))
    finished = run_now(Command(argv=argv, folder="/", environment={"PATH": "/usr/bin:/bin:/usr/local/bin"}), seconds=60)
    assert finished.code == 0, finished
    return path


def allowed(path: Path, name: str, key: Path, namespace: str = "burnish") -> Path:
    path.write_text(f'{name} namespaces="{namespace}" {key.with_suffix(".pub").read_text()}')
    return path
