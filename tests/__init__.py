"""The tests, a room for each part of the project: see CONTRIBUTING.md."""
