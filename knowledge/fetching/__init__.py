"""The HTTP client for URLs that users, models and other servers choose: it reaches only public servers (decision 0153).

Documents from URLs (ingest) and the tool open_url (llm_worker) use it; any other feature that follows such a URL uses
it too.
"""
