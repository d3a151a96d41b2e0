"""What a formula says: its variables, its covariates for the rows of a table, and nothing that runs other Python."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from deniable.errors import ParameterError, check_kind, describe
from deniable.installing import install_hint
from deniable_statistics.regression.factor import Array


def sides(formula: str) -> tuple[str, str]:
    """The two sides of a formula, as they are written.

    >>> sides("report ~ age + sex")
    ('report', 'age + sex')
    """
    check_kind(formula, str, "formula")
    left, tilde, right = formula.partition("~")
    if not (tilde and left.strip() and right.strip()):
        raise ParameterError(f'formula: must be like "report ~ age + sex", got {formula!r:.80}')
    return left.strip(), right.strip()


def variables(side: str, is_column: Callable[[str], bool]) -> list[str]:
    """The columns that one side of a formula names, each once.

    Parameters
    ----------
    side : str
    is_column : callable
        Whether a factor as it is written, such as ``drugs[cocaine]``, is a column, and no expression of others.

    Examples
    --------
    >>> variables("age + C(region) + log(`net income`)", lambda name: name == "age")
    ['age', 'region', 'net income']
    >>> variables("scale(age) + bs(`net income`, df=4)", lambda name: False)
    ['age', 'net income']
    """
    found: dict[str, None] = {}
    for factor in (factor for term in _terms(side, is_column) for factor in term.factors):
        if is_column(str(factor)):
            found[str(factor)] = None
        else:
            found |= dict.fromkeys(sorted(_expression(factor).columns))
    return list(found)


def columns_of_outcome(outcome: str, is_question: Callable[[str], bool], is_column: Callable[[str], bool]) -> list[str]:
    """The left side of a formula without its backticks, or the columns from which it is computed.

    >>> [columns_of_outcome(each, "q".__eq__, "income".__eq__) for each in ("q", "income", "log(income)")]
    [['q'], ['income'], ['income']]
    """
    return [outcome] if is_question(outcome) or is_column(outcome) else variables(outcome, is_question)


def columns_in(formula: str, is_question: Callable[[str], bool], is_column: Callable[[str], bool]) -> list[str]:
    """The questions and columns that a formula names, with those from which its outcome is computed.

    >>> columns_in("log(income) ~ q + age", "q".__eq__, {"income", "age"}.__contains__)
    ['income', 'q', 'age']
    """
    left, right = sides(formula)
    return [*columns_of_outcome(left.strip("`"), is_question, is_column), *variables(right, is_question)]


def computes_with_columns(side: str, is_column: Callable[[str], bool]) -> bool:
    """Whether one side of a formula computes with whole columns, as ``scale(age)`` does with their mean.

    If it does, rows that are alike must stay apart.

    >>> every = ("age + C(region)", "np.log(age)", "I(scale(age) ** 2)", "drugs[cocaine]")
    >>> [computes_with_columns(side, "drugs[cocaine]".__eq__) for side in every]
    [False, False, True, False]
    """
    factors = [factor for term in _terms(side, is_column) for factor in term.factors]
    return any(_expression(factor).needs_whole_columns for factor in factors if not is_column(str(factor)))


def refuse_interactions(formula: str, randomised: Sequence[str]) -> None:
    """Raise a ParameterError unless every randomised predictor is a plain term of a formula, and in no other."""
    terms = list(_terms(sides(formula)[1], randomised.__contains__))
    named = {str(term) for term in terms}
    found = [f"no {name}" for name in randomised if name not in named]
    found += [str(t) for t in terms if str(t) not in randomised and any(_is_of(f, randomised) for f in t.factors)]
    if found:
        raise ParameterError(
            "formula: must hold every randomised predictor as a plain term without interactions for corrected least "
            f"squares, got {', '.join(found)}; maximum likelihood takes them"
        )


def check_holds(side: str, randomised: Sequence[str]) -> None:
    """Raise a ParameterError unless one side of a formula holds every randomised predictor."""
    factors = [factor for term in _terms(side, randomised.__contains__) for factor in term.factors]
    if missing := [name for name in randomised if not any(_is_of(factor, [name]) for factor in factors)]:
        raise ParameterError(f"formula: must hold every randomised predictor, got no {', '.join(missing)}")


def known_terms(side: str, randomised: Sequence[str]) -> Any:
    """What the terms of one side leave without their randomised factors."""
    types = _formulaic().parser.types
    found = {}
    for term in _terms(side, randomised.__contains__):
        factors = [factor for factor in term.factors if not _is_of(factor, randomised)]
        if factors:
            found[str(types.Term(factors))] = types.Term(factors)
    return _formulaic().Formula(list(found.values()))


def with_truths(side: str, randomised: Sequence[str]) -> Any:
    """The terms of one side of a formula in which randomised predictors are columns by their names."""
    types = _formulaic().parser.types
    terms = [
        types.Term([_lookup(factor) if str(factor) in randomised else factor for factor in term.factors])
        for term in _terms(side, randomised.__contains__)
    ]
    return _formulaic().Formula(terms)


def model_matrix(terms: Any, table: pd.DataFrame, na_action: str = "ignore") -> Any:
    """The columns of one side of a formula, as it is written or as formulaic holds it; they know how to code others.

    Raises
    ------
    ParameterError
        If the table does not have what the terms need.
    """
    parsed = _terms(terms) if isinstance(terms, str) else terms
    factors = [factor for term in getattr(parsed, "formula", parsed) for factor in term.factors]
    names = sorted(set().union(*(_expression(factor).columns for factor in factors)))
    for name in names:
        if name not in table.columns:  # formulaic would look among its functions, too
            known = ", ".join(map(str, table.columns[:20]))
            raise ParameterError(f"formula: {name} must be a column of the data ({known})")
    if na_action == "drop" and not any(str(factor).startswith("lag(") for factor in factors):
        # A single gap would make all of scale(age) missing. Only lag needs the rows with gaps, for their places.
        whole = table.dropna(subset=names)
        table = table if whole.empty else whole
    return _computed(parsed, table, na_action, "formula")


def _computed(terms: Any, table: pd.DataFrame, na_action: str, subject: str) -> Any:
    """What formulaic computes, whose errors become sentences; values of columns are not quoted."""
    try:
        # log(0) and overflows become errors, because infinite covariates would surface far from here
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return terms.get_model_matrix(table, na_action=na_action)
    except _formulaic().errors.FormulaicError as error:
        message = str(error).splitlines()[0]
        if isinstance(error.__cause__, FloatingPointError):
            message = f"must give finite numbers. {message}"
        elif isinstance(error.__cause__, ValueError):
            message = f"{message.partition(' [')[0]} Its columns do not hold what it takes"
        raise ParameterError(f"{subject}: {message}") from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        _refuse_unknown_references(terms, table)
        raise ParameterError(
            f"{subject}: must be computable from these columns, but formulaic fails ({type(error).__name__})"
        ) from None


def _refuse_unknown_references(terms: Any, table: pd.DataFrame) -> None:
    """Raise a ParameterError if a factor names a reference level that its column does not have."""
    for factor in {factor for term in getattr(terms, "formula", terms) for factor in term.factors}:
        if not (found := _named_reference(str(factor))) or found[0] not in table.columns:
            continue
        column, base = found
        values = table[column]
        known = list(values.cat.categories if isinstance(values.dtype, pd.CategoricalDtype) else values.unique())
        levels = sorted(each for each in known if not pd.isna(each))
        if base not in levels:
            listed = ", ".join(map(_level, levels[:MOST_LEVELS])) + (", ..." if len(levels) > MOST_LEVELS else "")
            raise ParameterError(
                f"formula: {factor} must name one of the levels of {column} ({listed}), got {base!r:.80}"
            )


def _level(level: Any) -> str:
    """A level as a formula names it; a whole number without the .0 that a column with gaps gives it."""
    number = isinstance(level, (int, float, np.number))
    return f"{level:g}" if number and float(level).is_integer() else repr(level)


def _named_reference(text: str) -> tuple[str, Any] | None:
    """The column and the reference level of ``C(column, Treatment("level"))``; None for any other factor.

    >>> _named_reference("C(region, contr.treatment(base='north'))"), _named_reference("log(age)")
    (('region', 'north'), None)
    """
    if not (parsed := _parsed(text)):
        return None
    body, quoted = parsed
    match body:
        case ast.Call(
            func=ast.Name(id="C"),
            args=[
                ast.Name(id=column),
                ast.Call(
                    func=ast.Name(id="Treatment") | ast.Attribute(attr="treatment"), args=given, keywords=keywords
                ),
            ],
            keywords=[],
        ):
            match [*given, *(keyword.value for keyword in keywords)]:
                case [ast.Constant(value=base)]:
                    return quoted.get(column, column), base
    return None


@dataclass(frozen=True)
class Coding:
    """How formulaic coded the covariates of a formula, to code new data alike."""

    spec: Any

    def __call__(self, newdata: Any) -> Array:
        """The columns of new data, shape (rows, columns).

        Raises
        ------
        ParameterError
            If something is missing, or a categorical column has a level that the fit did not see.
        """
        from formulaic.errors import DataMismatchWarning

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of pandas, about the levels that the next line refuses
                warnings.simplefilter("error", DataMismatchWarning)
                return np.asarray(_computed(self.spec, as_table(newdata), "ignore", "newdata"), dtype=float)
        except DataMismatchWarning:
            raise ParameterError("newdata: has levels of a covariate that the fit did not see") from None


def reference_levels(coding: Any) -> dict[str, tuple[str, str]]:
    """The name and the reference level of each factor that has treatment contrasts, by the factor as it is written.

    >>> matrix = model_matrix("C(year, Treatment(2))", pd.DataFrame({"year": [1, 2, 3]}))
    >>> reference_levels(Coding(matrix.model_spec))
    {'C(year, Treatment(2))': ('year', '2')}
    """
    if not isinstance(coding, Coding):
        return {}
    found = {}
    for factor, state in coding.spec.factor_contrasts.items():
        # Only of a full coding, formulaic names the level that a reduced one leaves out.
        level = state.contrasts.get_drop_field(state.levels, reduced_rank=False)
        if level is not None:
            found[str(factor)] = (factor_name(str(factor)), level_name(level))
    return found


def factor_name(factor: str) -> str:
    """What a factor is of: the column that it is or codes, or what is computed from columns.

    >>> [factor_name(each) for each in ("C(`birth year`, Sum)", "C(age > 30)", "I(2 * age)", "drugs[speed]")]
    ['birth year', 'age > 30', '2 * age', 'drugs[speed]']
    """
    match _parsed(factor):
        case ast.Call(func=ast.Name(id="C" | "I"), args=[first, *_]), quoted:
            text = ast.unparse(first)
            for name, column in quoted.items():
                text = text.replace(name, column)
            return text
        case _:
            return factor


def level_name(level: Any) -> str:
    """A level as people write it.

    >>> level_name("first year"), level_name(2025.0), level_name(True)
    ('first year', '2025', 'True')
    """
    return str(level) if isinstance(level, (str, bool)) else _level(level)


def as_table(data: Any) -> pd.DataFrame:
    """The table of a formula."""
    if not isinstance(data, (pd.DataFrame, Mapping)):
        raise ParameterError(f"data: must be a table or a mapping of columns for a formula, got {describe(data)}")
    return pd.DataFrame(data).reset_index(drop=True)


def _is_of(factor: Any, randomised: Sequence[str]) -> bool:
    """Whether a factor is computed from randomised predictors, and from nothing else.

    Raises
    ------
    ParameterError
        If it is computed from both.
    """
    if str(factor) in randomised:
        return True
    needed = _expression(factor).columns
    if needed & set(randomised) and needed - set(randomised):
        raise ParameterError(
            f"formula: must not compute {factor} from a randomised predictor and a covariate together; an interaction "
            "is written with a colon"
        )
    if needed & set(randomised) and str(factor).startswith("lag("):
        raise ParameterError(f"formula: must not hold {factor}, because nobody knows the truth of the row before")
    return bool(needed & set(randomised))


def _lookup(factor: Any) -> Any:
    """A factor that is a column of that name, whatever the name."""
    types = _formulaic().parser.types
    return types.Factor(str(factor), eval_method=types.Factor.EvalMethod.LOOKUP)


def _expression(factor: Any) -> Expression:
    """What a factor is computed from."""
    methods = _formulaic().parser.types.Factor.EvalMethod
    if factor.eval_method is methods.PYTHON:
        return read_expression(factor.expr)
    return Expression(frozenset([factor.expr] if factor.eval_method is methods.LOOKUP else []), False)


def _terms(side: str, is_column: Callable[[str], bool] = lambda name: False) -> Any:
    """The terms of one side of a formula, which holds nothing but what formulas may hold."""
    formulaic = _formulaic()
    try:
        parsed = formulaic.Formula(side)
    except formulaic.errors.FormulaicError as error:
        if random_effect := _RANDOM_EFFECT.search(side):
            raise ParameterError(_no_random_effects(*random_effect.group(0, 1))) from None
        # Without the picture in colours that follows in further lines.
        raise ParameterError(f"formula: {str(error).splitlines()[0]}") from None
    except (SyntaxError, ValueError, RecursionError):  # it parses the Python of each factor, too
        raise not_python(side) from None
    if not isinstance(parsed, formulaic.SimpleFormula):
        raise ParameterError(f"formula: must have one right side without parts, got {side!r:.80}")
    for factor in (factor for term in parsed for factor in term.factors):
        if not is_column(str(factor)):  # drugs[cocaine] is a name, and Python of another meaning
            _expression(factor)
    return parsed


_RANDOM_EFFECT = re.compile(r"\([^()|]*\|{1,2}\s*([^()|]*[^()|\s])\s*\)")
"""``(1 + age | region)``, as R's lme4 and brms write it."""


