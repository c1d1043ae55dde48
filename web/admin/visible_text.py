"""Shows texts of models and tools in the admin so that no character is hidden or turns the direction of what follows.

The page does the same (web/static/chat/elements/visible_text.js), and knows more of scripts.
"""

import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from django.contrib import admin
from django.db.models import Model
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

# Letters that are not seen, and variants, in which texts can be hidden: Unicode's Default_Ignorable_Code_Point beside Cf.
_IGNORED: Final = frozenset(
    {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}.union(
        range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xFFF0, 0xFFFC), range(0xE0100, 0xE01F0)
    )
)
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# After these a joiner or a variant is a part of an emoji, or of a letter of a script that needs it.
_JOINED: Final = frozenset({"So", "Sk", "Lo", "Mn", "Mc"})
_JOINERS: Final = "\u200c\u200d\ufe0e\ufe0f"


def visible_text(text: str) -> str:
    """Return the text with escapes, as JSON reads them, for characters that are not seen or turn the direction."""
    return "".join(
        letter if _is_seen(letter, text[at - 1 : at]) else json.dumps(letter)[1:-1]
        for at, letter in enumerate(text)
    )


def visible_column(model: type[Model], name: str) -> Callable[[Any], SafeString | str]:
    """Return a column of the admin that shows this text or JSON field visibly."""
    label: Any = model._meta.get_field(name).verbose_name  # type: ignore[union-attr]  # noqa: SLF001  Django's documented model API

    @admin.display(description=_(label))
    def shown(row: Any) -> SafeString | str:
        value = getattr(row, name)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return format_html("<bdi>{}</bdi>", visible_text(text)) if value else "-"

    shown.__name__ = name
    return shown


def _is_seen(letter: str, before: str) -> bool:
    if letter in "\n\t":
        return True
    if letter in _JOINERS:
        return bool(before) and not before.isascii() and unicodedata.category(before) in _JOINED
    return unicodedata.category(letter) not in _HIDDEN and ord(letter) not in _IGNORED
