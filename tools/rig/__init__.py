"""Surveys, people, collectors and databases, as tests, benchmarks and torture set them up."""
