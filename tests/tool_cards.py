"""Prints the cards of the built-in tools as the page receives them: `python -m tests.tool_cards`. For tests of its modules."""

import json
import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DEBUG", "1")
    django.setup()

    from chat.presenters.tools import present_tool_cards  # needs Django

    sys.stdout.write(json.dumps(present_tool_cards()))
