"""Works that the methods of a survey come from, for a list of references and for BibTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_AUTHORS = 3
"""Largest number of authors who are all named where a work is cited; of more, the first one stands for all."""


@dataclass(frozen=True)
class Work:
    """A published work.

    Attributes
    ----------
    authors : tuple of str
        Like ``"S. L. Warner"``; a family name of several words stands in braces, as in BibTeX. The last may be
        ``"others"``.
    title : str
    venue : str
        The journal, the proceedings with their year, or the number at arXiv, such as ``"arXiv:1606.05053"``.
    year : int
    volume, pages : str
        Of a journal both, of proceedings the pages, and neither of a text at arXiv and of a book.
    is_book : bool
        Whether the venue is a publisher.

    Examples
    --------
    >>> WARNER.cited
    'Warner 1965'
    >>> KAIROUZ.cited, NGUYEN.cited
    ('Kairouz, Oh and Viswanath 2016', 'Nguyen et al. 2016')
    >>> print(MCSHERRY.text)
    F. McSherry, K. Talwar, “Mechanism design via differential privacy”, FOCS 2007, 94-103
    """

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int
    volume: str = ""
    pages: str = ""
    is_book: bool = False

    @property
    def cited(self) -> str:
        """Authors and year, as they stand within a sentence."""
        names = [_family(each) for each in self.authors]
        if self.authors[-1] == "others" or len(names) > MOST_AUTHORS:
            return f"{names[0]} et al. {self.year}"
        return f"{' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))} {self.year}"

    @property
    def text(self) -> str:
        """The work in one line, as in a list of references, without the full stop."""
        authors = ", ".join(each.replace("{", "").replace("}", "") for each in self.authors)
        where = f"{self.venue} {self.volume} ({self.year})" if self.volume else self.venue
        if not (self.volume or self.pages):
            where += f" {self.year}" if self.is_book else f" ({self.year})"
        ends = f", {self.pages}" if self.pages else ""
        return f"{authors.replace(', others', ' et al.')}, \u201c{self.title}\u201d, {where}{ends}"

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX."""
        kind, venue = "misc", "howpublished"
        if self.volume:
            kind, venue = "article", "journal"
        elif self.pages:
            kind, venue = "inproceedings", "booktitle"
        elif self.is_book:
            kind, venue = "book", "publisher"
        fields = {
            "author": " and ".join(self.authors),
            # Twice in braces: styles of BibTeX write a title in small letters.
            "title": f"{{{self.title}}}",
            venue: self.venue,
            "year": f"{self.year}",
            "volume": self.volume,
            "pages": self.pages.replace("-", "--"),
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@{kind}{{{self.key},\n" + ",\n".join(lines) + "\n}\n"

    @property
    def key(self) -> str:
        """The key of the entry of BibTeX.

        >>> ARCOLEZI.key
        'arcolezi2024'
        """
        return f"{_family(self.authors[0]).lower()}{self.year}"


def _family(author: str) -> str:
    """The family name of an author."""
    return author.partition("{")[2].removesuffix("}") or author.rpartition(" ")[2]


Cite = Callable[[Sequence[Work]], str]
"""How works are cited within a sentence."""


def uncited(_works: Sequence[Work]) -> str:
    """No citation, for notes below a table."""
    return ""


def in_words(works: Sequence[Work]) -> str:
    """Works as a sentence of plain text cites them.

    >>> in_words([BORUCH, WARNER])
    '(Boruch 1971; Warner 1965)'
    """
    return f"({'; '.join(work.cited for work in works)})"


_JASA = "Journal of the American Statistical Association"

ARCOLEZI = Work(
    ("H. H. Arcolezi", "J.-F. Couchot", "B. {Al Bouna}", "X. Xiao"),
    "Improving the utility of locally differentially private protocols for longitudinal and multidimensional frequency "
    "estimates",
    "Digital Communications and Networks",
    2024,
    "10",
    "369-379",
)
BORUCH = Work(
    ("R. F. Boruch",),
    "Assuring confidentiality of responses in social research: a note on strategies",
    "The American Sociologist",
    1971,
    "6",
    "308-311",
)
DUCHI = Work(
    ("J. C. Duchi", "M. I. Jordan", "M. J. Wainwright"),
    "Minimax optimal procedures for locally private estimation",
    _JASA,
    2018,
    "113",
    "182-201",
)
DWORK = Work(
    ("C. Dwork", "F. McSherry", "K. Nissim", "A. Smith"),
    "Calibrating noise to sensitivity in private data analysis",
    "TCC 2006",
    2006,
    pages="265-284",
)
ERLINGSSON = Work(
    ("U. Erlingsson", "V. Pihur", "A. Korolova"),
    "RAPPOR: randomized aggregatable privacy-preserving ordinal response",
    "CCS 2014",
    2014,
    pages="1054-1067",
)
GHOSH = Work(
    ("A. Ghosh", "T. Roughgarden", "M. Sundararajan"),
    "Universally utility-maximizing privacy mechanisms",
    "SIAM Journal on Computing",
    2012,
    "41",
    "1673-1693",
)
KAIROUZ = Work(
    ("P. Kairouz", "S. Oh", "P. Viswanath"),
    "Extremal mechanisms for local differential privacy",
    "Journal of Machine Learning Research",
    2016,
    "17",
    "1-51",
)
MCSHERRY = Work(
    ("F. McSherry", "K. Talwar"),
    "Mechanism design via differential privacy",
    "FOCS 2007",
    2007,
    pages="94-103",
)
NGUYEN = Work(
    ("T. T. Nguyen", "others"),
    "Collecting and analyzing data from smart device users with local differential privacy",
    "arXiv:1606.05053",
    2016,
)
WANG = Work(
    ("N. Wang", "X. Xiao", "Y. Yang", "J. Zhao", "S. C. Hui", "H. Shin", "J. Shin", "G. Yu"),
    "Collecting and analyzing multidimensional data with local differential privacy",
    "ICDE 2019",
    2019,
    pages="638-649",
)
WARNER = Work(
    ("S. L. Warner",),
    "Randomized response: a survey technique for eliminating evasive answer bias",
    _JASA,
    1965,
    "60",
    "63-69",
)
YE = Work(
    ("M. Ye", "A. Barg"),
    "Optimal schemes for discrete distribution estimation under locally differential privacy",
    "IEEE Transactions on Information Theory",
    2018,
    "64",
    "5662-5676",
)
AGRESTI = Work(
    ("A. Agresti", "B. A. Coull"),
    "Approximate is better than 'exact' for interval estimation of binomial proportions",
    "The American Statistician",
    1998,
    "52",
    "119-126",
)
AGRESTI_MIN = Work(
    ("A. Agresti", "Y. Min"),
    "On small-sample confidence intervals for parameters in discrete distributions",
    "Biometrics",
    2001,
    "57",
    "963-971",
)
DONNER = Work(
    ("A. Donner", "G. Y. Zou"),
    "Closed-form confidence intervals for functions of the normal mean and standard deviation",
    "Statistical Methods in Medical Research",
    2012,
    "21",
    "347-359",
)
FELDMAN = Work(
    ("G. J. Feldman", "R. D. Cousins"),
    "Unified approach to the classical statistical analysis of small signals",
    "Physical Review D",
    1998,
    "57",
    "3873-3889",
)
FULLER = Work(
    ("W. A. Fuller",),
    "Measurement Error Models",
    "Wiley",
    1987,
    is_book=True,
)
NEWCOMBE = Work(
    ("R. G. Newcombe",),
    "Interval estimation for the difference between independent proportions: comparison of eleven methods",
    "Statistics in Medicine",
    1998,
    "17",
    "873-890",
)
WILKS = Work(
    ("S. S. Wilks",),
    "The large-sample distribution of the likelihood ratio for testing composite hypotheses",
    "Annals of Mathematical Statistics",
    1938,
    "9",
    "60-62",
)
WILSON = Work(
    ("E. B. Wilson",),
    "Probable inference, the law of succession, and statistical inference",
    _JASA,
    1927,
    "22",
    "209-212",
)
ZOU = Work(
    ("G. Y. Zou", "A. Donner"),
    "Construction of confidence limits about effect measures: a general approach",
    "Statistics in Medicine",
    2008,
    "27",
    "1693-1702",
)

INTERVALS: dict[str, tuple[Work, ...]] = {
    "agresti-coull": (AGRESTI,),
    "feldman-cousins": (FELDMAN,),
    "likelihood-ratio": (WILKS,),
    "wilson": (WILSON,),
}
"""The works for each method of intervals that a collector may use by default and that has some."""

OF_ANALYSES = (AGRESTI_MIN, DONNER, FULLER, NEWCOMBE, ZOU)
"""Works for what a paper may add: differences and ratios of cohorts, and corrected least squares."""
