"""llm_worker thinks: it claims runs, builds what the model sees, streams the answer and ends the run."""
