"""What a device may tell: the sum of losses, the ceiling that it keeps to, and the noise in words."""