def _no_random_effects(written: str, by: str) -> str:
    return (
        f"formula: must not have {written:.80}, because random effects are not offered; take C({by:.80}) for an effect "
        f"of each {by:.80}, or make {by:.80} the cluster of the sampling design (--cluster), whose standard "
        "errors know that rows of one belong together"
    )


def _formulaic() -> Any:
    try:
        import formulaic
    except ImportError:
        raise ParameterError(f"formula: needs formulaic; {install_hint('research')}") from None
    return formulaic


MOST_LEVELS = 20
"""Largest number of levels of a column that a message lists."""
BY_ITSELF = {"I": 1, "abs": 1, "log": 1, "log10": 1, "log2": 1, "exp": 1, "exp10": 1, "exp2": 1}
"""Functions by their plain names that compute each value by itself, with how many arguments they take."""
NUMPY_BY_ITSELF = {"where": 3, "clip": 3, "round": 1}
"""Functions of numpy besides its ufuncs that compute each value by itself, with how many arguments they take."""
WHOLE_COLUMNS = {"scale", "standardize", "center", "poly", "bs", "cr", "cs", "cc", "lag"}
"""Functions of formulaic that compute each value from a whole column."""
CODINGS = {"C", "hashed", "Treatment", "Sum", "Helmert", "Poly", "Diff"}
CONTRASTS = {"treatment", "sum", "helmert", "poly", "diff", "SAS", "custom"}
"""Attributes of ``contr`` that formulas may use, such as ``contr.treatment``."""
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
SIGNS = (ast.UAdd, ast.USub, ast.Invert)
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
ALLOWED = (
    "columns, numbers, texts, arithmetic, comparisons with & | ~, functions that compute each value by itself "
    "(log, exp, abs, I, np.sqrt), C(region) with its contrasts, and scale, center, poly, bs, cr, cs, cc, lag"
)


