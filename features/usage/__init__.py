"""Usage: what people use of models and of their limits, and what staff allow. Turns are held to the limits by chat/runs/daily_limits.py."""
