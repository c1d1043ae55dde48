"""The API of OpenAI: its routes translate requests, and the packets of runs, for clients that speak it."""
