"""The MCP server: reviews as tools, for clients that have no hooks of burnish. It needs the extra `mcp`."""
