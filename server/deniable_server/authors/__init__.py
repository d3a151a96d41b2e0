"""What authors see of a survey before it is published: its check, and the bench beside its preview."""
