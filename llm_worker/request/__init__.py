"""What one request to a model holds: the branch, what stands around it, and what all of it costs. Pure."""
