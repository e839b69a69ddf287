# shellcheck shell=sh disable=SC2154 # python and package are set above
# What the hooks of a client run: `burnish-hook.sh hook|guard|gate …`, with the event on the standard input.
what=${1:-}

if [ -x "$python" ] && [ -f "$package/__main__.py" ]; then
    case $what in
    hook) shift; exec "$python" -I -S "$package/plugin/hook.py" ;;
    guard) exec "$python" -P -m burnish.usecases.guard_command ;;
    *) exec "$python" -P -m burnish plugin "$@" ;;
    esac
fi
# On another machine, or after burnish has moved.
if command -v burnish >/dev/null 2>&1; then
    exec burnish plugin "$@"
fi

# burnish is gone. What it guards must not pass because of that; everything else goes on.
gone="burnish is neither at $package nor on the PATH. Install it again, or remove the hooks that call $0."
event=$(cat)
case $what in
guard)
    case $event in
    *git*--no-v* | *git*--for* | *git*[hH]ooks[pP]ath* | *git*' -'*[nf]*)
        echo "This command cannot be checked: $gone" >&2
        exit 2 ;;
    esac ;;
gate)
    # An agent may stop; that nothing was checked is said aloud.
    echo '{"systemMessage": "burnish did not check this change: it is not installed any more."}' ;;
hook)
    # A review is under way only if its state says so: the records of the last one do.
    state=${CLAUDE_PROJECT_DIR:-.}/.agents/tmp/state.json
    if grep -q '"plugin": *"burnish"' "$state" 2>/dev/null && grep -q '"status": *"in_progress"' "$state"; then
        case $event in
        *'"hook_event_name"'*'"PreToolUse"'*)
            echo "A review is under way, and this cannot be checked: $gone To end the review: rm $state" >&2
            exit 2 ;;
        *)
            echo "A review was under way. It was NOT completed, and nothing is approved: $gone" >&2
            exit 1 ;;
        esac
    fi ;;
esac
exit 0
