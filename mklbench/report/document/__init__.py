"""A page as a list of blocks, and the page as Markdown and as HTML.

May import nothing else of `report`, and is imported by `layout` and `results`.
"""
