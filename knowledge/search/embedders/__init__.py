"""Embedding models: packaged models that run in the process, and servers with the API of OpenAI."""
