"""Files whose names are not UTF-8, beside ordinary ones: everything works with them, in every format."""

import json
import os

from tests.hostile.scene import CLEAN, Scene

_ODD = os.fsdecode(b"caf\xe9 (1).py")
_SHOWN = r"caf\xe9 (1).py"
_FINDS = f"""
cat > "$TMPDIR/prompt"; grep -q "caf" "$TMPDIR/prompt" || exit 1
if [ $BURNISH_ROUND = 1 ]; then
cat <<'END'
{{"issues": [
 {{"severity": "critical", "file": {json.dumps(_SHOWN)}, "line": 1, "title": "Divides", "description": "Zero"}}],
 "summary": {{"critical": 1, "warning": 0, "info": 0, "verdict": "issues_found"}}}}
END
else echo '{CLEAN}'; fi
"""
_FIXES = r"""
name=$(printf 'caf\351 (1).py'); new=$(printf 'd\377/n\361.py')
echo 'x = 2' > "$name"; mkdir "$(dirname "$new")"; echo 'y = 1' > "$new"; echo "Fixed $name"
"""


def test_a_name_of_any_bytes_goes_all_the_way_to_the_seal(open_scene: Scene) -> None:
    scene = open_scene
    scene.repository.commit({_ODD: "x = 1 / 0\n", "plain.py": "y = 1\n"}, "Add")
    scene.configure(_FINDS, _FIXES)
    protocol = scene.protocol("critic", reviews=2)
    fixed = scene.burnish("fix", "--json", "--protocol", protocol)
    assert (fixed.code, fixed.view["outcome"]) == (0, "approved"), fixed
    assert [(finding["file"], finding["status"]) for finding in fixed.view["findings"]] == [(_SHOWN, "resolved")]
    assert (scene.checkout / _ODD).read_text() == "x = 2\n"
    names = scene.repository.git.run("ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0")
    assert b"d\xff/n\xf1.py" in names
    verified = scene.burnish("verify", "--protocol", protocol)
    assert verified.code == 0, verified
    for form in ("text", "json", "sarif", "markdown", "html"):
        shown = scene.burnish("show", fixed.view["run"], "--format", form)
        assert (shown.code, shown.stderr) == (0, b""), shown
        assert shown.stdout.decode()
