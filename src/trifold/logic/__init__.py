"""Relational joins: formulas, what they denote, and their compilation to R-GNN[t] weights."""

from trifold.logic.compiler import TOLERANCE, compile_joins, linear_readout
from trifold.logic.evaluation import evaluate
from trifold.logic.formulas import Atom, Conjunction, Disjunction, Formula, Join, Negation, converse, subformulas
from trifold.logic.fragment import holds_apart, reaches, required_t
from trifold.logic.parameters import Parameters, parameters
from trifold.logic.parser import parse

__all__ = [
    "TOLERANCE",
    "Atom",
    "Conjunction",
    "Disjunction",
    "Formula",
    "Join",
    "Negation",
    "Parameters",
    "compile_joins",
    "converse",
    "evaluate",
    "holds_apart",
    "linear_readout",
    "parameters",
    "parse",
    "reaches",
    "required_t",
    "subformulas",
]
