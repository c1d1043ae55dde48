"""What keeps a run its worker's: certificate, beat, checkpoints, and handing it over."""
