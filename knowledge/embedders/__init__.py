"""Models of embeddings: packaged ones that run in the process, and servers with the API of OpenAI."""
