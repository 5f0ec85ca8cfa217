"""How a kernel's body uses its parameters: ranks, dtypes, roles, and the sizes that have to fit one another.

An abstract run of the body, helpers of the workspace included: every branch is taken, every loop runs twice. It is
bounded in steps and in depth, never raises, and what it does not understand it takes to be unknown.
"""

from .frame import read_usage
from .use import Usage, Use

__all__ = ["Usage", "Use", "read_usage"]
