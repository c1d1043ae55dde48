"""What is made of a run beside its answer: a title, what was sent, whether its history is too long."""
