"""The run lifecycle around execution: admission, waking workers, waiting for other turns, stopping, ending, titles.

Does not execute runs (llm_worker) and does not find runs that need repair (chat/sweeper).
"""
