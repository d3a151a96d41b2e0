"""Surveys: questions, groups and texts, the published document, and its strict parser."""
