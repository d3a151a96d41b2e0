"""The query of results: by cohort, confidence level, method, target, and assumptions about misbehaviour and fakes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from deniable.survey.texts import MAX_LABEL
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, INTERVAL_METHODS
from deniable_statistics.estimates.fakes import HIGHEST_FAKE
from deniable_statistics.intervals.interval import LOWEST_LEVEL
from deniable_statistics.robustness.misbehaviour import HIGHEST_SHARE, KINDS


def _known_method(name: str) -> str:
    if name not in INTERVAL_METHODS:
        raise PydanticCustomError("method", "must be one of {names}", {"names": ", ".join(INTERVAL_METHODS)})
    return name


def _rounded(level: float) -> float:
    """A level or share with six decimals, so that nearly equal queries share a cached result."""
    return round(level, 6)


HIGHEST_SERVED = 0.999999
"""Largest confidence level of a query, which rounding to six decimals does not make 1."""


class EstimatesQuery(BaseModel):
    """How to estimate."""

    # Otherwise a misspelt parameter would silently take its default.
    model_config = ConfigDict(extra="forbid")

    by: Literal["cohort"] | None = Field(None, description="`cohort`: one group of rows for each cohort")
    confidence: Annotated[
        float,
        Field(
            ge=LOWEST_LEVEL,
            le=HIGHEST_SERVED,
            description=f"confidence level of the intervals, rounded to 6 decimals: {LOWEST_LEVEL} to {HIGHEST_SERVED}",
        ),
        AfterValidator(_rounded),
    ] = 0.95
    method: Annotated[
        str, AfterValidator(_known_method), WithJsonSchema({"type": "string", "enum": INTERVAL_METHODS})
    ] = Field(DEFAULT_METHOD, description=f"method of the intervals: {', '.join(INTERVAL_METHODS)}")
    target: Literal["population", "respondents"] = Field(
        "population",
        description="whose shares the intervals are for: `population`, or `respondents` only, which is exact up to 400 "
        "reports and approximate above",
    )
    simultaneous: bool = Field(False, description="simultaneous intervals for all options of a question")
    misbehaving: Annotated[float, Field(ge=0, le=HIGHEST_SHARE), AfterValidator(_rounded)] | None = Field(
        None,
        description="assume that at most this share of the people do not follow the instructions: adds bounds and "
        "robust intervals, with the target population only",
    )
    # The names of `KINDS`, spelled out, because a type is read before anything runs.
    misbehaviour: Literal["anything", "noncompliance", "denial", "careless", "lying"] = Field(
        "anything",
        description=f"what these people do. {'. '.join(f'`{kind}`: {what}' for kind, what in KINDS.items())}",
    )

    assume_fake: Annotated[float, Field(ge=0, le=HIGHEST_FAKE), AfterValidator(_rounded)] | None = Field(
        None,
        description="assume that at most this share of all reports are fake: every interval allows for anything these "
        "say; not with misbehaving",
    )

    @model_validator(mode="after")
    def _of_the_population(self) -> Self:
        if self.misbehaving is not None and self.target == "respondents":
            raise PydanticCustomError("misbehaving", "misbehaving must go with the target population")
        if self.misbehaving is not None and self.assume_fake is not None:
            raise PydanticCustomError("assume_fake", "assume_fake must not go with misbehaving")
        return self


class ViewQuery(EstimatesQuery):
    """What a page or a file of results shows, and in which language."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    compare: Literal["cohort"] | None = Field(None, description="the differences of cohorts, which hold simultaneously")
    against: Annotated[str, Field(max_length=MAX_LABEL)] | None = Field(
        None, description="the cohort from which the others differ; by default every two are compared"
    )
    crossed_with: Annotated[str, Field(max_length=40)] | None = Field(
        None, alias="with", description="another question, among whose answers the shares are shown"
    )
    over: Literal["time", "releases"] | None = Field(
        None,
        description="`time`: the shares in every survey of this collector that asks the question to the letter; "
        "`releases`: those in every release of this survey",
    )
    pooled: Literal["versions"] | None = Field(
        None, description="the replies of this survey and of all that it revises together"
    )
    sort: Literal["share"] | None = Field(
        None,
        description="`share`: answers that have no order of their own, the largest share first; by default as in the "
        "survey",
    )
    view: Literal["all"] | None = Field(None, description="`all`: every question on one page, for printing")
    release: Annotated[int, Field(ge=1, le=10**6)] | None = Field(
        None, description="number of an earlier release; by default the newest"
    )
    lang: Literal["ar", "de", "en", "es", "fr"] | None = Field(
        None, description="language of texts; by default the one that the browser asks for"
    )
