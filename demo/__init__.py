"""The demo model: an OpenAI-compatible server that answers when no LLM is configured.

Started by config/launcher.py. Imports nothing of the product, whose workers use it like any other model server.
"""
