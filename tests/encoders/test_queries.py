"""Queries are encoded beside a state: nothing of it changes, and each finds the elements that its definition names."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from oracles import SIGNATURE, Naive, from_naive, naive_pairs, naive_structures
from oracles_pairs import BINARY, binary_structures, square
from trifold.domains import DOMAINS, domain_text
from trifold.encoders import (
    Compositions,
    Encoder,
    Marks,
    Oblivious,
    Pairs,
    Plain,
    Queried,
    encode_all,
    encode_chunks,
    layer_rows,
)
from trifold.nn import RGNN, ActionScores, find_queries, pool_readout
from trifold.pddl import expand
from trifold.structures import READOUT, Relation, Signature, Structures, concatenate, query_relations

SCHEMAS = [("go", 2), ("light", 0), ("pick", 1), ("swap", 3)]
QUERIES = query_relations(SCHEMAS)
LIVE = [Pairs(0), Pairs(1), Pairs(2), Pairs(math.inf)]
ENCODERS: list[Encoder] = [Plain(), *LIVE, Compositions(), Oblivious(), Marks()]
BOUND_TO_TWO = (Oblivious(), Marks())
"""These refuse predicates of more than two arguments, but not actions."""

Asked = list[tuple[Relation, tuple[int, ...]]]
"""The queries of one structure over objects, in any order."""


def label(encoder: Encoder) -> str:
    return encoder.label


def predicates(encoder: Encoder) -> Signature:
    return BINARY if encoder in BOUND_TO_TWO else SIGNATURE


def with_queries(naive: list[Naive], asked: list[Asked], signature: Signature = SIGNATURE) -> Structures:
    """Structures with queries, each in the order in which it is given."""
    atoms = {
        name: [sorted(list(args) for relation, args in atoms if relation == name) for _, atoms in naive]
        for name in signature.names
    }
    for query in QUERIES:
        atoms[query.name] = [[list(args) for relation, args in some if relation == query] for some in asked]
    return Structures.build(Signature((*signature, *QUERIES)), [n for n, _ in naive], atoms)


@st.composite
def cases(draw: st.DrawFn, signature: Signature, most: int = 3) -> tuple[list[Naive], list[Asked]]:
    """Structures of few objects and few atoms, so that pairs lack, and what is asked of each: also nothing."""
    structure = binary_structures(4, 4) if signature is BINARY else naive_structures(4, 4)
    naive = draw(st.lists(structure, min_size=1, max_size=most))
    asked = []
    for n, _ in naive:
        some = draw(st.lists(st.tuples(st.sampled_from(QUERIES), st.tuples(*[st.integers(0, n - 1)] * 3)), max_size=4))
        asked.append([(query, items[: query.arity]) for query, items in some])
    return naive, asked


def rows_by_structure(structures: Structures, name: str) -> list[list[list[int]]]:
    """The atoms of a relation, one list for each structure, in their order."""
    rows, result = structures.atoms(name).tolist(), []
    for count in structures.atom_counts[structures.signature.index(name)].tolist():
        result.append(rows[:count])
        rows = rows[count:]
    assert not rows
    return result


def assert_same(left: Structures, right: Structures) -> None:
    """The same atoms in the same order, over as many elements."""
    assert left.signature == right.signature
    assert left.element_counts.tolist() == right.element_counts.tolist()
    assert left.atom_counts.tolist() == right.atom_counts.tolist()
    assert left.arguments.tolist() == right.arguments.tolist()


def pairs_by_structure(encoded: Structures) -> list[list[tuple[int, int]]]:
    """The pairs that are elements, one list for each structure."""
    assert encoded.pairs is not None
    pairs, result = [(a, b) for a, b in encoded.pairs.tolist()], []
    for count in encoded.element_counts.tolist():
        result.append(pairs[:count])
        pairs = pairs[count:]
    return result


def naive_elements(args: list[int], pairs: list[tuple[int, int]] | None) -> list[int]:
    """The elements that a query reads: objects, or ⟨o_i,o_j⟩ row by row, and one after the last for what lacks."""
    if pairs is None:
        return args
    found = []
    for first in args:
        for second in args:
            found.append(pairs.index((first, second)) if (first, second) in pairs else len(pairs))
    return found


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
@settings(max_examples=6)
@given(data=st.data())
def test_the_state_is_encoded_as_without_queries(encoder: Encoder, data: st.DataObject) -> None:
    naive, asked = data.draw(cases(predicates(encoder)))
    plain = encoder(from_naive(naive, predicates(encoder)))
    queried = Queried(encoder)(with_queries(naive, asked, predicates(encoder)))
    relations = plain.signature.relations
    assert queried.signature.relations[: len(relations)] == relations and READOUT in plain.signature
    assert queried.atom_counts[: len(relations)].tolist() == plain.atom_counts.tolist()
    assert queried.arguments[: len(plain.arguments)].tolist() == plain.arguments.tolist()
    assert queried.message_rows().tolist() == plain.message_rows().tolist()
    assert Queried(encoder).label == encoder.label


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
@settings(max_examples=12)
@given(data=st.data())
def test_each_query_finds_the_elements_of_the_naive_loop(encoder: Encoder, data: st.DataObject) -> None:
    """And one more element is there exactly where a structure asks for a pair that is not live."""
    naive, asked = data.draw(cases(predicates(encoder)))
    structures = with_queries(naive, asked, predicates(encoder))
    plain = encoder(from_naive(naive, predicates(encoder)))
    queried = Queried(encoder)(structures)
    over: list[list[tuple[int, int]] | None] = [None] * len(naive)
    if plain.pairs is not None:
        over = list(pairs_by_structure(plain))
    lacks = [False] * len(naive)
    for query in QUERIES:
        before, after = rows_by_structure(structures, query.name), rows_by_structure(queried, query.name)
        for s, pairs in enumerate(over):
            expected = [naive_elements(args, pairs) for args in before[s]]
            if not query.reads and pairs is not None:
                expected = [[0]] * len(before[s])  # which nobody reads
            assert after[s] == expected
            lacks[s] |= pairs is not None and any(len(pairs) in elements for elements in expected)
    sizes = [n + lack for n, lack in zip(plain.element_counts.tolist(), lacks, strict=True)]
    assert queried.element_counts.tolist() == sizes
    if encoder not in LIVE:
        assert not any(lacks)


def test_live_pairs_are_found_and_all_others_are_one_element() -> None:
    """R_1 of edge(0,1) has ⟨0,1⟩ and ⟨1,0⟩; nothing relates 2 to either."""
    naive: list[Naive] = [(3, {("edge", (0, 1))})] * 3
    go, swap = QUERIES[0], QUERIES[6]
    asked: list[Asked] = [[(go, (1, 0)), (go, (1, 1))], [(go, (0, 2)), (swap, (2, 0, 2))], []]
    queried = Queried(Pairs(0))(with_queries(naive, asked))
    pairs = pairs_by_structure(Pairs(0)(from_naive(naive)))[0]
    assert pairs == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]
    assert queried.element_counts.tolist() == [5, 6, 5]
    assert rows_by_structure(queried, go.name) == [[[3, 2, 1, 0], [3, 3, 3, 3]], [[0, 5, 5, 4]], []]
    assert rows_by_structure(queried, swap.name)[1] == [[4, 5, 4, 5, 0, 5, 4, 5, 4]]


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_actions_without_arguments_are_asked_and_read_nothing(encoder: Encoder) -> None:
    light, lit = QUERIES[2:4]
    assert (light.name, light.arity, light.reads) == ("light()@applicable", 1, 0)
    naive: list[Naive] = [(2, set()), (1, {("red", (0,))})]
    queried = Queried(encoder)(with_queries(naive, [[(light, (0,))], [(lit, (0,))]], predicates(encoder)))
    for query, counts in ((light, [1, 0]), (lit, [0, 1])):
        encoded = queried.signature[query.name]
        assert (encoded.arity, encoded.reads, encoded.sends) == (1, 0, False)
        assert queried.atom_counts[queried.signature.index(query.name)].tolist() == counts
    assert queried.element_counts.tolist() == encoder(from_naive(naive, predicates(encoder))).element_counts.tolist()


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
@settings(max_examples=5)
@given(data=st.data())
def test_a_batch_gives_what_its_members_give_alone(encoder: Encoder, data: st.DataObject) -> None:
    naive, asked = data.draw(cases(predicates(encoder), most=4))
    structures = with_queries(naive, asked, predicates(encoder))
    whole = Queried(encoder)(structures)
    alone = [
        Queried(encoder)(with_queries([one], [some], predicates(encoder)))
        for one, some in zip(naive, asked, strict=True)
    ]
    assert_same(concatenate(alone), whole)
    order = torch.tensor(data.draw(st.permutations(range(len(naive)))))
    assert_same(Queried(encoder)(structures.take(order)), whole.take(order))
    assert_same(encode_all(Queried(encoder), structures, 1), whole)
    for chunk in encode_chunks(Queried(encoder), structures, 30):
        assert len(chunk) == 1 or int(layer_rows(chunk).sum()) <= 30


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_without_queries_it_is_the_encoder(encoder: Encoder) -> None:
    """The signature may have none, or no structure may ask; and there may be no structure."""
    naive: list[Naive] = [(3, {("edge", (0, 1))}), (1, set())]
    plain = from_naive(naive, predicates(encoder))
    assert Queried(encoder).signature(plain.signature) == encoder.signature(plain.signature)
    assert_same(Queried(encoder)(plain), encoder(plain))
    silent = Queried(encoder)(with_queries(naive, [[], []], predicates(encoder)))
    assert silent.element_counts.tolist() == encoder(plain).element_counts.tolist()
    assert silent.arguments.tolist() == encoder(plain).arguments.tolist()
    nobody = torch.empty(0, dtype=torch.int64)
    queried = with_queries(naive, [[], []], predicates(encoder)).take(nobody)
    assert_same(Queried(encoder)(queried), silent.take(nobody))


def test_queries_before_other_relations_are_refused() -> None:
    signature = Signature((*query_relations([("go", 2)]), *SIGNATURE))
    for encoder in (Plain(), Pairs(1)):
        for refused in (
            lambda encoder=encoder: Queried(encoder).signature(signature),
            lambda encoder=encoder: Queried(encoder)(from_naive([(2, set())], signature)),
        ):
            with pytest.raises(ValueError, match="queries come after all other relations"):
                refused()


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_an_encoded_query_has_as_many_arguments_as_elements_that_are_read(encoder: Encoder) -> None:
    power = 1 if encoder == Plain() else 2
    queries = [r for r in Queried(encoder).signature(Signature((*BINARY, *QUERIES))) if r.is_query]
    assert [query.name for query in queries] == [query.name for query in QUERIES]
    assert [query.reads for query in queries] == [arity**power for _, arity in SCHEMAS for _ in range(2)]


def test_structures_of_many_elements_keep_their_indices() -> None:
    """The one element more is the 257th: a byte cannot hold its number."""
    n = 256
    naive: list[Naive] = [(n, set()), (2, set())]
    go = QUERIES[0]
    queried = Queried(Pairs(0))(with_queries(naive, [[(go, (255, 3))], [(go, (0, 1))]]))
    assert queried.element_counts.tolist() == [n + 1, 3]
    assert rows_by_structure(queried, go.name) == [[[255, n, n, 3]], [[0, 2, 2, 1]]]
    assert queried.disjoint_union().atoms(go.name).tolist() == [[255, n, n, 3], [n + 1, n + 3, n + 3, n + 2]]


def dense(naive: list[Naive], asked: list[Asked], t: float) -> Structures:
    """A_t(S) by its definition over all n² pairs, live or not, with ⟨o,o'⟩ = o·n + o', and the queries over them."""
    signature = Pairs(t).signature(SIGNATURE)
    atoms: dict[str, list[list[list[int]]]] = {name: [] for name in signature.names}
    for n, some in naive:
        encoded = sorted(naive_pairs((n, some), t))
        for name in signature.names:
            atoms[name].append([[a * n + b for a, b in args] for relation, args in encoded if relation == name])
    encoded_queries = [Relation(query.name, query.arity**2) for query in QUERIES]
    for query in QUERIES:
        atoms[query.name] = [
            [[a * n + b for a in args for b in args] for relation, args in some if relation == query]
            for (n, _), some in zip(naive, asked, strict=True)
        ]
    sizes = [n * n for n, _ in naive]
    return Structures.build(Signature((*signature, *encoded_queries)), sizes, atoms)


def scores_of(network: RGNN, head: ActionScores, encoded: Structures) -> Tensor:
    union = encoded.disjoint_union()
    embeddings = network(union)
    return head(embeddings, pool_readout(embeddings, union), find_queries(union)).scores


@pytest.mark.parametrize("encoder", LIVE, ids=label)
@settings(max_examples=8)
@given(case=cases(SIGNATURE))
def test_the_scores_are_those_of_the_dense_form_where_all_pairs_are_elements(
    encoder: Pairs, case: tuple[list[Naive], list[Asked]]
) -> None:
    naive, asked = case
    signature = Queried(encoder).signature(Signature((*SIGNATURE, *QUERIES)))
    torch.manual_seed(5)
    network = RGNN([relation for relation in signature if relation.sends], 5, 3).double()
    head = ActionScores([relation for relation in signature if relation.is_query], 5).double()
    found = scores_of(network, head, Queried(encoder)(with_queries(naive, asked)))
    expected = scores_of(network, head, dense(naive, asked, encoder.t))
    assert len(found) == sum(map(len, asked))
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_both_sides_of_that_law_occur_and_the_one_element_is_not_zero() -> None:
    """Where the pair is not live, its embedding is none of those of the live pairs, nor 0."""
    naive: list[Naive] = [(3, {("edge", (0, 1))})]
    queried = Queried(Pairs(1))(with_queries(naive, [[(QUERIES[0], (0, 2)), (QUERIES[0], (0, 1))]]))
    assert int(queried.element_counts) == 6
    torch.manual_seed(0)
    network = RGNN([relation for relation in queried.signature if relation.sends], 4, 2).double()
    embeddings = network(queried.disjoint_union())
    assert embeddings[5].abs().max() > 1e-3
    assert (embeddings[:5] - embeddings[5]).abs().amax(1).min() > 1e-3


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_queries_of_real_states_find_their_elements(encoder: Encoder) -> None:
    space = expand(domain_text("gripper"), DOMAINS["gripper"].problem(random.Random(2), 2), 1000)
    structures, plain = space.queries(), encoder(space.structures())
    queried = Queried(encoder)(structures)
    over: list[list[tuple[int, int]] | None] = [None] * len(structures)
    if plain.pairs is not None:
        over = list(pairs_by_structure(plain))
    for query in (relation for relation in structures.signature if relation.is_query):
        before, after = rows_by_structure(structures, query.name), rows_by_structure(queried, query.name)
        for rows, found, pairs in zip(before, after, over, strict=True):
            assert found == [naive_elements(args, pairs) for args in rows]


def test_of_all_pairs_every_one_is_live() -> None:
    """So that what an Edge Transformer reads stays a grid, whatever is asked."""
    asked: Asked = [(QUERIES[0], args) for args in itertools.product(range(3), repeat=2)]
    for encoder in (Compositions(), Oblivious(), Marks()):
        queried = Queried(encoder)(with_queries([(3, set())], [asked], BINARY))
        assert queried.element_counts.tolist() == [9] and len(square(3)) == 9
