"""The auditor: draws many reports from a client as it is, and says what they tell.

`answers` chooses what is answered, `sampling` draws reports from either client, `replay` computes each again from the
chance that it was drawn with, `tables` and `timing` hold the statistics, `auditor` puts them together.
"""
