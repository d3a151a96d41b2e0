"""``deniable answer``: a person answers in a terminal, with the browser's rules and words."""
