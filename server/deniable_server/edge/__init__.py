"""The edge: the limits and checks that every request passes first, and the headers of every answer."""
