"""Forms of other tools as survey files: what can be taken over, and what cannot, with the reason."""

from deniable_server.authors.importing.forms import import_form
from deniable_server.authors.importing.imported_questions import Imported

__all__ = ["Imported", "import_form"]
