"""Published results of a survey: the rows of API, pages and command line, their chart, and the leading answer."""
