"""The values of a conversation: entries, packets, rebuilding of texts, citation links, token counts. Pure.

It reads neither the database nor Redis.
"""
