"""The websocket behind web/socket/consumer.py: commands in, subscriptions and their catching up, frames out."""
