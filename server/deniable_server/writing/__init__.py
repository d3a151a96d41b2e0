"""How reports get to the disk, and what happens when they do not."""
