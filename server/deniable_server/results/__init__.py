"""Results: what they are computed from, where, for how long they are kept, and how they are drawn."""
