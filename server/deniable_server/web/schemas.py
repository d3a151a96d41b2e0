"""What the API takes and gives, as pydantic models: they validate queries and make the OpenAPI document.

Published surveys and reports are read by `deniable.parse_survey` and `deniable.parse_report` instead, which refuse
what two JSON parsers could read differently.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from deniable_server.results.file_columns import ESTIMATE_LABELS
from deniable_server.store.interface import Standing


class PublishQuery(BaseModel):
    """How to publish."""

    model_config = ConfigDict(extra="forbid")

    force: bool = Field(
        False, description="also publish a survey that every device refuses unless its owner raises the limit"
    )


class EstimateLine(BaseModel):
    """One option of one question; the columns are explained as in the files."""

    question: str = Field(description=ESTIMATE_LABELS["question"])
    option: str = Field(description=ESTIMATE_LABELS["option"])
    cohort: str | None = Field(description=ESTIMATE_LABELS["cohort"])
    n: int = Field(description=ESTIMATE_LABELS["n"])
    count: int | None = Field(description=ESTIMATE_LABELS["count"])
    estimate: float | None = Field(description=ESTIMATE_LABELS["estimate"])
    std_error: float | None = Field(description=ESTIMATE_LABELS["std_error"])
    conf_low: float = Field(description=ESTIMATE_LABELS["conf_low"])
    conf_high: float = Field(description=ESTIMATE_LABELS["conf_high"])
    conf_level: float = Field(description=ESTIMATE_LABELS["conf_level"])
    method: str = Field(description=ESTIMATE_LABELS["method"])
    epsilon: float = Field(description=ESTIMATE_LABELS["epsilon"])
    feasible: float | None = Field(description=ESTIMATE_LABELS["feasible"])
    statistic: Literal["share", "mean", "among"] = Field(description=ESTIMATE_LABELS["statistic"])
    target: Literal["population", "respondents"] = Field(description=ESTIMATE_LABELS["target"])
    p_below: float | None = Field(description=ESTIMATE_LABELS["p_below"])
    p_above: float | None = Field(description=ESTIMATE_LABELS["p_above"])
    flag: str | None = Field(description=ESTIMATE_LABELS["flag"])
    fake_margin: float | None = Field(description=ESTIMATE_LABELS["fake_margin"])
    misbehaving: float | None = Field(None, description=ESTIMATE_LABELS["misbehaving"])
    bound_low: float | None = Field(None, description=ESTIMATE_LABELS["bound_low"])
    bound_high: float | None = Field(None, description=ESTIMATE_LABELS["bound_high"])
    robust_low: float | None = Field(None, description=ESTIMATE_LABELS["robust_low"])
    robust_high: float | None = Field(None, description=ESTIMATE_LABELS["robust_high"])
    assumed_fake: float | None = Field(None, description=ESTIMATE_LABELS["assumed_fake"])
    a: float | None = Field(None, description=ESTIMATE_LABELS["a"])
    b: float | None = Field(None, description=ESTIMATE_LABELS["b"])


class Waiting(BaseModel):
    """Reports of a cohort that results do not show yet."""

    cohort: str | None
    n: int


class Estimates(BaseModel):
    """Every share that a survey asks for."""

    survey: str
    n: int = Field(description="reports")
    access: Literal["open", "invited", "unlinkable"] = Field(description="who may be counted")
    one_report_a_person: str = Field(
        description="what ensures that a report is a person: not enforced, by invitation, by blind token"
    )
    first_day: str | None = Field(None, description="first day on which the survey took replies, in UTC")
    last_day: str | None = Field(
        None, description="last day on which it took replies, or will take them; null where it has none yet"
    )
    as_of: str | None = Field(None, description="day of the release, or today where results are live")
    estimates: list[EstimateLine]
    rehearsal: bool | None = Field(
        None, description="true where a program sent the replies, in a rehearsal or the demo"
    )
    note: str | None = Field(None, description="why there is nothing to see yet")
    more: str | None = Field(
        None, description="that reports may wait, where results do not show each at once; the number is for owners"
    )
    waiting: list[Waiting] | None = Field(
        None,
        description="reports that results do not show yet, for the token that published the survey or one of scope "
        "`operate`; null where none waits, and for everybody else",
    )


class ReleaseLine(BaseModel):
    """One release in the log of a survey."""

    number: int = Field(description="counted from 1")
    leaf: str = Field(
        description="hash of the record as a leaf of the Merkle tree: SHA-256 of a zero byte and the record"
    )
    signature: str = Field(description="Ed25519 of the record, in hexadecimal")


class Releases(BaseModel):
    """The log of a survey's releases."""

    survey: str
    rehearsal: bool = Field(description="whether a program sent the replies, in a rehearsal or the demo")
    key: str = Field(description="the collector's public key of releases, Ed25519, in hexadecimal")
    key_id: str = Field(description="SHA-256 of the key")
    head: str = Field(description="the head of the log, as it is signed: JSON with format, survey, size and root")
    head_signature: str = Field(description="Ed25519 of the head, in hexadecimal")
    releases: list[ReleaseLine]


