"""Estimates of shares and means from a tally, and the influence of fake reports on them."""
