"""The writing of reports to the disk, and the outage in which that fails."""
