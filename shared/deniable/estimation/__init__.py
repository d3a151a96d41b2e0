"""From counted reports to shares and means of the true answers, with their errors and intervals."""
