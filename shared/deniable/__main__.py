"""``python -m deniable`` is the command ``deniable``."""

from deniable.commands.main import main

main(prog_name="deniable")
