"""What is computed of reports, and how noise is chosen. Needs no Flask, no Node.js and no browser."""
