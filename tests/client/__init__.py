"""Where answers exist, in Python: against real collectors, and beside JavaScript."""
