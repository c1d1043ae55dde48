"""The packet log: writes it from workers, reads it for clients, and rebuilds it from the database after it has expired.

Does not decide what a run says, and does not deliver to websockets: those are llm_worker and web/socket.
"""
