"""Tools described by an OpenAPI document: the third kind of server beside stdio and streamable HTTP (decision 0182)."""
