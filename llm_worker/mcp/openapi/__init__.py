"""Tools that an OpenAPI document describes: the third kind of server beside stdio and streamable HTTP (decision 0197)."""
