"""The launcher of Landlock says why it cannot, and its rules leave hidden paths out."""

import sys
from pathlib import Path

import pytest

from burnish.system import landlock
from burnish.system.landlock import READ_FILE, WRITE_FILE, LandlockArguments, rules
from burnish.system.process import Command, Finished, run_now
from burnish.system.sandbox import SandboxKind, why_not

pytestmark = pytest.mark.skipif(
    why_not(SandboxKind.LANDLOCK) != "", reason=f"optional: {why_not(SandboxKind.LANDLOCK) or 'Landlock'}"
)


def launch(*words: str) -> Finished:
    argv = (sys.executable, "-I", "-S", landlock.__file__, *words)
    return run_now(Command(argv=argv, folder="/", environment={"PATH": "/usr/bin:/bin"}))


def test_a_program_that_is_missing_or_no_program_has_the_codes_of_a_shell(tmp_path: Path) -> None:
    missing = launch("--", "no-such-program")
    assert (missing.code, missing.stderr_tail) == (127, "burnish: 'no-such-program' was not found.\n")
    plain = launch("--", "/etc/passwd")
    assert (plain.code, plain.stderr_tail) == (126, "burnish: '/etc/passwd' cannot be run: Permission denied.\n")


def test_a_kernel_that_cannot_forbid_truncation_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 2)
    assert landlock.main(["--", "true"]) == 126
    assert capsys.readouterr().err == "burnish: this kernel has version 2 of Landlock, and 3 is needed.\n"


def allowed(wanted: list[str], access: int) -> set[str]:
    return {path for path, given in rules(LandlockArguments([*wanted, "--", "true"])) if given & access}


def test_the_largest_parts_without_a_secret_are_readable(tmp_path: Path) -> None:
    (tmp_path / "config" / "secret").mkdir(parents=True)
    (tmp_path / "config" / "open").mkdir()
    (tmp_path / "notes").touch()
    readable = allowed(["--hide", str(tmp_path / "config" / "secret")], READ_FILE)
    assert {path for path in readable if path.startswith(str(tmp_path))} == {
        str(tmp_path / "config" / "open"),
        str(tmp_path / "notes"),
    }
    assert "/usr" in readable
    assert not readable & {"/", "/dev", "/tmp", str(tmp_path)}  # noqa: S108 - compared


def test_a_secret_below_a_writable_folder_stays_hidden(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "work").mkdir()
    options = ["--write", str(tmp_path), "--hide", str(tmp_path / "secret")]
    writable = {path for path in allowed(options, WRITE_FILE) if not path.startswith("/dev")}
    assert writable == {str(tmp_path / "work")}


def test_no_disk_no_terminal_and_no_shared_memory_is_in_reach() -> None:
    devices = {path for path in allowed([], READ_FILE | WRITE_FILE) if path.startswith("/dev")}
    assert devices == {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")}


def test_a_link_gives_nothing_that_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("key")
    (tmp_path / "alias").symlink_to("secret")
    hide = ("--hide", str(tmp_path / "secret"))
    assert launch(*hide, "--", "cat", str(tmp_path / "alias" / "key")).stdout == b""
    assert launch("--", "cat", str(tmp_path / "alias" / "key")).stdout == b"key"
