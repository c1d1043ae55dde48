"""Users' feedback on answers."""
