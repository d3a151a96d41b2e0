"""Files whose people were drawn by a design: every analysis, from the command line and from Python, held to R.

The figures are those of `test_sampling`, of the same two samples of schools; the yes-no question `met` is `sch.wide`,
asked directly. Where R has none: computations by hand, equalities between ways, and simulation.
"""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import chi2_contingency

from deniable import DrawnBoxes, OneBitMean, ParameterError, ReportError
from deniable_commands.main import main
from deniable_research.files import (
    Layout,
    RandomizedColumn,
    SamplingColumns,
    Table,
    compare,
    direct,
    estimate_shares,
    quick_question,
    read_layout,
    read_margins,
)
from deniable_statistics.designs.of_mechanisms import DrawnBoxesDesign, design_of
from deniable_statistics.joint import correlation, independence
from deniable_statistics.sampling import Domain, SamplingDesign
from deniable_statistics.sampling.items import Item

DATA = Path(__file__).parents[1] / "data"
MET = "met=sch.wide: direct codes=no:No,yes:Yes"
CLUSTERS = (str(DATA / "api_clusters.csv"), "--question", MET, "--weights", "pw", "--cluster", "dnum")
STRATA = (str(DATA / "api_strata.csv"), "--question", MET, "--weights", "pw", "--strata", "stype")
KINDS = "column,label,total\nstype,E,4421\nstype,H,755\nstype,M,1018\n"