@dataclass(frozen=True)
class Expression:
    """What a formula computes a covariate from.

    Attributes
    ----------
    columns : frozenset of str
    needs_whole_columns : bool
        Whether a value depends on other rows, as that of ``scale(age)`` does.
    """

    columns: frozenset[str]
    needs_whole_columns: bool


def read_expression(text: str) -> Expression:
    """Read the Python of one factor of a formula, without running it.

    Raises
    ------
    ParameterError
        If it holds anything else than `ALLOWED`: what is not known to compute each value by itself would be wrong
        where rows that are alike are fitted once, and would run whatever a formula says.

    Examples
    --------
    >>> sorted(read_expression("log(`net income` / age)").columns)
    ['age', 'net income']
    >>> read_expression("I(center(age) ** 2)").needs_whole_columns
    True
    """
    parsed = _parsed(text)
    if parsed is None:
        raise not_python(text)
    body, quoted = parsed
    reader = _Reader(text, quoted)
    reader.read(body)
    return Expression(frozenset(reader.columns), reader.needs_whole_columns)


def _parsed(text: str) -> tuple[ast.expr, dict[str, str]] | None:
    """The Python of a factor, and the columns in backticks by their names in it; None if it is not Python."""
    from formulaic.utils.code import sanitize_variable_names

    quoted: dict[str, str] = {}
    try:
        # formulaic's own way with backticks: `net age` becomes a Python name, and quoted says which
        return ast.parse(sanitize_variable_names(text, {}, quoted), mode="eval").body, quoted
    except (SyntaxError, ValueError, IndexError, RecursionError):
        return None


