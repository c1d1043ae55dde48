"""Knowledge bases: people share documents that models search. Turns choose and search them: chat/turns/knowledge_bases.py."""
