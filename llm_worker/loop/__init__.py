"""The LLM loop: inferences and rounds of tools until there is an answer. Knows values and interfaces, no rows, leases and stops."""
