"""What is run by hand or by make: generators, benches, torture, pictures. Run as `python -m tools.NAME`."""
