"""What respondent and collector agree on. Needs no Flask, no Node.js and no browser."""
