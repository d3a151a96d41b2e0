"""Where answers exist, in real browsers."""
