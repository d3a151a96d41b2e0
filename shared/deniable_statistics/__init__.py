"""Numbers from numbers, for collectors and researchers alike; and what authors and exports need.

No device needs it. Its files load numpy, and scipy where a figure asks for it, so that a collector starts without.
"""
