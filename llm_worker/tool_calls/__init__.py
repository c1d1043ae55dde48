"""Rounds of tool calls, from what the model asks for to what is stored. The tools themselves are in llm_worker.tools."""
