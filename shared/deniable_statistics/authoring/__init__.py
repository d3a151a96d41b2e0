"""Surveys before they are published: their authors' files, and which noise takes the fewest respondents."""
