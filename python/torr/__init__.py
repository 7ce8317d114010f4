"""torr: pressure testing for APIs.

How much can it take, is B really faster than A, what does a user feel: each answered with its
evidence. Importing this package loads nothing else; every door is imported where it is used.
"""

__version__ = "0.1.0"
