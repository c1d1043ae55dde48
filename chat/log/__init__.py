"""The packet log around chat/log/stream.py: who fills it, who reads it, and what stands for one that is gone."""
