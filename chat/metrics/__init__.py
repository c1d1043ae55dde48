"""What operators watch: counted in every process, summed in Redis, told by any web process at /metrics."""
