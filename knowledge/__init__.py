"""Files and projects that users upload as sources for answers.

Does not know sessions or messages: chat attaches files to messages.
"""
