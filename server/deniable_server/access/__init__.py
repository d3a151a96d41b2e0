"""Who may do what: invitations and API tokens."""
