"""config wires: settings, process entry points, embedded services. Nothing else may import it."""
