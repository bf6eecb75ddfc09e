"""How Sphinx makes the documentation: `make docs`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
os.environ.setdefault("MPLBACKEND", "Agg")

from mklbench import __version__

project = "mklbench"
author = "the mklbench developers"
release = version = __version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "written_pages",
    "checked_links",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
templates_path = ["templates"]
exclude_patterns = ["build", "extensions", "templates", "**/README.md", "sg_execution_times.rst"]
highlight_language = "none"  # formulas of docstrings stand in indented blocks
nitpicky = False
default_role = "py:obj"  # what stands in single backticks leads to its page, if it has one

autodoc_typehints = "none"  # numpydoc has them beside their shapes
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_labels = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "min_reported_time": 1e9,
}

html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = f"mklbench {version}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
project_copyright = "the mklbench developers"
