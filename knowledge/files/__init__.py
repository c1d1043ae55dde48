"""Files apart from their rows: contents in storage, names, types, and the process that reads one."""
