"""Arithmetic in texts of users: numbers, names, parentheses and the operators + - * / // % **. Nothing is executed."""

import ast
import operator
from typing import Callable, Mapping

from ridgebench.base.text import quoted

_MOST_EXPONENT = 8


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > _MOST_EXPONENT:
        raise ValueError(f"the exponent {exponent:g}; allowed: up to {_MOST_EXPONENT}")
    float(base) ** exponent  # an overflow raises, before a whole number of many digits is made
    return base**exponent


_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}
_RAISED = (ArithmeticError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _evaluate(node: ast.AST, names: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left, names), _evaluate(node.right, names))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.operand, names))
    raise ValueError(f"{quoted(ast.unparse(node))} is not a number, an operator of + - * / // % **, or one of {sorted(names)}")


def evaluate(text: str, names: Mapping[str, float]) -> float:
    """The value of an expression; whole where its numbers are and it does not divide. Raises ValueError."""
    try:
        value = _evaluate(_parsed(text), names)
        float(value)  # raises where it is complex or too large
        return value
    except _RAISED as error:
        raise ValueError(str(error)) from None


def names_in(text: str) -> list[str]:
    """The names of an expression, in their order. Raises ValueError."""
    try:
        tree = _parsed(text)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        _evaluate(tree, {node.id: 1 for node in found})
    except ZeroDivisionError:
        pass  # other sizes may have a value
    except _RAISED as error:
        raise ValueError(str(error)) from None
    return list(dict.fromkeys(node.id for node in sorted(found, key=lambda node: node.col_offset)))
