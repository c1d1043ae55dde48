"""The worker: claims runs, builds the requests to the model, streams the answer and ends the run. Serves no HTTP."""
