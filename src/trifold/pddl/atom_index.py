"""The numbering of a live problem's atoms: from pymimir's states to arrays, many states at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from trifold.pddl.atoms import EVERY_OBJECT, AtomTable, Integers
from trifold.pddl.description import DomainDescription, Literal
from trifold.pddl.engine import Engine
from trifold.pddl.problem_description import ProblemDescription
from trifold.structures import CONSTANT

UNSEEN, INVENTED = -1, -2
"""In place of the index of an atom that has none: not met yet, or pymimir's own and no relation."""


class AtomIndex:
    """The varying atoms of a problem, numbered as they are met: pymimir numbers ground atoms as it creates them.

    static     the static atoms, types aside
    literals   the atom of each index
    """

    def __init__(self, domain: DomainDescription, description: ProblemDescription, engine: Engine) -> None:
        self.relations, self.engine = domain.relations, engine
        self.relation_of = {name: index for index, (name, _) in enumerate(domain.relations)}
        self.object_of = {name: index for index, name in enumerate(description.objects)}
        self.predicates = domain.predicates
        self.width = max((arity for _, arity in domain.relations), default=1)
        pymimir_domain = engine.problem.get_domain()
        self.has_derived = bool(len(engine.problem.get_problem_and_domain_derived_predicates()))
        varying = {
            predicate.get_name()
            for predicates in (pymimir_domain.get_fluent_predicates(), pymimir_domain.get_derived_predicates())
            for predicate in predicates
        }
        self.static = [literal for literal in description.initial if literal.predicate not in varying]
        facts = [(literal.predicate, literal.arguments) for literal in self.static]
        for name, types in description.objects.items():
            above = domain.types_above(types)
            facts += [(rel, (name,)) for kind, rel in domain.type_relations.items() if kind in above]
        facts += [(CONSTANT + name, (name,)) for name in domain.named_constants]
        for literal in description.goal:
            facts.append((f"{literal.predicate}@goal{'' if literal.positive else '-not'}", literal.arguments))
        rows = sorted(self.row(*fact) for fact in facts)
        self.static_rows = np.array(rows, np.int32).reshape(-1, 1 + self.width)
        self.goal = frozenset(literal for literal in description.goal if literal.predicate in varying)
        holds = set(self.static)
        self.unmet_static = sum(
            (literal._replace(positive=True) in holds) != literal.positive
            for literal in description.goal
            if literal.predicate not in varying
        )
        self.signs = np.empty(0, np.int64)  # of each index: 1 if the goal asks for the atom, −1 if for its negation
        self.literals: list[Literal] = []
        self._rows = np.empty((64, 1 + self.width), np.int32)  # of the literals, with room for more
        self.index_of = np.empty(0, np.int32)  # pymimir's code of an atom → our index, UNSEEN or INVENTED
        self.has_invented = False
        self._table: AtomTable | None = None

    def row(self, relation: str, arguments: tuple[str, ...]) -> list[int]:
        """The relation and the padded arguments of an atom."""
        indices = [self.object_of[name] for name in arguments] or [EVERY_OBJECT]
        return [self.relation_of[relation], *indices, *[0] * (self.width - len(indices))]

    @property
    def rows(self) -> Integers:
        """(A, 1 + m) the atoms met so far, as ``row`` gives them."""
        return self._rows[: len(self.literals)]

    @property
    def table(self) -> AtomTable:
        """The atoms met so far."""
        if self._table is None:
            varying = self.rows
            self._table = AtomTable(
                self.relations,
                tuple(self.object_of),
                varying[:, 0],
                varying[:, 1:],
                self.static_rows[:, 0],
                self.static_rows[:, 1:],
            )
        return self._table

    def gather(self, handles: Sequence[Any]) -> tuple[Integers, Integers]:
        """The atoms of pymimir's states: offsets (states + 1,) and our indices of the atoms (Σ atoms,)."""
        counts, codes = _codes([list(handle.get_fluent_atoms()) for handle in handles])
        codes *= 2  # even codes are fluent atoms, odd ones derived
        if self.has_derived:
            more, derived = _codes([list(handle.get_derived_atoms()) for handle in handles])
            owner = np.concatenate([np.repeat(np.arange(len(handles)), count) for count in (counts, more)])
            codes = np.concatenate([codes, 2 * derived + 1])[np.argsort(owner, kind="stable")]
            counts = counts + more
        if codes.size and (codes.max() >= len(self.index_of) or (self.index_of[codes] == UNSEEN).any()):
            self._learn(np.flatnonzero(np.bincount(codes)))  # np.unique would load numpy.ma, for 9 ms
        indices = self.index_of[codes]
        if self.has_invented:
            kept = indices != INVENTED
            owner = np.repeat(np.arange(len(handles)), counts)[kept]
            counts, indices = np.bincount(owner, minlength=len(handles)), indices[kept]
        return np.concatenate([[0], np.cumsum(counts)]), indices

    def count_unmet(self, handles: Sequence[Any]) -> Integers:
        """How many literals of the goal do not hold in each of pymimir's states, (states,)."""
        offsets, indices = self.gather(handles)
        if len(self.signs) < len(self.literals):
            new = [
                (literal in self.goal) - (literal._replace(positive=False) in self.goal)
                for literal in self.literals[len(self.signs) :]
            ]
            self.signs = np.concatenate([self.signs, np.array(new, np.int64)])
        met = np.concatenate([[0], np.cumsum(self.signs[indices])])[offsets]
        return self.unmet_static + sum(literal.positive for literal in self.goal) - np.diff(met)

    def _learn(self, codes: Integers) -> None:
        """Number the atoms that were not met before."""
        grown = np.full(max(int(codes.max()) + 1, len(self.index_of)), UNSEEN, np.int32)
        grown[: len(self.index_of)] = self.index_of
        self.index_of = grown
        new = codes[grown[codes] == UNSEEN]
        repositories = self.engine.problem.get_repositories()
        for kind, look_up in enumerate(
            (repositories.get_fluent_ground_atoms_from_indices, repositories.get_derived_ground_atoms_from_indices)
        ):
            chosen = new[new % 2 == kind]
            for code, atom in zip(chosen.tolist(), look_up((chosen // 2).tolist()), strict=True):
                name = atom.get_predicate().get_name()
                if name in self.predicates:
                    grown[code] = len(self.literals)
                    self._add(Literal(name, tuple(item.get_name() for item in atom.get_objects())))
                else:
                    grown[code] = INVENTED
                    self.has_invented = True
        self._table = None

    def _add(self, literal: Literal) -> None:
        """Give the next number to an atom. Rows that were handed out stay as they are."""
        if len(self.literals) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[len(self.literals)] = self.row(literal.predicate, literal.arguments)
        self.literals.append(literal)


def _codes(lists: Sequence[Sequence[int]]) -> tuple[Integers, Integers]:
    """Lengths (lists,) and all members (Σ lengths,) of lists of integers."""
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    return counts, np.fromiter(chain.from_iterable(lists), np.int64, int(counts.sum()))
