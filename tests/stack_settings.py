"""The product's settings for processes only tests talk to: what costs much, and what no test asks about, is cheap.

CONSTANTS of the environment is a JSON object of settings that no variable sets (tests/stack.py).
"""

import json
import os

from config.settings import *  # noqa: F403

# Nobody attacks these users.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# No file changes while tests run: a page that is loaded again need not ask for each of its modules.
SERVESTATIC_MAX_AGE = 3600

globals().update(json.loads(os.environ.get("CONSTANTS", "{}")))
