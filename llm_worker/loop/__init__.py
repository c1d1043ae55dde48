"""The LLM loop: inferences and rounds of tools until there is an answer.

It knows values and interfaces, but no rows, leases and stops.
"""
