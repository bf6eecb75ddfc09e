"""What the sub-commands do, one module each; `grammar` says what they take.

May import everything; it is imported by `cli` only, and all but the grammar when a command is
carried out.
"""
