"""Where only reports exist."""
