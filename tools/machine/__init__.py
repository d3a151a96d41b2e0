"""Do what the documents tell institutions to do, on a machine of its own: ``python -m tools.machine``.

The machine is a Debian in a folder, made by debootstrap and started there: systemd is process 1 of namespaces of its
own, with a network of its own that nobody else reaches. So the service runs as its unit says, hardening included, nginx
takes ports 80 and 443, and nothing of the machine outside changes. Only what installs something has the network of the
machine outside.

It needs root on Linux, debootstrap and some minutes. What it runs are blocks of pages as they stand there:
`tools.machine.institution` and `tools.machine.place` say which. What it adds is what a reader is told to do in words.
Memory of a service is not bounded where the system outside keeps that to itself (cgroups of version 1).
"""
