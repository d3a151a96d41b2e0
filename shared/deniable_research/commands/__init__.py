"""The researcher's commands."""
