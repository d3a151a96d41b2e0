"""The rights of authors and researchers: API tokens, access to invitations, and calls to a running collector."""
