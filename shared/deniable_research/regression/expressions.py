"""What may stand in a formula: columns, numbers, texts, arithmetic and known functions, and no other Python."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from deniable.errors import ParameterError

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
    from formulaic.utils.code import sanitize_variable_names

    quoted: dict[str, str] = {}
    try:
        # formulaic's own way with backticks: `net age` becomes a Python name, and quoted says which
        body = ast.parse(sanitize_variable_names(text, {}, quoted), mode="eval").body
    except (SyntaxError, ValueError, IndexError, RecursionError):
        raise not_python(text) from None
    reader = _Reader(text, quoted)
    reader.read(body)
    return Expression(frozenset(reader.columns), reader.needs_whole_columns)


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
