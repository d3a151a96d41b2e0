"""Numbers from numbers, for collectors and researchers alike; and what authors and exports need.

Its rooms read no tables, print nothing and know no command line, but for `authoring`, `data` and `commands`. No device
needs it. What a collector loads of it imports numpy and no scipy; models, simulations and shuffling import scipy, too.
"""
