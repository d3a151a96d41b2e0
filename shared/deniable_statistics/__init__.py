"""What is computed before and after collection, for collectors and researchers alike; no device needs it."""
