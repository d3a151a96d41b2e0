"""The classical designs of randomised response, one function each, and any matrix."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction

from deniable.errors import ParameterError, check_kind, describe
from deniable.exact import Number, probability, rational
from deniable.mechanisms import Mechanism, Support
from deniable_statistics.classical.channel import Channel, Groups
from deniable_statistics.designs.design import Derived
from deniable_statistics.designs.of_mechanisms import design_of

NO_YES = ("no", "yes")


def warner(p: Number) -> Channel:
    """Warner's design: the sensitive question with probability ``p``, otherwise its opposite.

    ``P(yes|yes) = P(no|no) = p``; ``f = (lam + p - 1) / (2 p - 1)``; epsilon ``|ln(p / (1 - p))|``. Also known as
    the mirrored question.

    References
    ----------
    S. L. Warner, Journal of the American Statistical Association 60 (1965), 63-69.

    Examples
    --------
    (0.43 - 0.3) / 0.4 = 0.325:

    >>> warner("0.7").estimate([570, 430]).share[1]
    0.325
    """
    keep = probability(p, "p")
    return _yes_no(f"warner({keep})", keep, 1 - keep)


def forced_response(truth: Number, forced: Sequence[Number] = ("1/2", "1/2")) -> Channel:
    """Forced response: the truth with probability ``truth``, otherwise an option drawn by chance.

    Parameters
    ----------
    truth : number
        Probability of being told to answer truthfully, above 0 and below 1.
    forced : sequence of numbers, length k
        Probability of each of the k options *when the answer is forced*; they add up to 1. Where a source gives
        the probabilities of all outcomes, divide by ``1 - truth``.

    Notes
    -----
    ``P(r|x) = truth [r = x] + (1 - truth) forced[r]``; ``f_r = (lam_r - (1 - truth) forced[r]) / truth``; the
    likelihood ratio is ``1 + truth / ((1 - truth) min(forced))``. If some option is never forced (*forced yes
    only*), it proves itself: epsilon is infinite.

    References
    ----------
    R. F. Boruch, The American Sociologist 6 (1971), 308-311.

    Examples
    --------
    Two coins of 4/5: P(yes|yes) = 24/25, P(yes|no) = 4/25, P(no|no) / P(no|yes) = 21:

    >>> forced_response("4/5", ["1/5", "4/5"]).likelihood_ratio
    Fraction(21, 1)
    >>> forced_response("3/4", ["0", "1"]).can_collect
    False
    """
    t = probability(truth, "truth")
    check_kind(forced, Iterable, "forced")
    # May be 0: an option that is never forced proves itself, and the design is for analysis alone.
    weights = [_share(each, f"forced[{option}]") for option, each in enumerate(forced)]
    if len(weights) < 2 or sum(weights) != 1:
        # Sources often give the probabilities of all outcomes of the dice.
        hint = "; divide them by 1 - truth" if sum(weights) == 1 - t else ""
        raise ParameterError(
            f"forced: must be the probabilities of two options or more that add up to 1, "
            f"got {len(weights)} with a sum of {sum(weights)}{hint}"
        )
    matrix = tuple(
        tuple(t * (r == x) + (1 - t) * weight for x in range(len(weights))) for r, weight in enumerate(weights)
    )
    labels = NO_YES if len(weights) == 2 else ()
    return Channel(matrix, labels, labels, f"forced_response({t})")


def unrelated_question(p: Number, prevalence: Number) -> Channel:
    """Unrelated question: the sensitive one with probability ``p``, otherwise one with a known share of yes.

    ``P(yes|yes) = p + (1 - p) prevalence`` and ``P(yes|no) = (1 - p) prevalence``;
    ``f = (lam - (1 - p) prevalence) / p``. For an unknown prevalence: `unrelated_question_unknown`.

    References
    ----------
    B. G. Greenberg, A.-L. A. Abul-Ela, W. R. Simmons, D. G. Horvitz, "The unrelated question randomized response
    model: theoretical framework", Journal of the American Statistical Association 64 (1969), 520-539.

    Examples
    --------
    (0.43 - 0.3 x 0.5) / 0.7 = 0.4:

    >>> unrelated_question("0.7", "0.5").estimate([570, 430]).share[1]
    0.4
    """
    sensitive, other = probability(p, "p"), _share(prevalence, "prevalence")
    yes_if_no = (1 - sensitive) * other
    return _yes_no(f"unrelated_question({sensitive}, {other})", sensitive + yes_if_no, yes_if_no)


def kuk(p1: Number, p2: Number, repetitions: int = 1) -> Channel:
    """Kuk's card packs: the colour of cards from pack 1 if the truth is yes, from pack 2 if it is no.

    Parameters
    ----------
    p1, p2 : number
        Share of red cards in the packs, above 0 and below 1.
    repetitions : int
        Number of cards drawn with replacement; the response is how many of them were red.

    Notes
    -----
    Responses are binomial; ``f = (mean red / repetitions - p2) / (p1 - p2)``. Each card costs the epsilon of
    one: they add up. The published estimator uses the mean number of red cards, and so does this one;
    ``from_matrix(kuk(...).matrix)`` has the least squares of `Channel`, which use more of what many cards tell.

    References
    ----------
    A. Y. C. Kuk, "Asking sensitive questions indirectly", Biometrika 77 (1990), 436-438.

    Examples
    --------
    (0.43 - 0.2) / 0.6 = 0.3833; five cards: 4^5 = 1024:

    >>> round(kuk("0.8", "0.2").estimate([570, 430]).share[1], 4)
    0.3833
    >>> kuk("0.8", "0.2", repetitions=5).likelihood_ratio
    Fraction(1024, 1)
    """
    # In the order of the truths, no and yes.
    red = (probability(p2, "p2"), probability(p1, "p1"))
    if type(repetitions) is not int or not 1 <= repetitions <= 1000:
        raise ParameterError(f"repetitions: must be an integer in [1, 1000], got {describe(repetitions)}")
    matrix = tuple(
        tuple(math.comb(repetitions, r) * p**r * (1 - p) ** (repetitions - r) for p in red)
        for r in range(repetitions + 1)
    )
    scores = None
    if red[0] != red[1]:
        # f = (mean red - p2) / (p1 - p2) as scores of each response.
        yes = tuple((Fraction(r, repetitions) - red[0]) / (red[1] - red[0]) for r in range(repetitions + 1))
        scores = (tuple(1 - each for each in yes), yes)
    responses = tuple(f"{r} red" for r in range(repetitions + 1))
    return Channel(matrix, responses, NO_YES, f"kuk({red[1]}, {red[0]}, {repetitions})", scores)


def mangat(p: Number) -> Channel:
    """Mangat's design: people with the trait say yes, the others answer truthfully with probability ``p``.

    ``P(yes|yes) = 1`` and ``P(no|no) = p``; ``f = (lam - (1 - p)) / p``. A no proves the absence of the trait.

    References
    ----------
    N. S. Mangat, "An improved randomized response strategy", Journal of the Royal Statistical Society B 56
    (1994), 93-95.

    Examples
    --------
    (0.43 - 0.3) / 0.7 = 0.1857:

    >>> round(mangat("0.7").estimate([570, 430]).share[1], 4)
    0.1857
    """
    honest = probability(p, "p")
    return _yes_no(f"mangat({honest})", Fraction(1), 1 - honest)


def crosswise(p: Number) -> Channel:
    """Crosswise model: whether the answer is the same as that to a harmless question of prevalence ``p``.

    ``P(same|yes) = p`` and ``P(same|no) = 1 - p``; ``f = (lam + p - 1) / (2 p - 1)`` with ``lam`` the share of
    *same*. The channel of `warner`, without a device: but a person who knows the harmless answer learns the other.

    References
    ----------
    J.-W. Yu, G.-L. Tian, M.-L. Tang, "Two new models for survey sampling with sensitive characteristic: design
    and analysis", Metrika 67 (2008), 251-263.

    Examples
    --------
    Born in January or February, p = 1/6: (0.7 - 5/6) / (-2/3) = 0.2:

    >>> crosswise("1/6").estimate([300, 700]).share[1]
    0.2
    """
    harmless = probability(p, "p")
    return _yes_no(f"crosswise({harmless})", harmless, 1 - harmless, ("different", "same"))


def triangular(p: Number) -> Channel:
    """Triangular model: *circle* if the sensitive and a harmless question are both no, else *triangle*.

    ``P(triangle|yes) = 1`` and ``P(triangle|no) = p``, the prevalence of the harmless yes;
    ``f = (lam - p) / (1 - p)``. A circle proves a no.

    References
    ----------
    J.-W. Yu, G.-L. Tian, M.-L. Tang, Metrika 67 (2008), 251-263.

    Examples
    --------
    (0.43 - 1/6) / (5/6) = 0.316:

    >>> triangular("1/6").estimate([570, 430]).share[1]
    0.316
    """
    harmless = probability(p, "p")
    return _yes_no(f"triangular({harmless})", Fraction(1), harmless, ("circle", "triangle"))


def disguised_response(p: Number) -> Channel:
    """Disguised response: a card from the *yes* stack with ``p`` red cards, or from the *no* stack with ``1 - p``.

    The respondent draws from both stacks and names the colour of the card from the stack of the true answer, so
    even the word *yes* is never said. ``P(red|yes) = p`` and ``P(red|no) = 1 - p``: ``kuk(p, 1 - p)``, with the
    numbers of `warner`.

    References
    ----------
    G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", Journal of the
    American Statistical Association 110 (2015), 1304-1319, after A. Y. C. Kuk, Biometrika 77 (1990), 436-438.

    Examples
    --------
    >>> disguised_response("0.8").matrix == kuk("0.8", "0.2").matrix == warner("0.8").matrix
    True
    """
    red = probability(p, "p")
    return _yes_no(f"disguised_response({red})", red, 1 - red, ("black", "red"))


def from_matrix(
    rows: Sequence[Sequence[Number]],
    responses: Sequence[str] = (),
    truths: Sequence[str] = (),
    name: str = "channel",
) -> Channel:
    """A channel from its matrix, ``rows[r][x] = P(response r | truth x)``, each number read exactly.

    Examples
    --------
    A yes-no question that can be refused, by chance or not:

    >>> channel = from_matrix([["0.6", "0.2"], ["0.2", "0.6"], ["0.2", "0.2"]], ["no", "yes", "refused"], ["no", "yes"])
    >>> channel.estimate([400, 400, 200]).share
    (0.5, 0.5)
    """
    try:
        matrix = tuple(
            tuple(rational(each, f"{name}[{r}][{x}]") for x, each in enumerate(row)) for r, row in enumerate(rows)
        )
    except TypeError:
        raise ParameterError(f"{name}: must be a list of rows of numbers, got {describe(rows)}") from None
    return Channel(matrix, tuple(responses), tuple(truths), name)


def from_mechanism(mechanism: Mechanism) -> Channel:
    """The channel of a mechanism that reports one value, for its covariance or beside designs from elsewhere.

    Raises
    ------
    ParameterError
        If a report supports any number of options (subsets, tick boxes): its supports are not a single response.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> from_mechanism(TwoCoin("1/2", "1/2")).matrix == forced_response("1/2").matrix
    True
    """
    check_kind(mechanism, Mechanism, "mechanism")
    if not mechanism.reports.supports_one:
        raise ParameterError(f"mechanism: must report one value, got {mechanism.name!r}, which reports several at once")
    design = design_of(mechanism)
    # Where shares are not identified, truths are named by their numbers.
    truths = design.truths if design.has_shares else ()
    return Channel(design.channel_matrix, mechanism.reports.labels, truths, mechanism.name)


def of_one_truth(support: Support, name: str) -> Channel:
    """One truth against all others, as a yes-no question of its own: a box to tick, or one option.

    >>> from deniable import TickBoxes
    >>> of_one_truth(TickBoxes(3, "3/4").support[0], "box").matrix == warner("3/4").matrix
    True
    """
    return _yes_no(name, support.if_true, support.if_other)


def unrelated_question_unknown(p1: Number, p2: Number) -> Groups:
    """Unrelated question of unknown prevalence: two groups get the sensitive one with ``p1`` and ``p2``.

    ``lam_g = p_g f + (1 - p_g) u`` for the shares ``f`` of the sensitive and ``u`` of the unrelated yes.

    References
    ----------
    B. G. Greenberg et al., Journal of the American Statistical Association 64 (1969), 520-539.

    Examples
    --------
    0.6 = 0.7 f + 0.3 u and 0.4 = 0.3 f + 0.7 u:

    >>> unrelated_question_unknown("0.7", "0.3").estimate([[200, 300], [300, 200]]).share
    (0.25, 0.75, 0.75, 0.25)
    """
    zero = Fraction(0)
    # The unrelated yes is a share of its own, so that columns do not add up to 1.
    matrices = tuple(((p, zero, 1 - p, zero), (zero, p, zero, 1 - p)) for p in (_share(p1, "p1"), _share(p2, "p2")))
    return Groups(matrices, NO_YES, ("no", "yes", "unrelated no", "unrelated yes"), "unrelated_question_unknown")


def cheater_detection(yes: Sequence[Number], no: Sequence[Number] = (0, 0)) -> Groups:
    """Cheater detection: forced answers in two groups, and some people who always say no.

    Parameters
    ----------
    yes, no : two numbers
        Probability of being told to say yes, or no, in each group; ``no`` is 0 in the model of [1]_ and
        positive in the symmetric one of [2]_.

    Notes
    -----
    ``lam_g = f (1 - no_g) + h yes_g`` for the shares ``f`` of honest yes and ``h`` of honest no; the rest cheats.

    References
    ----------
    .. [1] S. J. Clark, R. A. Desharnais, "Honest answers to embarrassing questions: detecting cheating in the
       randomized response model", Psychological Methods 3 (1998), 160-168.
    .. [2] M. Ostapczuk, M. Moshagen, Z. Zhao, J. Musch, "Assessing sensitive attributes using the randomized
       response technique: evidence for the importance of response symmetry", Journal of Educational and
       Behavioral Statistics 34 (2009), 267-287.

    Examples
    --------
    0.38 = f + h/4 and 0.66 = f + 3h/4, so h = 0.56, f = 0.24, and 0.2 cheat:

    >>> cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]]).share
    (0.56, 0.24, 0.2)
    """
    check_kind(yes, Collection, "yes")
    check_kind(no, Collection, "no")
    matrices = []
    if len(yes) != 2 or len(no) != 2:
        raise ParameterError(f"yes, no: must be one probability for each of 2 groups, got {len(yes)} and {len(no)}")
    for g in range(2):
        y, z = _share(yes[g], f"yes[{g}]"), _share(no[g], f"no[{g}]")
        # The rest, 1 - yes - no, is told to answer truthfully.
        if y + z > 1:
            raise ParameterError(f"yes[{g}] + no[{g}]: must be at most 1, got {y + z}")
        # Columns: honest no, honest yes, cheater (always says no).
        matrices.append(((1 - y, z, Fraction(1)), (y, 1 - z, Fraction(0))))
    return Groups(tuple(matrices), NO_YES, ("no", "yes", "cheater"), "cheater_detection")


def stochastic_lie_detector(p1: Number, p2: Number) -> Groups:
    """Stochastic lie detector: carriers are told to say yes and may lie; the others say no with ``p1`` or ``p2``.

    ``lam_g = a + c (1 - p_g)`` for the shares ``a`` of honest carriers and ``c`` of non-carriers. The prevalence is
    the share of both kinds of carriers together, and the probability ``t`` that a carrier is honest is the share of the
    honest among them; `combined_share` estimates both, and commands print them.

    References
    ----------
    M. Moshagen, J. Musch, E. Erdfelder, "A stochastic lie detector", Behavior Research Methods 44 (2012), 222-231.

    Examples
    --------
    0.66 = a + 0.8 c and 0.40 = a + 0.2 c, so c = 0.26 / 0.6 and the prevalence is 1 - c = 0.5667:

    >>> result = stochastic_lie_detector("0.2", "0.8").estimate([[170, 330], [300, 200]])
    >>> round(1 - result.share[0], 4)
    0.5667
    """
    one, zero = Fraction(1), Fraction(0)
    # Columns: no, honest carrier (says yes), lying carrier (says no).
    matrices = tuple(((p, zero, one), (1 - p, one, zero)) for p in (_share(p1, "p1"), _share(p2, "p2")))
    carriers = ("yes, honest", "yes, lying")
    derived = (Derived("prevalence", carriers), Derived("t, honest among carriers", carriers[:1], carriers))
    return Groups(matrices, NO_YES, ("no", *carriers), "stochastic_lie_detector", derived)


def _yes_no(name: str, yes_if_yes: Fraction, yes_if_no: Fraction, responses: tuple[str, str] = NO_YES) -> Channel:
    # Rows: no, yes; columns: truth no, truth yes.
    matrix = ((1 - yes_if_no, 1 - yes_if_yes), (yes_if_no, yes_if_yes))
    return Channel(matrix, responses, NO_YES, name)


def _share(value: Number, subject: str) -> Fraction:
    number = rational(value, subject)
    if not 0 <= number <= 1:
        raise ParameterError(f"{subject}: must be a probability in [0, 1], got {value!s}")
    return number