def ok(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["analyze", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(*arguments: str) -> list[dict[str, Any]]:
    """What a command says as CSV, numbers as such."""

    def value(text: str) -> Any:
        try:
            return float(text)
        except ValueError:
            return text

    return [
        {name: value(text) for name, text in row.items()}
        for row in csv.DictReader(io.StringIO(ok(*arguments, "--format", "csv")))
    ]


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["analyze", *arguments])
    assert result.exit_code in (1, 2), result.output
    return " ".join(result.output.split())


def read(name: str, **sampling: Any) -> Table:
    layout = Layout((quick_question(MET),), weights="pw", sampling=SamplingColumns(**sampling))
    return Table.read(DATA / name, layout)


def test_a_direct_question_has_the_textbooks_share_error_and_interval() -> None:
    # svymean(~sch.wide, clusters); svyciprop(~I(sch.wide == "Yes"), clusters, method = "beta")
    found = rows("shares", *CLUSTERS, "--population", "fpc", "--method", "clopper-pearson")[1]
    assert (found["estimate"], found["df"]) == (pytest.approx(0.87431694), 14)
    assert (found["conf_low"], found["conf_high"]) == pytest.approx((0.8237022108, 0.9147044921), rel=1e-8)
    assert found["method"] == "korn-graubard clopper-pearson"
    found = rows("shares", *STRATA, "--population", "fpc", "--method", "clopper-pearson")[1]
    assert (found["conf_low"], found["conf_high"]) == pytest.approx((0.7741713286, 0.8734315926), rel=1e-8)
    assert (found["estimate"], found["std_error"], found["df"]) == pytest.approx((0.82794801, 0.02434, 197), rel=3e-4)
    text = ok("shares", *CLUSTERS)
    assert "Errors are those of the sampling design, with 14 degrees of freedom." in text


def test_margins_change_estimate_and_interval(tmp_path: Path) -> None:
    # postStratify(clusters, ~stype, kinds); svymean(~sch.wide)
    margins = tmp_path / "kinds.csv"
    margins.write_text(KINDS, encoding="utf-8")
    (_, known), (_, plain) = (
        rows("shares", *CLUSTERS, "--population", "fpc", *more) for more in (["--margins", str(margins)], [])
    )
    assert (known["estimate"], known["std_error"]) == pytest.approx((0.86180782, 0.02223), rel=3e-4)
    assert known["conf_low"] != plain["conf_low"]
    assert known["count"] == pytest.approx(0.86180782 * 6194)
    # what a margin fixes is known, whatever the method
    margins.write_text("column,label,total\nsch.wide,No,1072\nsch.wide,Yes,5122\n", encoding="utf-8")
    for method in ("default", "feldman-cousins", "clopper-pearson", "blaker", "midp", "wald"):
        fixed = rows("shares", *CLUSTERS, "--margins", str(margins), "--method", method)[1]
        ends = (fixed["estimate"], fixed["conf_low"], fixed["conf_high"])
        assert ends == pytest.approx((5122 / 6194,) * 3, abs=1e-9)
    margins.write_text(KINDS, encoding="utf-8")
    # the margins alone are a design: people drawn one by one, and fitted
    alone = rows("shares", *CLUSTERS[:3], "--margins", str(margins))[1]
    assert (alone["estimate"], alone["df"]) == (pytest.approx(0.86180782), 182)


def test_cohorts_are_domains_of_one_sample() -> None:
    # svyby(~I(sch.wide == "Yes"), ~stype, strata, svymean); svycontrast of ~comp.imp
    for row, expected in zip(
        [row for row in rows("shares", *STRATA, "--population", "fpc", "--by", "stype") if row["option"] == "yes"],
        ((0.91, 0.02843519621), (0.52, 0.06896763492), (0.70, 0.06383743035)),
        strict=True,
    ):
        assert (row["estimate"], row["std_error"]) == pytest.approx(expected)
    apart, ratio = rows("compare", *STRATA, "--population", "fpc", "met", "--by", "comp.imp")
    assert (apart["estimate"], apart["std_error"]) == pytest.approx((-0.42561601, 0.05962), rel=1e-4)
    assert (apart["statistic"], apart["df_error"]) == pytest.approx((-0.42561601 / 0.05962, 197), rel=1e-4)
    assert ratio["estimate"] == pytest.approx(0.5488932918 / 0.9745093067)
    relative = math.hypot(0.05757045697 / 0.5488932918, 0.01550878284 / 0.9745093067)  # they hardly covary
    assert ratio["std_error"] == pytest.approx(ratio["estimate"] * relative, rel=1e-4)
    several = rows("compare", *STRATA, "met", "--by", "stype")
    assert [row["measure"] for row in several] == ["homogeneity", *["difference"] * 3]
    assert (several[0]["df"], several[0]["df_error"]) == (2, 196)
    assert "F(2, 196) = " in ok("compare", *STRATA, "met", "--by", "stype")
    slope, departure = rows("compare", *STRATA, "met", "--by", "stype", "--trend")
    shares = np.array([0.91, 0.52, 0.70])
    sizes = np.array([4421, 755, 1018])
    line = np.polyfit([0, 1, 2], shares, 1, w=np.sqrt(sizes))
    assert slope["estimate"] == pytest.approx(line[0], rel=1e-5)
    assert (departure["df"], departure["df_error"]) == (1, 197)


def test_paired_cohorts_are_the_paired_t_test() -> None:
    """Each cluster has one person of both cohorts: errors are those of the differences within clusters."""
    chance = np.random.default_rng(3)
    first, second = chance.integers(0, 2, (2, 40))
    layout = Layout((quick_question("q: direct"),), sampling=SamplingColumns(cluster="pair"))
    columns = {
        "q": tuple(map(str, [*first, *second])),
        "wave": ("1",) * 40 + ("2",) * 40,
        "pair": tuple(map(str, [*range(40)] * 2)),
    }
    apart = compare(Table.of(columns, layout), "q", "wave")[0]
    assert apart.std_error == pytest.approx((first - second).std(ddof=1) / math.sqrt(40))
    assert apart.estimate == pytest.approx((first - second).mean())


def test_crosstabs_and_correlations_have_errors_of_the_design() -> None:
    # svymean(~interaction(sch.wide, comp.imp), strata)
    found = rows("crosstab", *STRATA, "--population", "fpc", "met", "comp.imp")
    expected = [(0.155339041, 0.02254), (0.016712948, 0.01020), (0.189011947, 0.02962), (0.638936064, 0.03441)]
    for row, (share, error) in zip(found[:4], expected, strict=True):
        assert (row["estimate"], row["std_error"]) == pytest.approx((share, error), rel=6e-4)
        assert row["df_error"] == 197
    given = rows("crosstab", *STRATA, "--population", "fpc", "met", "comp.imp", "--given", "comp.imp")
    assert (given[3]["estimate"], given[3]["std_error"]) == pytest.approx((0.9745093067, 0.01550878284))
    (alone,) = rows("crosstab", *STRATA, "--population", "fpc", "met", "api00")
    table = read("api_strata.csv", strata="stype", population="fpc")
    weights, met, score = table.numbers("pw"), table.item("met").scores[:, 1], table.numbers("api00")
    assert alone["estimate"] == pytest.approx(
        np.cov(met, score, aweights=weights)[0, 1]
        / math.sqrt(np.cov(met, aweights=weights) * np.cov(score, aweights=weights))
    )
    # the same column as number and as question is one correlation
    drawn = read("api_strata.csv", strata="stype")
    assert drawn.sampling is not None
    domain = Domain(drawn.sampling, np.ones(200, dtype=bool))
    items = [
        drawn.item("met"),
        Item.from_reports("same", direct(), (table.numbers("ell") % 2).astype(int).tolist()),
    ]
    by_items = correlation(items[0], items[1], domain)
    by_number = correlation(items[0], items[1].scores[:, 1], domain)
    assert by_items.correlation == pytest.approx(by_number.correlation)
    assert by_items.std_error == pytest.approx(by_number.std_error)
    assert by_items.df == 197


def test_independence_of_a_simple_sample_is_pearsons() -> None:
    """Rao and Scott's test with no design effect: (n - 1) / n of the chi-squared statistic over its df."""
    chance = np.random.default_rng(5)
    first, second = chance.integers(0, 2, 300), chance.integers(0, 3, 300)
    pearson = chi2_contingency(np.histogram2d(first, second, (2, 3))[0], correction=False)
    items = (
        Item.from_reports("a", direct(), first.tolist()),
        Item.from_reports("b", direct(("x", "y", "z")), second.tolist()),
    )
    found = independence(*items, sample=Domain(SamplingDesign.of(np.ones(300)), np.ones(300, dtype=bool)))
    assert found.statistic == pytest.approx(pearson.statistic * 299 / 300 / 2)
    assert (found.df, found.df_error) == pytest.approx((2, 598))
    with pytest.raises(ParameterError, match="permutations: must be 0"):
        independence(*items, sample=Domain(SamplingDesign.of(np.ones(300)), np.ones(300, dtype=bool)), permutations=9)


def test_regressions_are_those_of_svyglm() -> None:
    # summary(svyglm(sch.wide ~ ell + meals + mobility, strata, family = quasibinomial())), and of clusters
    model = "met ~ ell + meals + mobility"
    expected = {
        STRATA: [
            (0.835836525, 0.455626096),
            (-0.002489636, 0.013252499),
            (-0.003152365, 0.009199484),
            (0.060896779, 0.031935421),
        ],
        CLUSTERS: [
            (1.726100174, 0.701134860),
            (0.040094802, 0.012573072),
            (-0.020788311, 0.009210755),
            (0.014580366, 0.025829980),
        ],
    }
    for sample, terms in expected.items():
        found = rows("regress", *sample, "--population", "fpc", model)
        for row, term in zip(found, terms, strict=True):
            assert (row["estimate"], row["std_error"]) == pytest.approx(term, rel=5e-5)
    assert found[3]["p_value"] == pytest.approx(0.5837583, rel=1e-4)  # t of 14 + 1 - 4 degrees of freedom
    assert "with 11 degrees of freedom" in ok("regress", *CLUSTERS, model)
    document = json.loads(ok("regress", *CLUSTERS, model, "--format", "json"))
    assert document["df"] == 11
    assert "cov_type: must be sandwich under a sampling design" in refused(
        "regress", *CLUSTERS, model, "--se", "observed"
    )
    assert "interval: must be wald" in refused("regress", *CLUSTERS, model, "--interval", "profile")


def replicated(tmp_path: Path) -> tuple[str, ...]:
    """The clusters with a column of jackknife weights for each."""
    with (DATA / "api_clusters.csv").open(encoding="ascii") as file:
        every = list(csv.DictReader(file))
    units = sorted({row["dnum"] for row in every})
    for row in every:
        for place, unit in enumerate(units, start=1):
            row[f"jk{place:02d}"] = str(float(row["pw"]) * (row["dnum"] != unit) * len(units) / (len(units) - 1))
    path = tmp_path / "replicates.csv"
    with path.open("w", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, list(every[0]))
        writer.writeheader()
        writer.writerows(every)
    return str(path), "--question", MET, "--weights", "pw", "--replicates", "jk01..jk15"


def test_replicate_weights_refit_every_estimate(tmp_path: Path) -> None:
    # jack <- as.svrepdesign(without, type = "JK1"); svymean(~sch.wide, jack); svyglm(...)
    sample = (*replicated(tmp_path), "--replicate-method", "jackknife")
    share = rows("shares", *sample)[1]
    assert (share["estimate"], share["std_error"], share["df"]) == pytest.approx((0.87431694, 0.02077, 14), rel=3e-4)
    found = rows("regress", *sample, "met ~ ell + meals + mobility")
    errors = [0.85685671, 0.01475763, 0.01067126, 0.03815365]
    assert [row["std_error"] for row in found] == pytest.approx(errors, rel=1e-5)
    assert found[0]["p_value"] == pytest.approx(0.069070, rel=1e-4)
    moments = rows("regress", *sample, "api00 ~ ell + met")
    linear = rows("regress", *CLUSTERS, "api00 ~ ell + met")
    for one, other in zip(moments, linear, strict=True):
        assert one["estimate"] == pytest.approx(other["estimate"])
        assert one["std_error"] == pytest.approx(other["std_error"], rel=0.15)
    scaled = rows("shares", *replicated(tmp_path), "--replicate-scale", str(14 / 15), "--df", "13")[1]
    assert (scaled["std_error"], scaled["df"]) == (pytest.approx(share["std_error"]), 13)
    margins = tmp_path / "kinds.csv"
    margins.write_text(KINDS, encoding="utf-8")
    assert rows("shares", *sample, "--margins", str(margins))[1]["estimate"] == pytest.approx(0.86180782)


def test_design_files_say_how_people_were_drawn() -> None:
    question = '[[questions]]\ncolumn = "q"\ndesign = "direct"\n'
    layout = read_layout(
        'weights = "w"\nreplicates = ["a1..a3", "b"]\nreplicate_method = "fay"\n'
        f"replicate_fay = 0.3\ndegrees_of_freedom = 2\n{question}"
    )
    assert layout.sampling == SamplingColumns(
        replicates=("a1", "a2", "a3", "b"), replicate_method="fay", replicate_fay=0.3, degrees_of_freedom=2
    )
    layout = read_layout(f'strata = "s"\ncluster = "c"\npopulation = 400\nlonely = "centre"\n{question}')
    assert layout.sampling == SamplingColumns("s", "c", "400", "centre")
    assert read_layout(f'replicates = "w1..w2"\nreplicate_scale = [0.5, 1]\n{question}').sampling.replicate_scale == (
        0.5,
        1,
    )
    for text, message in (
        ('replicates = "w1..w4"', "replicate_method: must be given with replicates, or replicate_scale"),
        ('replicate_method = "brr"', "replicates: must be named"),
        ('strata = "s"\nreplicates = "w1..w4"\nreplicate_method = "brr"', "strata: must not be given beside replicate"),
        ('replicates = "w4..w1"\nreplicate_method = "brr"', "must be a range like w1..w80, got 'w4..w1'"),
        ('replicates = ["w1", "w1"]\nreplicate_method = "brr"', "must be different columns"),
        ('replicates = "w1..w4"\nreplicate_scale = "x"', "replicate_scale: must be a number"),
        ('stratum = "s"', "unknown key 'stratum'; did you mean 'strata'"),
    ):
        with pytest.raises(ParameterError, match=message):
            read_layout(f"{text}\n{question}")


def test_margins_are_read_with_the_line_of_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "margins.csv"
    path.write_text('Column,Label,Total\r\nsex,f,"50"\r\n\r\nsex,m,50\r\n', encoding="utf-8-sig")
    assert read_margins(path) == {"sex": {"f": 50, "m": 50}}
    for text, message in (
        ("", "must have the header column,label,total"),
        ("column,label,total\n", "got none"),
        ("column,label,total\nsex,f\n", "line 2: must be a column, a label and a number"),
        ("column,label,total\nsex,f,many\n", "line 2: must be a column, a label and a number"),
        ("column,label,total\nsex,f,0\n", "line 2: total must be a number above 0"),
        ("column,label,total\nsex,f,nan\n", "line 2: total must be a number above 0"),
        ("column,label,total\nsex,f,1\nsex,f,2\n", "line 3: sex has a total for 'f' already"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ReportError, match=message):
            read_margins(path)


def test_files_that_do_not_say_how_everybody_was_drawn_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "study.csv"
    file.write_text("q,s,c,n,w\nyes,a,1,9,1\nno,a,2,9,1\nyes,,3,9,\nno,b,4,x,1\n", encoding="utf-8")
    sample = (str(file), "--question", "q: direct")
    margins = tmp_path / "margins.csv"
    margins.write_text("column,label,total\ns,a,10\n", encoding="utf-8")
    for options, sentence in (
        (
            ("--strata", "s"),
            "column 's': must hold something in every row, because it says how people were drawn, got nothing in 1",
        ),
        (("--strata", "z"), "column 'z': must be one of the file's columns"),
        (("--population", "n"), "column 'n': must hold numbers"),
        (("--population", "none"), "population: must be a column of the file or a number of units, got 'none'"),
        (("--population", "3"), "population: must be at least the number of units drawn in every stratum"),
        (("--strata", "c"), "must have at least 2 sampling units each, 4 of 4 strata have 1"),
        (("--margins", str(margins)), "column 's': must hold something in every row"),
        (("--replicates", "n,c", "--replicate-method", "brr"), "column 'n': must hold numbers"),
        (
            ("--replicates", "w,c", "--replicate-method", "brr"),
            "column 'w': must hold a number in every row, got none in 1",
        ),
        (("--replicates", "c..d", "--replicate-method", "brr"), "column 'c..d': must be one of the file's columns"),
    ):
        assert sentence in refused("shares", *sample, *options)
    file.write_text("q,s\nyes,a\nno,B\nyes,b\n", encoding="utf-8")
    assert "column 's': must hold labels that the margins have ('a'), got others in 2 rows" in refused(
        "shares", *sample, "--margins", str(margins)
    )
    assert "target: must be population under a sampling design" in refused(
        "shares", str(file), "--question", "q: direct", "--strata", "s", "--lonely", "centre", "--target", "respondents"
    )


@pytest.mark.slow
def test_numbers_boxes_and_groups_have_errors_of_the_design() -> None:
    """Each drawn person twice is a cluster of two: estimates are the same, errors those of half as many."""
    chance = np.random.default_rng(11)
    layouts = {
        "number": RandomizedColumn(
            "q",
            "q",
            design_of(OneBitMean.from_epsilon(0, 10, 2)),
            ("0", "10"),
            mean_values=(0.0, 10.0),
            has_shares=False,
        ),
        "boxes": RandomizedColumn("q", "q", design_of(DrawnBoxes.from_epsilon(3, 2, s=2)), ("a", "b", "c")),
        "groups": read_layout(
            '[[questions]]\ncolumn = "q"\ndesign = "stochastic-lie-detector"\np1 = 0.2\np2 = 0.8\ngroup = "g"\n'
        ).questions[0],
    }
    people = 60
    for question in layouts.values():
        if isinstance(question.design, DrawnBoxesDesign):
            word = iter(chance.integers(0, 2**32, 10_000).tolist()).__next__
            reports = [
                question.design.mechanism.randomize([0, 1] if place % 2 else [1], word) for place in range(people)
            ]
        else:
            reports = chance.integers(0, 2, people).tolist()
        columns = {
            "q": tuple(map(str, reports)),
            "g": tuple(str(1 + place % 2) for place in range(people)),
            "psu": tuple(map(str, range(people))),
        }
        once = Table.of(columns, Layout((question,), sampling=SamplingColumns(cluster="psu")))
        twice = Table.of(
            {name: texts * 2 for name, texts in columns.items()},
            Layout((question,), sampling=SamplingColumns(cluster="psu")),
        )
        for one, two in zip(estimate_shares(once), estimate_shares(twice), strict=True):
            assert two.estimate == pytest.approx(one.estimate)
            assert two.std_error == pytest.approx(one.std_error)
            assert two.n == 2 * one.n
        plain = Table.of(columns, Layout((question,)))
        for one, alone in zip(estimate_shares(once), estimate_shares(plain), strict=True):
            assert one.estimate == pytest.approx(alone.estimate)
            assert one.std_error == pytest.approx(
                alone.std_error, rel=0.03
            )  # (n - 1) / n, and the exact form of groups


@pytest.mark.slow
def test_cohorts_of_two_groups_are_compared_under_the_design() -> None:
    """Of people who were drawn one by one as without a design; of pairs who report alike as of half as many."""
    chance = np.random.default_rng(12)
    text = '[[questions]]\ncolumn = "q"\ndesign = "stochastic-lie-detector"\np1 = 0.2\np2 = 0.8\ngroup = "g"\n'
    question, people = read_layout(text).questions[0], 400
    columns = {
        "q": tuple(map(str, chance.integers(0, 2, people).tolist())),
        "g": tuple(str(1 + place % 2) for place in range(people)),
        "wave": tuple("abc"[place % 3] for place in range(people)),
        "psu": tuple(map(str, range(people))),
    }
    drawn = Layout((question,), sampling=SamplingColumns(cluster="psu"))
    alone = compare(Table.of(columns, Layout((question,))), "q", "wave")
    once = compare(Table.of(columns, drawn), "q", "wave")
    twice = compare(Table.of({name: each * 2 for name, each in columns.items()}, drawn), "q", "wave")
    apart = [[row for row in rows if row.measure == "difference"] for rows in (alone, once, twice)]
    for plain, one, two in zip(*apart, strict=True):
        assert one.estimate == pytest.approx(plain.estimate)
        assert one.std_error == pytest.approx(plain.std_error, rel=0.03)
        assert (two.estimate, two.std_error) == pytest.approx((one.estimate, one.std_error))
    first = next(row for row in apart[1] if (row.first, row.second, row.option) == ("a", "b", "no"))
    rows = [row for row in estimate_shares(Table.of(columns, drawn), by="wave") if row.option == "no"]
    share = {row.cohort: row.estimate or math.nan for row in rows}
    error = {row.cohort: row.std_error or math.nan for row in rows}
    assert first.estimate == pytest.approx(share["a"] - share["b"])
    assert first.std_error == pytest.approx(math.hypot(error["a"], error["b"]), rel=0.01)


def test_few_units_are_said_to_be_few(tmp_path: Path) -> None:
    file = tmp_path / "few.csv"
    lines = [f"{('no', 'yes')[place % 3 == 0]},{place % 2},{place}" for place in range(20)]
    file.write_text("\n".join(["q,c,x", *lines]), encoding="utf-8")
    sample = (str(file), "--question", "q: direct", "--cluster", "c")
    assert "with 1 degree of freedom." in ok("shares", *sample)
    text = ok("regress", *sample, "q ~ x")
    assert "There are too few sampling units for so many coefficients" in text
    assert "no limits" in text
    assert "There are too few sampling units" in ok("regress", *sample, "x ~ q")
    assert "20 people" in ok("crosstab", *sample, "q", "c")  # and no sum of weights that nobody gave


@pytest.mark.slow
def test_results_go_to_files_with_labels(tmp_path: Path) -> None:
    for command in (
        ("shares", *CLUSTERS),
        ("compare", *CLUSTERS, "met", "--by", "stype"),
        ("crosstab", *CLUSTERS, "met", "stype"),
        ("regress", *CLUSTERS, "met ~ ell"),
    ):
        for name in ("results.csv", "results.xlsx", "results.dta", "results.json"):
            ok(*command, "--to", str(tmp_path / name))
            assert (tmp_path / name).stat().st_size > 200
