"""The built-in demo model: an OpenAI-compatible server of our own, for a start without a configured LLM.

Not part of the product's processes; imports nothing of them. Run by config/launcher.py.
"""
