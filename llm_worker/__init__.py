"""The worker: claims runs, builds what the model sees, streams the answer and ends the run. Serves no HTTP."""
