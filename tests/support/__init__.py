"""What several rooms share; imported as `tests.support`, by tools too."""
