"""What Claude Code sends to hooks, one of each kind, as version 2.1 does."""

from typing import Any

SESSION = "5d1f6a52-1111-4c3e-9f00-0a1b2c3d4e5f"


def call(event: str, cwd: str = "/work/project", session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "session_id": session,
        "transcript_path": f"/home/user/.claude/projects/-work-project/{session}.jsonl",
        "cwd": cwd,
        "prompt_id": "0b7c9a10-2222-4d3e-8f00-112233445566",
        "permission_mode": "default",
        "hook_event_name": event,
        **more,
    }


def tool(event: str, name: str, given: dict[str, Any], cwd: str = "/work/project", **more: Any) -> dict[str, Any]:
    return call(event, cwd, tool_name=name, tool_input=given, tool_use_id="toolu_01", **more)


def samples(cwd: str) -> dict[str, dict[str, Any]]:
    """By name. In a review, each of those that begin with `denied` must be denied."""
    effort = {"level": "medium"}
    bash = {"command": "echo x > made.txt; git status --short", "description": "try it"}
    edit = {"file_path": f"{cwd}/app.py", "old_string": "3", "new_string": "2", "replace_all": False}
    look = {"description": "look", "prompt": "look at app.py", "subagent_type": "finder", "run_in_background": False}
    stops: dict[str, Any] = {"stop_hook_active": False, "background_tasks": [], "session_crons": [], "effort": effort}
    return {
        "session start": call("SessionStart", cwd, source="startup"),
        "session end": call("SessionEnd", cwd, reason="other"),
        "prompt": call("UserPromptSubmit", cwd, prompt="Please go on."),
        "denied edit": tool("PreToolUse", "Edit", edit, cwd),
        "denied write": tool("PreToolUse", "Write", {"file_path": "new.py", "content": ""}, cwd),
        "denied several edits": tool("PreToolUse", "MultiEdit", {"file_path": "app.py", "edits": []}, cwd),
        "denied notebook": tool("PreToolUse", "NotebookEdit", {"notebook_path": f"{cwd}/a.ipynb"}, cwd),
        "denied command": tool("PreToolUse", "Bash", bash, cwd, effort=effort),
        "denied subagent": tool("PreToolUse", "Agent", look, cwd),
        "denied task": tool("PreToolUse", "Task", look, cwd),
        "read": tool("PreToolUse", "Read", {"file_path": f"{cwd}/app.py"}, cwd),
        "after an edit": tool("PostToolUse", "Edit", edit, cwd, tool_response={"filePath": f"{cwd}/app.py"}),
        "after a command": tool("PostToolUse", "Bash", bash, cwd, tool_response={"stdout": "", "interrupted": False}),
        "after a subagent": tool(
            "PostToolUse",
            "Agent",
            look,
            cwd,
            tool_response={
                "status": "completed",
                "prompt": "look at app.py",
                "agentId": "a0001",
                "agentType": "finder",
                "content": [{"type": "text", "text": "I looked."}],
            },
        ),
        "subagent start": call("SubagentStart", cwd, agent_id="a0001", agent_type="finder"),
        "subagent stop": call(
            "SubagentStop",
            cwd,
            agent_id="a0001",
            agent_type="finder",
            agent_transcript_path="/nowhere/agent-a0001.jsonl",
            last_assistant_message="I looked.",
            **stops,
        ),
        "orphan stop": call("SubagentStop", cwd, agent_id="a0002", agent_type="", last_assistant_message="", **stops),
        "stop": call("Stop", cwd, last_assistant_message="Done.", **stops),
    }
