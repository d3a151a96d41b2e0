"""The collector: runs where only reports exist. Nothing here ever randomises."""
