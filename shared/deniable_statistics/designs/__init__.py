"""Designs: how likely each report is under each answer, and the linear map from counts back to shares."""
