"""``python -m deniable`` is the command ``deniable``."""

from deniable_commands.main import main

main(prog_name="deniable")
