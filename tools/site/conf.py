"""What Sphinx makes of docs/: `make site`. Nothing here or in the theme asks another host for anything."""

from __future__ import annotations

import importlib.metadata

project = "Deniable"
author = "The Deniable authors"
copyright = author
version = release = importlib.metadata.version("deniable")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "tools.site.glossary",
    "tools.site.docstrings",
    "tools.site.elsewhere",
]
root_doc = "index"
exclude_patterns = ["pictures"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

# Examples for JSX, Vue and Svelte hold what the lexers of these languages do not know; they are shown without colours.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "Deniable"
html_static_path = ["static"]
html_css_files = ["deniable.css"]
html_copy_source = False
html_show_search_summary = False  # a page that was opened as a file may fetch no other one
html_theme_options = {"navigation_with_keys": True}

# Docstrings name code in single backquotes. Types in them are prose, such as "array of n rows": as links, their words
# would lead to whatever has such a name, so parameters and attributes are plain lists.
default_role = "code"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
add_module_names = False
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
