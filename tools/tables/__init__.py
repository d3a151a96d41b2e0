"""Figures that take too long for a test: one module each, printed by `make tables`."""
