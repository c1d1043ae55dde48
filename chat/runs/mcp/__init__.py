"""Use cases of MCP servers (Model Context Protocol), which staff add: validation, changes, listings and sign-ins."""
