"""Deleted chats and messages, which their owners restore until they are purged."""
