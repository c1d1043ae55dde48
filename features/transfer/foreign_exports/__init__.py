"""Reads the chats that other products export, and stores them as sessions.

elements splits a file into conversations, products recognises the product of each, and chatgpt, claude, deepseek,
open_webui or librechat reads it; tree converts it into the format of an exported session, which portable checks and
stores; importer controls all of this. archive finds the parts and files in a zip, pictures the data URLs in the JSON,
and attachments gives questions their files.
"""
