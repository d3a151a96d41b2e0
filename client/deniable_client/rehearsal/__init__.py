"""A rehearsal: made-up people answer a survey through the real devices, to the files that a real study will give."""
