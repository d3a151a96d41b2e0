"""What is asked: the survey as an author writes it, as it is published, and as somebody reads it."""
