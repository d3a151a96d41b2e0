"""The commands that need neither side: arithmetic on values that both share."""