class SurveyInfo(BaseModel):
    """A survey in the list of surveys."""

    id: str
    title: str
    published_on: str
    opens: str | None
    closes: str | None
    closed_on: str | None
    access: Literal["open", "invited", "unlinkable"]
    reports: int = Field(description="reports that results show")
    waiting: list[Waiting] = Field(description="reports that they do not show yet")
    open: bool
    state: Standing


class SurveyStanding(BaseModel):
    """Whether a survey takes reports."""

    state: Standing


class Surveys(BaseModel):
    """Every survey of this collector."""

    surveys: list[SurveyInfo]


class Published(BaseModel):
    """A survey that was published."""

    id: str
    path: str = Field(description="path of the page where people answer")


class Health(BaseModel):
    """The collector is up."""

    status: Literal["ok"]


class Taken(BaseModel):
    """What became of a report."""

    status: Literal["stored", "known"]


class Refusal(BaseModel):
    """A line of a batch that was not stored."""

    line: int = Field(description="counted from 1")
    status: int = Field(description="the status that the report would have got on its own")
    detail: str


class BatchTaken(BaseModel):
    """What became of a batch."""

    stored: int
    known: int
    refused: list[Refusal]


# Only documentation: `deniable.parse_report` reads reports, and refuses more than this schema says.
class ReportBody(BaseModel):
    """One noisy report."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern="^[0-9a-f]{32}$", description="16 random bytes")
    cohort: str | None
    values: dict[str, int | str | None] = Field(
        description="question id to noisy report value, null where the device drew other questions of a group"
    )
    # Absent or a text: the schema leaves out null, which no report holds.
    credential: Annotated[
        str | None, WithJsonSchema({"type": "string", "pattern": "^([0-9a-f]{32}|[0-9a-f]{708})$"})
    ] = Field(
        None,
        description="if the survey requires one: the invitation, or the token in hexadecimal (RFC 9578, 0x0002)",
    )


# Hashes alone: an invitation must never be sent to the API of authors.
_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class InvitationHashes(BaseModel):
    """Invitations, by what may be known of them."""

    model_config = ConfigDict(extra="forbid")

    hashes: list[_Hash] = Field(
        min_length=1, max_length=10_000, description="SHA-256 of the 16 bytes of each invitation"
    )


class InvitationsAsked(BaseModel):
    """Invitations that somebody asks about, or none."""

    model_config = ConfigDict(extra="forbid")

    hashes: list[_Hash] = Field([], max_length=10_000, description="SHA-256 of the 16 bytes of each invitation")


class InvitationHash(BaseModel):
    """One invitation, by what may be known of it."""

    model_config = ConfigDict(extra="forbid")

    hash: _Hash = Field(description="SHA-256 of the 16 bytes of the invitation")


class InvitationStanding(BaseModel):
    """Whether an invitation still lets a report count."""

    state: Literal["unused", "used", "unknown", "untold"] = Field(
        description="unknown if the survey has no such invitation, untold if results are live"
    )


class InvitationsAdded(BaseModel):
    """What became of invitations."""

    added: int = Field(description="new invitations")
    known: int = Field(description="already known, or sent twice")


class InvitationsUnused(BaseModel):
    """Who has not answered."""

    invited: int
    unused: int
    hashes: list[str] | None = Field(
        description="those of the given invitations that are unused; null if results are live"
    )


class TokenRequest(BaseModel):
    """A blinded message, and the right to have it signed."""

    model_config = ConfigDict(extra="forbid")

    invitation: str = Field(pattern="^[0-9a-f]{32}$")
    blinded: str = Field(pattern="^[0-9a-f]{512}$", description="RFC 9474, section 4.2")


class Signature(BaseModel):
    """A blind signature."""

    signature: str = Field(pattern="^[0-9a-f]{512}$", description="RFC 9474, section 4.3")


class Problem(BaseModel):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
