"""Modules that generated code holds in strings, put in the place of the calls that they are given to.

Inductor writes `name = async_compile.triton('name', '''` in front of a kernel's module and `''', device_str='cuda')`
after it. With these two lines left empty each kernel is the file's own, where it stood: no line or column moves.
"""

from __future__ import annotations

import re

_WORD = "async_compile.triton("
#: A string that escapes something does not stand in the file as it will be executed.
_CALL = re.compile(
    r"^(?P<name>\w+) = async_compile\.triton\((?P<quote>['\"])(?P=name)(?P=quote), ?"
    r"(?P<fence>'''|\"\"\")[ \t]*\n(?P<text>(?:(?!(?P=fence))[^\\])*)\n(?P=fence)[^\n]*\)[ \t]*$",
    re.MULTILINE,
)


def unwrapped(text: str) -> str:
    """The text with such modules in place. Its lines are as many as before."""
    return _CALL.sub(lambda match: f"\n{match['text']}\n", text) if _WORD in text else text
