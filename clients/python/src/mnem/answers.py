"""The dataclasses that verbs answer with."""

from ._verbs import *  # noqa: F403
from ._verbs import ANSWERS as __all__  # noqa: F401
