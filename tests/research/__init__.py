"""What researchers do before and after. Needs no Flask, no Node.js and no browser."""
