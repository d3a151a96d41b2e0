"""What is published of a survey: the rows that API, pages and command line show, and which answer leads."""
