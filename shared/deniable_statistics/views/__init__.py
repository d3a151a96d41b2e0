"""Views of results: the rows that pages, files, figures and verifiers share, their figures, and their recipes."""
