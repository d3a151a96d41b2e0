"""The project as a whole: its boundaries, its documents, its papers."""
