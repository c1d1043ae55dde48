"""MCP servers: staff change them, users sign in and attach what they offer. Workers: features/mcp/client/."""
