"""Reports: their one form, their strict parser, and their tallies."""
