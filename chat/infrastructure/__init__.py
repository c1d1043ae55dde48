"""Connections and process-wide services: Redis, threads, advisory locks, revocation, prefix cache, fault points.

It knows no model and no rule of a chat.
"""
