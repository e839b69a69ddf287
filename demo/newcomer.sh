#!/bin/sh
# A newcomer, from nothing: installs a wheel into an empty environment, sets burnish up in three projects, is stopped by the
# pre-push hook with a bad commit, does what its message says, and pushes. Every command after a `$` is in README.md.
#
#   sh demo/newcomer.sh dist/burnish-*.whl
set -eu
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
export HOME="$world" GIT_CONFIG_NOSYSTEM=1
unset VIRTUAL_ENV PYTHONPATH || true
git config --global user.name "A newcomer"
git config --global user.email newcomer@example.com
git config --global init.defaultBranch main

types() { # the exit code that is expected, then a command line
    printf '\n$ %s\n' "$2"
    code=0
    (eval "$2") >"$world/said" 2>&1 || code=$?
    cat "$world/said"
    if [ "$code" -ne "$1" ]; then
        echo "newcomer: '$2' exited with $code, not with $1" >&2
        exit 1
    fi
}

reads() { # what the last command must have said
    if ! grep -q -e "$1" "$world/said"; then
        echo "newcomer: the last command did not say '$1'" >&2
        exit 1
    fi
}

save() { # a message
    git add --all
    git commit --quiet --message "$1"
}

python_code() { # a folder
    mkdir -p "$1/tests"
    printf '[tool.pytest.ini_options]\npythonpath = ["."]\n' >"$1/pyproject.toml"
    printf 'def is_paid(status):\n    return status == "paid"\n' >"$1/billing.py"
    cat >"$1/tests/test_billing.py" <<'END'
from billing import is_paid


def test_only_paid_is_paid():
    assert is_paid("paid")
    assert not is_paid("open")
END
}

javascript_code() { # a folder
    mkdir -p "$1/src" "$1/test"
    printf '{\n  "name": "shop",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n' >"$1/package.json"
    printf 'export function isKnown(price) {\n  return !Number.isNaN(price);\n}\n' >"$1/src/price.js"
    cat >"$1/test/price.test.js" <<'END'
import assert from "node:assert/strict";
import test from "node:test";
import { isKnown } from "../src/price.js";

test("a number is known, NaN is not", () => {
  assert.equal(isKnown(3), true);
  assert.equal(isKnown(Number.NaN), false);
});
END
}

break_python() { # a folder
    printf '\n\ndef is_open(status):\n    return status is "open"\n' >>"$1/billing.py"
    sed -i.old 's/import is_paid/import is_open, is_paid/' "$1/tests/test_billing.py" && rm "$1/tests/test_billing.py.old"
    printf '\n\ndef test_only_open_is_open():\n    assert is_open("open")\n    assert not is_open("paid")\n' \
        >>"$1/tests/test_billing.py"
}

break_javascript() { # a folder
    printf '\nexport function isMissing(price) {\n  return price === NaN;\n}\n' >>"$1/src/price.js"
    sed -i.old 's/{ isKnown }/{ isKnown, isMissing }/' "$1/test/price.test.js" && rm "$1/test/price.test.js.old"
    printf '\ntest("a number is not missing", () => {\n  assert.equal(isMissing(3), false);\n});\n' \
        >>"$1/test/price.test.js"
}

adopts() { # sets burnish up in the repository that is here, and meets its gate with a bad commit
    git init --quiet --bare "$world/$1.git"
    git init --quiet
    save "Begin"
    git remote add origin "$world/$1.git"
    git push --quiet --set-upstream origin main
    types 0 'burnish init --yes --hook'
    reads 'pre-push installed'
    reads 'wrote burnish.toml'
    types 0 'git add burnish.toml && git commit --message "Review changes with burnish"'
    types 0 'burnish review && git push'
    git switch --quiet --create change
    "break_$2" "$3"
    save "Add a question"
    types 1 'git push --set-upstream origin change'
    reads 'change has no valid seal'
    reads '^  burnish fix --branch change --base origin/main$'
    types 0 'burnish fix --branch change --base origin/main'
    types 0 'git push --set-upstream origin change'
    test "$(git rev-parse HEAD)" = "$(git --git-dir "$world/$1.git" rev-parse change)"
    git --git-dir "$world/$1.git" for-each-ref "refs/burnish/seals/$(git rev-parse 'HEAD^{tree}')/" >"$world/said"
    reads 'refs/burnish/seals/'
}

echo "== An empty environment"
python3 -m venv "$world/environment"
export PATH="$world/environment/bin:$PATH"
python3 -m pip install --quiet "$wheel" pytest
types 0 'burnish --version'

echo "== A Python project"
mkdir "$world/python" && cd "$world/python"
python_code .
adopts python python .

echo "== A JavaScript project"
mkdir "$world/javascript" && cd "$world/javascript"
javascript_code .
adopts javascript javascript .

echo "== Both in one repository"
mkdir "$world/mixed" && cd "$world/mixed"
python_code service
javascript_code web
adopts mixed python service

printf '\nThree projects, three pushes.\n'
