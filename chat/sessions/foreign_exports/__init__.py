"""Reads the chats that other products export, and stores them as sessions.

chatgpt, open_webui and librechat read one conversation each; tree turns it into the format of an exported session, which
portable checks and stores; elements splits a file; importer goes through it. archive finds what is in the zip of ChatGPT, and attachments
gives questions their files.
"""
