"""The HTTP client for URLs that users, models and other servers choose: it reaches nothing but public web servers (decision 0152).

Shared by documents from URLs (ingest) and the tool open_url (llm_worker); any other feature that follows such a URL uses it too.
"""
