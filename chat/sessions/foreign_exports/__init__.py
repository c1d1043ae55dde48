"""Reads the chats that other products export, and stores them as sessions.

chatgpt, claude, deepseek, open_webui and librechat read one conversation each, products tells which; tree turns it into the format of
an exported session, which portable checks and stores; elements splits a file; importer goes through it. archive finds what is in a
zip, pictures what the JSON has as data URLs, and attachments gives questions their files.
"""
