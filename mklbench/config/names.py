"""Names of the config groups."""

GROUPS = ("algo", "kernel", "data", "split", "search")
