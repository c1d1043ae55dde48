"""The rule for routing hints and routing keywords, which restricted members and their models read. Pure.

They name the subject of a base, and never contain statements of its documents: no numbers, quotations or headings.
"""

import re
from typing import Final

# Digits of all scripts, quotation marks, `#` before a heading, line breaks and other control characters.
_NUMBERS: Final = r"[\d\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u218b\u2460-\u24ff\u2776-\u2793]"
_QUOTATIONS: Final = r"""["`\u00ab\u00bb\u201a\u201c-\u201f\u2039\u203a\u300c-\u300f\uff02]"""
# An apostrophe stands between letters.
_SINGLE_QUOTATIONS: Final = r"(^|[^\w])['\u2018\u2019\u201b]|['\u2018\u2019\u201b]($|[^\w])"
_HEADINGS: Final = r"(^|\s)#|[\u0000-\u001f\u007f-\u009f\u2028\u2029]"
# A hint must not match this, which is also used as a pattern of JSON Schema.
REFUSED_PATTERN: Final = f"{_NUMBERS}|{_QUOTATIONS}|{_SINGLE_QUOTATIONS}|{_HEADINGS}"
_REFUSED: Final = re.compile(REFUSED_PATTERN)


def is_routing_hint(text: str) -> bool:
    return not _REFUSED.search(text)
