"""A secret that is found is named, and never repeated: not in the ledger, a log, a record, or any form of output."""

import secrets
import string

from tests import compiled_rules
from tests.hostile.scene import Scene


def test_a_found_secret_is_kept_nowhere(bubblewrap_scene: Scene) -> None:
    scene = bubblewrap_scene
    compiled_rules.offer_to(scene.cache / "burnish")
    token = "ghp_" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(36))
    scene.repository.commit({"settings.py": f'TOKEN = "{token}"\n'}, "Add")
    reviewed = scene.burnish("review", "--json", "--protocol", "panel")
    files = [finding["file"] for finding in reviewed.view["findings"] if "secret" in finding["title"].lower()]
    assert files == ["settings.py"], reviewed
    shown = [scene.burnish("show", "--format", form).stdout for form in ("text", "json", "sarif", "markdown", "html")]
    kept = [path.read_bytes() for path in (scene.checkout / ".git" / "burnish").rglob("*") if path.is_file()]
    records = [path.read_bytes() for path in (scene.checkout / ".agents").rglob("*") if path.is_file()]
    assert kept
    assert records
    assert not any(token.encode() in data for data in (reviewed.stdout, reviewed.stderr, *shown, *kept, *records))
