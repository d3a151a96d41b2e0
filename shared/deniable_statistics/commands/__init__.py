"""What commands of collectors and of researchers share."""
