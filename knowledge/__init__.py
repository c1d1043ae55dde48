"""Files and projects that users upload as sources for answers.

The app does not know sessions or messages: the app chat attaches files to messages.
"""
