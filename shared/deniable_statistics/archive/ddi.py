"""Codebooks for archives: DDI-Codebook 2.5.

The elements and their order are those of https://ddialliance.org/Specification/DDI-Codebook/2.5.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from deniable_statistics.archive.codebook import Entry, SurveyCodebook
from deniable_statistics.archive.numbers_in_words import epsilon_in_words, exact_cells

NAMESPACE = "ddi:codebook:2_5"
"""XML namespace of DDI-Codebook 2.5."""

# XML 1.0, section 2.2: with another character the document is not well-formed.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_ddi(codebook: SurveyCodebook) -> bytes:
    """The codebook as XML, in UTF-8.

    Notes
    -----
    Each column is a ``var``: ``qstn`` is the text that people read, ``catgry`` the codes, and ``invalrng`` the codes of
    missing values. ``forward`` and ``backward`` lead from the questions that a filter is about to its own, and back.
    ``derivation`` describes the randomisation with every probability, because the values of the
    variable are derived from answers that nobody holds; ``security`` says that they are not answers.
    """
    root = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    if codebook.address:
        # An ID of XML must not begin with a digit, as a hash may.
        root.set("ID", f"survey-{codebook.address}")
    study = ET.SubElement(root, "stdyDscr")
    title = ET.SubElement(ET.SubElement(study, "citation"), "titlStmt")
    _text(title, "titl", codebook.title)
    if codebook.address:
        _text(title, "IDNo", codebook.address, agency="deniable")
    if codebook.about:
        information = ET.SubElement(study, "stdyInfo")
        for sentence in codebook.about:
            _text(information, "abstract", sentence)
    if codebook.sample:
        collection = ET.SubElement(ET.SubElement(study, "method"), "dataColl")
        _text(collection, "sampProc", codebook.sample)
    if codebook.license:
        use = ET.SubElement(ET.SubElement(study, "dataAccs"), "useStmt")
        _text(use, "conditions", codebook.license.cited)
    data = ET.SubElement(root, "dataDscr")
    routes = _routes(codebook.entries)
    for number, entry in enumerate(codebook.entries, start=1):
        _variable(data, number, entry, routes)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _routes(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """Which question decides whether another one applies: pairs of the numbers of their entries."""
    numbers = {entry.column: number for number, entry in enumerate(entries, start=1) if entry.mechanism is not None}
    return [
        (numbers[name], number)
        for number, entry in enumerate(entries, start=1)
        for name in entry.filtered_by
        if name in numbers
    ]


def _variable(data: ET.Element, number: int, entry: Entry, routes: Sequence[tuple[int, int]]) -> None:
    kind = "discrete" if entry.categories else "contin"
    variable = ET.SubElement(data, "var", {"ID": f"V{number}", "name": _clean(entry.column), "intrvl": kind})
    _text(variable, "labl", entry.label)
    if entry.mechanism is not None:
        _text(variable, "security", entry.notes[0])
        _question(variable, number, entry, routes)
    if entry.missing:
        invalid = ET.SubElement(variable, "invalrng")
        for code in entry.missing:
            ET.SubElement(invalid, "item", {"VALUE": _clean(code)})
    if entry.universe:
        _text(variable, "universe", entry.universe)
    _text(variable, "txt", f"Holds {entry.holds}.")
    for note in entry.notes:
        _text(variable, "txt", note)
    _categories(variable, entry)
    if entry.mechanism is not None:
        derivation = ET.SubElement(variable, "derivation")
        _text(derivation, "drvdesc", " ".join(_mechanism(entry)))
        if entry.parameters is not None:
            _text(derivation, "drvcmd", entry.parameters, syntax="JSON")
    # all() of no codes is true, but without codes the type of the column is unknown.
    is_number = all(re.fullmatch(r"-?[0-9]+", code) for code, _ in entry.categories) and bool(entry.categories)
    ET.SubElement(variable, "varFormat", {"type": "numeric" if is_number else "character"})


def _question(variable: ET.Element, number: int, entry: Entry, routes: Sequence[tuple[int, int]]) -> None:
    """What is asked, and the questions from which and to which filters lead."""
    question = ET.SubElement(variable, "qstn", {"ID": f"Q{number}"})
    _text(question, "qstnLit", entry.label)
    if leads := [f"Q{other}" for one, other in routes if one == number]:
        words = "Decides whether these apply; every device reports them, asked or not."
        _text(question, "forward", words, qstn=" ".join(leads))
    if comes := [f"Q{one}" for one, other in routes if other == number]:
        _text(question, "backward", entry.universe or "", qstn=" ".join(comes))


def _categories(variable: ET.Element, entry: Entry) -> None:
    for code, label in entry.categories:
        category = ET.SubElement(variable, "catgry")
        _text(category, "catValu", code)
        _text(category, "labl", label)
    # Once more as categories, which in DDI list every code that occurs; missing="Y" marks these.
    for code in entry.missing:
        _text(ET.SubElement(variable, "catgry", {"missing": "Y"}), "catValu", code)


def _mechanism(entry: Entry) -> list[str]:
    """Sentences on the mechanism and its probabilities."""
    sentences = [f"Randomised by the mechanism {entry.mechanism}, {epsilon_in_words(entry)}."]
    if entry.options:
        sentences.append(f"True answers: {'; '.join(entry.options)}.")
    for table in entry.probabilities:
        cells = [
            f"{report} | {answer}: {value}"
            for report, row in zip(table.reports, exact_cells(table.values), strict=True)
            for answer, value in zip(table.answers, row, strict=True)
        ]
        sentences.append(f"{table.title}: {'; '.join(cells)}.")
    return sentences


def _text(parent: ET.Element, name: str, text: str, **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, name, attributes)
    element.text = _clean(text)
    return element


def _clean(text: str) -> str:
    """The text with U+FFFD in place of each character that XML does not allow."""
    return _NO_XML.sub("\ufffd", text)
