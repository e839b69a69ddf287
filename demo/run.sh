#!/bin/sh
# The main job on a small project, with the reviewers that come with burnish: no model, no key, no configuration.
# Everything here is real: the repository, the reviews, the fixes, the tests, the seal, the exit codes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
shop=$(mktemp -d)
trap 'rm -rf "$shop"' EXIT

burnish_at_work() { # the exit code that is expected, then the arguments
    wanted=$1
    shift
    printf '\n$ burnish %s\n' "$*"
    code=0
    burnish "$@" || code=$?
    printf '(exit code %s)\n' "$code"
    if [ "$code" -ne "$wanted" ]; then
        echo "demo: 'burnish $*' exited with $code, not with $wanted" >&2
        exit 1
    fi
}

new_branch() { # a name, then what an agent says that it did
    git switch --quiet --create "$1" main
    git apply "$here/branches/$1.patch"
    commit "$2"
}

commit() {
    git add --all
    git -c user.name="An agent" -c user.email=agent@example.com commit --quiet --message "$1"
}

cp -R "$here/project/." "$shop"
cd "$shop"
git init --quiet --initial-branch main
commit "Bill a small shop"

echo "== Act one: an agent wrote an export. Its tests pass; it is not clean."
new_branch export "Export invoices for the accountant"
burnish_at_work 0 fix
burnish_at_work 0 verify

echo
echo "== Act two: an agent wrote reminders. Rules cannot fix what is wrong with them: a person must."
new_branch reminders "Remind customers of what they owe"
burnish_at_work 3 fix --protocol epic
burnish_at_work 1 verify
