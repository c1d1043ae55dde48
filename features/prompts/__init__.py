"""Prompts that users save, and insert into messages."""
