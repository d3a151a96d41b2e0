"""The auditor: draws many reports from a client as it is, and bounds what they tell."""

from deniable_client.audit.sampling import Draw, audit_survey, draw_javascript, draw_python

__all__ = ["Draw", "audit_survey", "draw_javascript", "draw_python"]
