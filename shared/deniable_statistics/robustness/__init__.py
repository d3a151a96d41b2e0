"""Bounds and intervals of a share or a mean if some people misbehave."""
