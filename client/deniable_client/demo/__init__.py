"""The demo: the whole path on real data, each step the command or the call that a user would make."""
