"""Links by which others read a copy of a chat."""
