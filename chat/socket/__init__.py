"""The websocket behind chat/consumers.py: commands in, subscriptions and their catching up, frames out."""
