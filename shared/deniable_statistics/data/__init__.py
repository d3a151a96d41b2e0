"""Data with variable and value labels, to the files of statistical programs."""
