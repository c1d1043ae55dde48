"""Projects: people gather chats with instructions and files. Workers show or search the files: llm_worker/loading/project.py."""
