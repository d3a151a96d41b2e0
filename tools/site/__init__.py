"""The site: docs/ as pages that need no other host. `make site` builds it, with every warning an error."""
