"""The wire format: report spaces, strict JSON, and the canonical form of reports."""
