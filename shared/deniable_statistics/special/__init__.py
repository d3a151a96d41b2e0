"""Distribution functions and a least-squares solver in numpy alone, so that a collector needs no scipy.

What a single number asks for is computed in floats, what arrays ask for in arrays. Errors are bounded in
`docs/statistics.md`, and tests hold them to exact sums and to scipy.
"""
