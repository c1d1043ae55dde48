"""What is kept for answers to rest on: files and projects. Knows nothing of chats."""
