"""What the sub-commands do, one module each; the grammar is in `mklbench.cli`.

May import everything; it is imported by `cli` only, when a command is carried out.
"""
