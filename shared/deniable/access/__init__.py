"""Who may be counted: invitations, and blind tokens that nobody can link to them."""
