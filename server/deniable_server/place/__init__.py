"""The place: an answering page that another institution keeps, and the way by which sealed reports go on from it."""
