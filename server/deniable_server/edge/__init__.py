"""The edge: what a request meets before anything is done for it, and what every answer bears."""
