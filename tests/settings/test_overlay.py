"""One document over another: what is merged, what is replaced, and where each value says it comes from."""

from typing import Any

from burnish.core.errors import KeyPath
from burnish.settings.documents import Document, overlay, read_document

TAGS: dict[KeyPath, str] = {("gate",): "type"}

LOWER = """\
[gate]
type = "severity"
block = "high"
[limits]
reviews = 3
hard_cap = 5
[[panel]]
name = "one"
[[panel]]
name = "two"
"""


def over(upper: str) -> Document:
    lower = read_document(LOWER.encode(), "lower.toml")
    return overlay(lower, read_document(upper.encode(), "upper.toml"), TAGS)


def values(upper: str) -> dict[str, Any]:
    return dict(over(upper).values)


def test_tables_are_merged_key_by_key() -> None:
    assert values("[limits]\nreviews = 4\n")["limits"] == {"reviews": 4, "hard_cap": 5}


def test_arrays_are_replaced() -> None:
    assert values('[[panel]]\nname = "three"\n')["panel"] == [{"name": "three"}]


def test_a_scalar_replaces_a_table_and_a_table_a_scalar() -> None:
    assert values("limits = 1\n")["limits"] == 1
    assert values("new.table = 1\n")["new"] == {"table": 1}


def test_a_tagged_table_of_the_same_kind_is_merged() -> None:
    assert values('[gate]\nblock = "low"\n')["gate"] == {"type": "severity", "block": "low"}
    assert values('[gate]\ntype = "severity"\n')["gate"] == {"type": "severity", "block": "high"}


def test_a_tagged_table_of_another_kind_is_replaced_with_its_stale_keys() -> None:
    assert values('[gate]\ntype = "verdict"\n')["gate"] == {"type": "verdict"}


def test_each_value_says_where_it_comes_from() -> None:
    merged = over('\n[limits]\nreviews = 4\n[[panel]]\nname = "three"\n')
    assert {key: merged.place_of(path).text for key, path in PATHS.items()} == {
        "reviews": "upper.toml:3",
        "hard_cap": "lower.toml:6",
        "limits": "upper.toml:2",
        "gate": "lower.toml:1",
        "panel": "upper.toml:5",
        "missing": "upper.toml:2",
        "nowhere": "upper.toml:1",
    }


PATHS = {
    "reviews": ("limits", "reviews"),
    "hard_cap": ("limits", "hard_cap"),
    "limits": ("limits",),
    "gate": ("gate",),
    "panel": ("panel", 0, "name"),
    "missing": ("limits", "other"),
    "nowhere": ("other",),
}


def test_places_of_what_was_replaced_are_forgotten() -> None:
    merged = over('[gate]\ntype = "verdict"\n[[panel]]\nname = "three"\n')
    assert ("gate", "block") not in merged.places
    assert ("panel", 1) not in merged.places


def test_the_documents_below_stay_as_they_are() -> None:
    lower = read_document(LOWER.encode(), "lower.toml")
    overlay(lower, read_document(b"[limits]\nreviews = 9\n", "upper.toml"), TAGS)
    assert lower.values["limits"] == {"reviews": 3, "hard_cap": 5}
