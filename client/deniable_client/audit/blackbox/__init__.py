"""The black box: shipped clients run as they are, and a recorder around them keeps everything that leaves them.

`relay` stands between a client and the network, `chromium` runs the pages as they are served, `traced` runs Python as a
process; `trace` is what both hand on.
"""
