"""What runs and workers need of MCP servers: rules of rows, listings, who may sign in. The rest: features/mcp/."""
