"""One question's tally to its shares or its mean, and how far made-up reports can move them."""
