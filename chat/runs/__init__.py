"""What becomes of a run around its execution: waking a worker, waiting, stopping, ending, repairing."""
