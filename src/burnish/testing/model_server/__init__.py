"""A model that says what a script says, over HTTP on loopback, for the real clients of real models.

Everything is in the request: the scenario is the first part of the path, the turn is counted from the conversation. So
retries, resumed sessions and subagents need no memory here. It judges nothing, and it reaches nothing but its clients.
"""
