"""What goes with the data of a survey into an archive: codebooks, and scripts that compute the estimates anew."""
