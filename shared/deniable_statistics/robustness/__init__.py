"""What people who misbehave leave of a share or a mean."""