def not_python(text: str) -> ParameterError:
    """The error of a formula that nobody can read."""
    return ParameterError(f"formula: must be made of expressions, got {text!r:.80}. {_HINT}")


_HINT = f"Formulas take {ALLOWED}; names like `net.age` stand in backticks. Make a column of anything else first"


class _Reader:
    def __init__(self, text: str, quoted: dict[str, str]) -> None:
        self.text, self.quoted = text, quoted
        self.columns: set[str] = set()
        self.needs_whole_columns = False

    def read(self, node: ast.expr) -> None:
        """Read one node and all below it."""
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None):
                pass
            case ast.Name(id=name):
                self.columns.add(self.quoted.get(name, name))
            # arithmetic and comparisons of two compute each value by itself
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, ARITHMETIC):
                self.read(left)
                self.read(right)
            case ast.UnaryOp(op=op, operand=operand) if isinstance(op, SIGNS):
                self.read(operand)
            # no chains: a < b < c would ask Python for the truth of a whole column
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, COMPARISONS):
                self.read(left)
                self.read(right)
            case ast.Call(func=func, args=args, keywords=keywords):
                self._read_call(node, func, args, keywords)
            case _:
                self._refuse(node)

    def _read_call(self, node: ast.Call, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> None:
        size = _arguments(func)
        if size is not None:
            if len(args) != size or keywords:
                self._refuse(node, f", because {ast.unparse(func)} takes {size} columns or numbers and nothing else")
            for each in args:
                self.read(each)
            return
        match func:
            case ast.Name(id=name) if name in WHOLE_COLUMNS:
                self.needs_whole_columns = True
            case ast.Name(id=name) if name in CODINGS:
                pass
            # contr.treatment(base="x") and the like
            case ast.Attribute(value=ast.Name(id="contr"), attr=name) if name in CONTRASTS:
                pass
            case _:
                self._refuse(node)
        for each in [*args, *(keyword.value for keyword in keywords)]:
            self._read_setting(each)
        # **settings, and private arguments of formulaic such as _state
        if any(keyword.arg is None or keyword.arg.startswith("_") for keyword in keywords):
            self._refuse(node)

    def _read_setting(self, node: ast.expr) -> None:
        """Read an argument of a function that knows the columns, such as a list of knots or levels."""
        if isinstance(node, (ast.List, ast.Tuple)):
            for each in node.elts:
                self._read_setting(each)
        else:
            self.read(node)

    def _refuse(self, node: ast.expr, because: str = "") -> NoReturn:
        what = ast.unparse(node)
        for name, column in self.quoted.items():
            what = what.replace(name, f"`{column}`") if name != column else what
        within = "" if what == self.text else f" in {self.text:.80}"
        raise ParameterError(f"formula: must not hold {what:.80}{within}{because}. {_HINT}")


def _arguments(func: ast.expr) -> int | None:
    """How many arguments a function takes that computes each value by itself; None of any other."""
    match func:
        case ast.Name(id=name):
            return BY_ITSELF.get(name)
        case ast.Attribute(value=ast.Name(id="np"), attr=name):
            # one output for each input: np.modf gives two columns, np.matmul mixes rows
            found = getattr(np, name, None)
            if isinstance(found, np.ufunc) and found.signature is None and found.nout == 1:
                return found.nin
            return NUMPY_BY_ITSELF.get(name)
        case _:
            return None
