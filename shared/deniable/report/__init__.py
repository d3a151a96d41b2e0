"""What is sent, in the only form that there is, and counted."""
