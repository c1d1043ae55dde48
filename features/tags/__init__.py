"""Tags of a user's chats."""
