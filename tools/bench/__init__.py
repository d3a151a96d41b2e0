"""What the parts cost, printed by `make bench`."""
