"""Additions to the OpenAPI document: bodies that are not read or written through pydantic."""

from __future__ import annotations

from typing import Any

from apiflask import APIFlask
from pydantic.json_schema import models_json_schema

from deniable_server.web import schemas
from deniable_server.web.api import BASE, NDJSON, NOT_A_RELAY, NOT_PUBLIC, TOO_MANY

_REF = "#/components/schemas/{model}"

_MODELS = (
    *(schemas.BatchTaken, schemas.Problem, schemas.ReportBody, schemas.Taken),
    *(schemas.InvitationHashes, schemas.InvitationsAsked, schemas.InvitationHash, schemas.TokenRequest),
)

_TAKEN = {"$ref": _REF.format(model="Taken")}
_BATCH_TAKEN = {"$ref": _REF.format(model="BatchTaken")}
_TEXT = {"type": "string"}
_BYTES = {"type": "string", "format": "binary"}
_HASHES = {"$ref": _REF.format(model="InvitationHashes")}
_SURVEY = {"type": "object", "description": "a published survey"}

REPORTS = f"{BASE}/surveys/{{survey_id}}/reports"
INVITATIONS = f"{BASE}/surveys/{{survey_id}}/invitations"

REQUESTS: dict[tuple[str, str], dict[str, Any]] = {
    (f"{BASE}/surveys", "post"): {"application/json": _SURVEY},
    (REPORTS, "post"): {"application/json": {"$ref": _REF.format(model="ReportBody")}, NDJSON: _TEXT},
    (INVITATIONS, "post"): {"application/json": _HASHES},
    (f"{INVITATIONS}/unused", "post"): {"application/json": {"$ref": _REF.format(model="InvitationsAsked")}},
    (f"{INVITATIONS}/state", "post"): {"application/json": {"$ref": _REF.format(model="InvitationHash")}},
    (f"{BASE}/surveys/{{survey_id}}/tokens", "post"): {"application/json": {"$ref": _REF.format(model="TokenRequest")}},
}
"""Schemas, by media type, of request bodies that strict parsers read instead of pydantic."""

RESPONSES: dict[tuple[str, str, str], dict[str, Any]] = {
    (f"{BASE}/surveys/{{survey_id}}", "get", "200"): {"application/json": _SURVEY},
    (REPORTS, "post", "200"): {"application/json": {"anyOf": [_TAKEN, _BATCH_TAKEN]}},
    (REPORTS, "post", "201"): {"application/json": _TAKEN},
    (f"{REPORTS}.csv", "get", "200"): {"text/csv": _TEXT},
    (f"{BASE}/surveys/{{survey_id}}/estimates.csv", "get", "200"): {"text/csv": _TEXT},
    (f"{BASE}/surveys/{{survey_id}}/archive.zip", "get", "200"): {"application/zip": _BYTES},
    ("/metrics", "get", "200"): {"text/plain": _TEXT},
}

_ERROR = {"application/problem+json": {"$ref": _REF.format(model="Problem")}}


def init_app(app: APIFlask, public_url: str | None) -> None:
    """Complete the document, which is made once for all requests and so must name no host of a request."""
    app.servers = [{"url": public_url or "/"}]

    @app.spec_processor
    def complete(spec: dict[str, Any] | str) -> dict[str, Any] | str:
        assert isinstance(spec, dict), "the document is asked for as JSON"
        _, found = models_json_schema([(model, "serialization") for model in _MODELS], ref_template=_REF)
        components = spec.setdefault("components", {})
        components["schemas"] = components.get("schemas", {}) | found["$defs"]
        for unused in ("HTTPError", "ValidationError"):  # what APIFlask answers, and we do not
            # They would describe errors that this collector never sends.
            components["schemas"].pop(unused, None)
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": "dn_..."}}
        for path, calls in spec["paths"].items():
            for method, call in calls.items():
                if method != "parameters":
                    _complete_call(path, method, call)
        return spec


REFUSED_AT_THE_DOOR = {
    "414": "address too long, or too many keys in the query",
    "429": TOO_MANY,
    "431": "a header is too long",
}
"""Refusals of every call, before it reaches its route."""


def _complete_call(path: str, method: str, call: dict[str, Any]) -> None:
    for status, description in REFUSED_AT_THE_DOOR.items():
        call["responses"].setdefault(status, {"description": description})
    if bodies := REQUESTS.get((path, method)):
        call["requestBody"] = {"required": True, "content": _content(bodies)}
    if "401" in call["responses"]:
        is_for_some = call["responses"]["401"]["description"] in (NOT_PUBLIC, NOT_A_RELAY)  # as the survey says
        # OpenAPI: an empty requirement in the list makes the token optional.
        call["security"] = [{}, {"token": []}] if is_for_some else [{"token": []}]
    for status, answer in call["responses"].items():
        written = _ERROR if status >= "400" else RESPONSES.get((path, method, status))
        if written:
            answer["content"] = _content(written)


def _content(schemas_by_type: dict[str, Any]) -> dict[str, Any]:
    return {media_type: {"schema": schema} for media_type, schema in schemas_by_type.items()}
