"""The Claude Code plugin: its files in `claude/`, and the program that its hooks call."""
