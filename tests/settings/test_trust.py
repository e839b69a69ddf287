"""What the user has trusted: exact contents, and only what nobody else can have written."""

from pathlib import Path

import pytest

from burnish.settings.trust import Trusted, TrustError, TrustStore, digest_of
from burnish.system.folders import state_folder

FILES = {"burnish.toml": b"x = 1\n", "review.sh": b"#!/bin/sh\n"}


def environment(folder: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(folder)}


def entry(repository: str = "/work/.git", digest: str = "d") -> Trusted:
    return Trusted(repository=repository, digest=digest, files=("burnish.toml",), trusted_at=1.0)


def test_any_change_of_content_or_name_is_another_content() -> None:
    others = (
        {**FILES, "review.sh": b"#!/bin/sh \n"},
        {"burnish.toml": FILES["burnish.toml"]},
        {"burnish.toml": FILES["burnish.toml"], "other.sh": FILES["review.sh"]},
        {"burnish.toml": FILES["review.sh"], "review.sh": FILES["burnish.toml"]},
        {"burnish.toml'\n": b"", **FILES},
    )
    digests = {digest_of(FILES), *map(digest_of, others)}
    assert len(digests) == 1 + len(others)
    assert digest_of(dict(reversed(FILES.items()))) == digest_of(FILES)


def test_trust_is_in_one_content_of_one_repository(tmp_path: Path) -> None:
    store = TrustStore(environment(tmp_path))
    store.add(entry())
    assert store.holds("/work/.git", "d")
    assert not store.holds("/work/.git", "e")
    assert not store.holds("/other/.git", "d")
    store.add(entry(digest="e"))
    store.add(entry("/other/.git"))
    assert [each.digest for each in store.entries("/work/.git")] == ["d", "e"]
    assert len(store.entries()) == 3
    assert len(store.remove("/work/.git")) == 2
    assert [each.repository for each in store.entries()] == ["/other/.git"]


def test_what_is_trusted_is_for_the_users_eyes_only(tmp_path: Path) -> None:
    TrustStore(environment(tmp_path / "state")).add(entry())
    folder = tmp_path / "state" / "burnish" / "trusted"
    (file,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_could_have_written_is_not_believed(tmp_path: Path, what: str) -> None:
    store = TrustStore(environment(tmp_path))
    store.add(entry())
    folder = tmp_path / "burnish" / "trusted"
    (file,) = folder.iterdir()
    (file if what == "file" else folder).chmod(0o777)
    assert not store.holds("/work/.git", "d")
    if what == "folder":
        with pytest.raises(TrustError, match="Other users can write to"):
            store.add(entry())


def test_an_entry_under_the_name_of_another_is_not_believed(tmp_path: Path) -> None:
    store = TrustStore(environment(tmp_path))
    store.add(entry())
    folder = tmp_path / "burnish" / "trusted"
    (known,) = folder.iterdir()
    store.add(entry(digest="e"))
    (other,) = set(folder.iterdir()) - {known}
    other.write_bytes(known.read_bytes())
    assert not store.holds("/work/.git", "e")
    known.write_bytes(b"{")
    assert not store.holds("/work/.git", "d")


def test_a_link_is_no_entry(tmp_path: Path) -> None:
    store = TrustStore(environment(tmp_path))
    store.add(entry())
    (file,) = (tmp_path / "burnish" / "trusted").iterdir()
    (tmp_path / "elsewhere").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    assert not store.holds("/work/.git", "d")


def test_a_repository_that_holds_the_store_would_trust_itself(tmp_path: Path) -> None:
    inside = tmp_path / "state"
    TrustStore(environment(inside)).add(entry())
    store = TrustStore(environment(inside), within=tmp_path)
    assert not store.holds("/work/.git", "d")
    with pytest.raises(TrustError, match="trust itself"):
        store.add(entry())


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, Path("/s/burnish")),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, Path("/h/.local/state/burnish")),
        ({"HOME": "/h"}, Path("/h/.local/state/burnish")),
        ({}, None),
    ],
)
def test_where_trust_is_kept(variables: dict[str, str], expected: Path | None) -> None:
    assert state_folder(variables) == expected
    if expected is None:
        store = TrustStore(variables)
        assert not store.holds("/work/.git", "d")
        assert store.entries() == ()
        with pytest.raises(TrustError, match="cannot store"):
            store.add(entry())
