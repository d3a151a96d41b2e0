"""Inviting people: links, rosters, letters and sheets. All of it stays with the author; a collector gets hashes."""
