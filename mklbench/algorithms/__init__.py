"""The algorithms: one module each, with a function ``solve`` and an integer ``VERSION``.

``VERSION`` is part of what identifies a recorded result; it is raised when a change can move the
numbers an algorithm returns.
"""
