"""Scores of actions, and the loss that trains them, are what their definitions say, one action at a time."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from trifold.encoders import Queried
from trifold.model import HeadedNetwork, ModelConfig
from trifold.nn import (
    MLP,
    REFERENCE,
    SHARPNESS,
    ActionScores,
    Scored,
    action_loss,
    best_are_optimal,
    find_queries,
    mish,
)
from trifold.structures import APPLICABLE, READOUT, DisjointUnion, Relation, Signature, Structures, query_relations

SCHEMAS = [("go", 2), ("light", 0), ("pick", 1), ("swap", 3)]
QUERIES = query_relations(SCHEMAS)
DIM = 3


def union_of(sizes: list[int], queries: list[tuple[str, int, tuple[int, ...]]]) -> DisjointUnion:
    """Structures of so many elements with queries (relation, structure, elements), and every element read out."""
    atoms: dict[str, list[list[list[int]]]] = {query.name: [[] for _ in sizes] for query in QUERIES}
    for name, owner, elements in queries:
        atoms[name][owner].append(list(elements))
    atoms[READOUT] = [[[element] for element in range(size)] for size in sizes]
    return Structures.build(Signature((Relation(READOUT, 1), *QUERIES)), sizes, atoms).disjoint_union()


@st.composite
def unions(draw: st.DrawFn) -> tuple[list[int], list[tuple[str, int, tuple[int, ...]]]]:
    """The sizes of structures, and queries of them."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    queries = []
    for _ in range(draw(st.integers(0, 8))):
        query, owner = draw(st.sampled_from(QUERIES)), draw(st.integers(0, len(sizes) - 1))
        elements = st.integers(0, sizes[owner] - 1)
        queries.append((query.name, owner, draw(st.tuples(*[elements] * query.arity))))
    return sizes, queries


def head(queries: tuple[Relation, ...] = QUERIES, seed: int = 0) -> ActionScores:
    torch.manual_seed(seed)
    return ActionScores(queries, DIM).double()


def naive_scores(
    scores: ActionScores, f: Tensor, sums: Tensor, union: DisjointUnion
) -> list[tuple[float | Tensor, int, bool]]:
    """Relation by relation and query by query: MLP_a of the embeddings that it reads, and of the sum."""
    mlps = {query.name: mlp for query, mlp in zip(scores.queries, scores.mlps, strict=True)}
    starts = [0]
    for size in union.structures.element_counts.tolist():
        starts.append(starts[-1] + size)
    found: list[tuple[float | Tensor, int, bool]] = []
    for query in QUERIES:
        optimal = query.name.endswith("@optimal")
        mlp = mlps.get(query.name.replace("@optimal", APPLICABLE))
        rows = union.structures.atoms(query.name).tolist()
        counts = union.structures.atom_counts[union.structures.signature.index(query.name)].tolist()
        for owner, count in enumerate(counts):
            for row in rows[:count]:
                parts = [] if "()" in query.name else [f[starts[owner] + element] for element in row]
                score = -math.inf if mlp is None else mlp(torch.cat([*parts, sums[owner]])).squeeze()
                found.append((score, owner, optimal))
            rows = rows[count:]
    return found


@settings(max_examples=30)
@given(unions(), st.integers(0, 100), st.sets(st.sampled_from(SCHEMAS)))
def test_scores_equal_the_naive_loop(
    case: tuple[list[int], list[tuple[str, int, tuple[int, ...]]]], seed: int, known: set[tuple[str, int]]
) -> None:
    """Whatever schemas have parameters; those that have none score −∞."""
    union = union_of(*case)
    scores = head(query_relations(sorted(known)), seed)
    f = torch.randn(union.elements, DIM, dtype=torch.float64, requires_grad=True)
    sums = torch.randn(len(case[0]), DIM, dtype=torch.float64, requires_grad=True)
    found = scores(f, sums, find_queries(union))
    expected = naive_scores(scores, f, sums, union)
    assert found.owners.tolist() == [owner for _, owner, _ in expected]
    assert found.optimal.tolist() == [optimal for _, _, optimal in expected]
    if not expected:
        assert found.scores.shape == (0,)
        return
    oracle = torch.stack([torch.as_tensor(score, dtype=torch.float64) for score, _, _ in expected])
    torch.testing.assert_close(found.scores, oracle, rtol=1e-12, atol=1e-12)
    if (finite := oracle.isfinite()).any():
        weights = torch.linspace(1, 2, len(oracle), dtype=torch.float64)
        inputs = [f, sums, *scores.parameters()]
        gradients = [
            torch.autograd.grad((weights * each)[finite].sum(), inputs, allow_unused=True, materialize_grads=True)
            for each in (found.scores, oracle)
        ]
        torch.testing.assert_close(*gradients, rtol=1e-11, atol=1e-11)


def test_the_mlp_of_a_schema_is_the_one_of_the_paper_with_a_hidden_layer_of_2k() -> None:
    scores = head()
    assert [query.name for query in scores.queries] == [query.name for query in QUERIES[::2]]
    for query, mlp in zip(scores.queries, scores.mlps, strict=True):
        assert isinstance(mlp, MLP)
        x = torch.randn((query.reads + 1) * DIM, dtype=torch.float64)
        assert mlp.inner.weight.shape == (2 * DIM, (query.reads + 1) * DIM) and mlp.outer.weight.shape == (1, 2 * DIM)
        by_hand = mlp.outer.weight @ mish(mlp.inner.weight @ x + mlp.inner.bias) + mlp.outer.bias
        torch.testing.assert_close(mlp(x), by_hand, rtol=1e-12, atol=1e-12)


def test_an_action_without_arguments_is_scored_by_the_sum_alone() -> None:
    """Whatever element its query names: nobody reads it."""
    scores, sums = head(), torch.randn(2, DIM, dtype=torch.float64)
    found = []
    for element in range(3):
        union = union_of([3, 1], [("light()@applicable", 0, (element,)), ("light()@optimal", 1, (0,))])
        f = torch.randn(4, DIM, dtype=torch.float64)
        found.append(scores(f, sums, find_queries(union)).scores)
    expected = torch.stack([scores.mlps[1](total).squeeze() for total in sums])
    for scored in found:
        torch.testing.assert_close(scored, expected, rtol=1e-12, atol=1e-12)
    assert found[0][0] != found[0][1]


def test_what_is_optimal_is_scored_as_if_it_were_not_known() -> None:
    f, sums = torch.randn(4, DIM, dtype=torch.float64), torch.randn(1, DIM, dtype=torch.float64)
    for name, elements in (("go", (3, 1)), ("swap", (0, 0, 2)), ("pick", (2,)), ("light()", (0,))):
        asked, known = (
            head()(f, sums, find_queries(union_of([4], [(name + ending, 0, elements)])))
            for ending in ("@applicable", "@optimal")
        )
        assert asked.scores.equal(known.scores) and len(asked.scores) == 1
        assert (asked.optimal.tolist(), known.optimal.tolist()) == ([False], [True])


def test_the_order_of_the_arguments_matters() -> None:
    union = union_of([2], [("go@applicable", 0, (0, 1)), ("go@applicable", 0, (1, 0))])
    f = torch.randn(2, DIM, dtype=torch.float64)
    there, back = head()(f, f.sum(0)[None], find_queries(union)).scores
    assert abs(there - back) > 1e-6


def test_schemas_without_parameters_score_less_than_any_other_and_take_no_gradient() -> None:
    scores = head(query_relations([("go", 2)]))
    assert len(scores.mlps) == 1
    union = union_of(
        [2], [("go@applicable", 0, (0, 1)), ("swap@optimal", 0, (0, 1, 0)), ("light()@applicable", 0, (0,))]
    )
    f = torch.randn(2, DIM, dtype=torch.float64, requires_grad=True)
    found = scores(f, f.sum(0)[None], find_queries(union)).scores
    assert found.isfinite().tolist() == [True, False, False] and found[1] == found[2] == -math.inf
    (gradient,) = torch.autograd.grad(found[0], f)
    assert gradient.isfinite().all() and gradient.any()


@pytest.mark.parametrize("encoder", ["plain", "pairs", "marks"])
def test_one_reading_gives_the_values_and_the_scores_of_the_same_embeddings(encoder: str) -> None:
    """V is what the network with values gives, and the scores are those of the naive loop over its embeddings."""
    config = ModelConfig(encoder=encoder, dim=8, layers=2, heads="both")
    signature = Signature((*Signature.of([("on", 2), ("red", 1)]), *query_relations([("go", 2)])))
    state = {"on": [[[0, 1]], []], "red": [[[2]], [[0]]], "go@applicable": [[[0, 2], [1, 0]], []]}
    encoded = Queried(config.build_encoder())(
        Structures.build(signature, [3, 1], state | {"go@optimal": [[[2, 2]], [[0, 0]]]})
    )
    network = HeadedNetwork.seeded([r for r in encoded.signature if r.name != READOUT], config, 0).double()
    union = encoded.disjoint_union()
    values, scored = network.read(union, REFERENCE)
    assert values is not None and scored is not None and network.scores is not None
    assert values.equal(network(encoded))
    f = network.embed(union)
    elements, owners = union.readout()
    pooled = torch.stack([torch.logsumexp(SHARPNESS * f[elements[owners == s]], 0) for s in range(2)]) / SHARPNESS
    expected = []
    for name in ("go@applicable", "go@optimal"):
        rows = union.atoms(name)
        for i, row in enumerate(rows):
            owner = 0 if name == "go@applicable" or i == 0 else 1
            expected.append(network.scores.mlps[0](torch.cat([*f[row], pooled[owner]])).squeeze())
    torch.testing.assert_close(scored.scores, torch.stack(expected), rtol=1e-10, atol=1e-10)
    assert (scored.owners.tolist(), scored.optimal.tolist()) == ([0, 0, 0, 1], [False, False, True, True])


# The loss.


@st.composite
def scored_actions(draw: st.DrawFn, scores: st.SearchStrategy[float]) -> tuple[Scored, int]:
    """Actions in any order of their structures, some of which have no action, or no optimal one."""
    structures = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(scores, st.integers(0, structures - 1), st.booleans()), max_size=9))
    return as_scored(list(rows)), structures


def as_scored(rows: list[tuple[float, int, bool]], dtype: torch.dtype = torch.float64) -> Scored:
    return Scored(
        torch.tensor([score for score, _, _ in rows], dtype=dtype),
        torch.tensor([owner for _, owner, _ in rows], dtype=torch.int64),
        torch.tensor([optimal for _, _, optimal in rows], dtype=torch.bool),
    )


def naive_loss(scored: Scored, structures: int) -> Tensor:
    """Structure by structure: −log σ(q) of each optimal action and −log σ(−q) of each other, and the means."""
    losses = []
    for s in range(structures):
        mine = [i for i, owner in enumerate(scored.owners.tolist()) if owner == s]
        best = [i for i in mine if scored.optimal[i]]
        others = [i for i in mine if not scored.optimal[i]]
        if best:
            losses.append(-functional.logsigmoid(scored.scores[best]).mean())
        if best and others:
            losses[-1] = losses[-1] - functional.logsigmoid(-scored.scores[others]).mean()
    return torch.stack(losses).mean() if losses else scored.scores.sum() * 0


moderate = st.floats(-20, 20)
close = st.sampled_from([-1.0, 0.0, 0.5, 0.5 + 1e-9, 2.0])


@settings(max_examples=60)
@given(scored_actions(moderate | close))
def test_the_loss_and_its_gradient_equal_the_naive_definition(case: tuple[Scored, int]) -> None:
    scored, structures = case
    scores = scored.scores.requires_grad_()
    found, expected = (loss(scored, structures) for loss in (action_loss, naive_loss))
    assert found.shape == ()
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-11)
    gradients = [torch.autograd.grad(loss, scores)[0] for loss in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-10)
    if not scored.optimal.any():
        assert found == 0 and not gradients[0].any()


@settings(max_examples=40)
@given(
    scored_actions(st.sampled_from([-1e4, -9_999.0, 0.0, 9_999.0, 1e4])),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_huge_scores_give_finite_losses_and_gradients(case: tuple[Scored, int], dtype: torch.dtype) -> None:
    """The gradient is exact; the loss is rounded as the scores are."""
    (scores, owners, optimal), structures = case
    exact, rounded = (scores.to(kind).requires_grad_() for kind in (torch.float64, dtype))
    loss = action_loss(Scored(rounded, owners, optimal), structures)
    losses = []
    for s in range(structures):
        best, others = exact[(owners == s) & optimal], exact[(owners == s) & ~optimal]
        if len(best):
            losses.append(-functional.logsigmoid(best).mean())
        if len(best) and len(others):
            losses[-1] = losses[-1] - functional.logsigmoid(-others).mean()
    expected = torch.stack(losses).mean() if losses else exact.sum() * 0
    assert loss.isfinite()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6, abs=1e4 * torch.finfo(dtype).eps)
    gradients = [torch.autograd.grad(each, scores)[0].double() for each, scores in ((loss, rounded), (expected, exact))]
    torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-6)


@settings(max_examples=30)
@given(scored_actions(moderate), st.lists(st.tuples(moderate, st.booleans()), max_size=4))
def test_rows_of_a_structure_beyond_the_last_count_nowhere(
    case: tuple[Scored, int], more: list[tuple[float, bool]]
) -> None:
    """A batch of a fixed size is filled up with them."""
    scored, structures = case
    padding = as_scored([(score, structures, optimal) for score, optimal in more])
    scores = torch.cat([scored.scores, padding.scores]).requires_grad_()
    padded = Scored(scores, torch.cat([scored.owners, padding.owners]), torch.cat([scored.optimal, padding.optimal]))
    loss = action_loss(padded, structures)
    torch.testing.assert_close(loss, action_loss(scored, structures), rtol=1e-12, atol=1e-12)
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient.isfinite().all() and not gradient[len(scored.scores) :].any()


@settings(max_examples=30)
@given(scored_actions(moderate), st.integers(0, 99))
def test_the_order_of_actions_does_not_change_the_loss(case: tuple[Scored, int], seed: int) -> None:
    scored, structures = case
    order = torch.randperm(len(scored.scores), generator=torch.Generator().manual_seed(seed))
    moved = Scored(*(part[order] for part in scored))
    torch.testing.assert_close(action_loss(moved, structures), action_loss(scored, structures), rtol=1e-9, atol=1e-9)


def test_the_loss_of_known_scores() -> None:
    even = as_scored([(0.0, 0, True), (0.0, 0, False), (0.0, 0, False)])
    assert action_loss(even, 1).item() == pytest.approx(2 * math.log(2))
    assert action_loss(even, 5).item() == pytest.approx(
        2 * math.log(2)
    )  # structures without actions are not in the mean
    all_optimal = as_scored([(50.0, 0, True), (40.0, 0, True)])
    assert action_loss(all_optimal, 1).item() == pytest.approx(0, abs=1e-12)
    both = as_scored([(0.0, 0, True), (0.0, 0, False), (50.0, 1, True), (9.0, 2, False)])
    assert action_loss(both, 3).item() == pytest.approx(math.log(2))


def test_each_optimal_action_must_come_before_all_others() -> None:
    """One that does is not enough: in larger problems others would come between."""
    one = as_scored([(50.0, 0, True), (-10.0, 0, True), (20.0, 0, False)])
    assert action_loss(one, 1).item() == pytest.approx(10 / 2 + 20, rel=1e-4)


def test_a_score_that_is_not_a_number_makes_the_loss_none() -> None:
    """Otherwise a training that has diverged would have the least loss of all."""
    for rows in ([(math.nan, 0, True)], [(math.nan, 0, False), (1.0, 0, True)]):
        assert action_loss(as_scored(rows), 1).isnan()


def test_without_an_optimal_action_or_any_action_the_loss_is_zero_and_so_is_its_gradient() -> None:
    for rows in ([], [(3.0, 0, False), (math.pi, 1, False)], [(1e4, 1, False)], [(1.0, 2, True)]):
        scored = as_scored(rows)
        scores = scored.scores.requires_grad_()
        loss = action_loss(scored, 2)
        (gradient,) = torch.autograd.grad(loss, scores)
        assert loss == 0 and gradient.tolist() == [0.0] * len(rows)


def test_an_action_of_an_unknown_schema_takes_no_share() -> None:
    """It scores −∞, and no gradient is NaN for its sake."""
    rows = [(0.5, 0, True), (-1.0, 0, False)]
    scores = as_scored(rows).scores.requires_grad_()
    unknown = torch.full((2,), -torch.inf, dtype=torch.float64)
    owners, optimal = torch.tensor([0, 0, 0, 1]), torch.tensor([True, False, False, False])
    loss = action_loss(Scored(torch.cat([scores, unknown]), owners, optimal), 2)
    expected = naive_loss(Scored(scores, owners[:2], optimal[:2]), 1)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad(each, scores)[0] for each in (loss, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


def test_a_structure_whose_optimal_actions_are_all_of_unknown_schemas_is_left_out() -> None:
    """−log 0 would make the whole mean infinite, and nothing could lessen it."""
    known = [(0.0, 0, True), (0.0, 0, False)]
    unknown = [(2.0, 1, False), (-math.inf, 1, True)]
    assert action_loss(as_scored(known + unknown), 2).item() == pytest.approx(2 * math.log(2))
    assert best_are_optimal(as_scored(known + unknown, torch.float32), 2) == (1, 1)
    scored = as_scored(unknown)
    loss = action_loss(scored._replace(scores=scored.scores.requires_grad_()), 2)
    assert loss == 0 and torch.autograd.grad(loss, scored.scores)[0].tolist() == [0.0, 0.0]


# How often the best is optimal.


def naive_best(scored: Scored, structures: int) -> tuple[int, int]:
    """Of the structures with an optimal action, those where one has the highest score, even if others have it, too."""
    right = asked = 0
    for s in range(structures):
        mine = [i for i, owner in enumerate(scored.owners.tolist()) if owner == s]
        best = [i for i in mine if scored.optimal[i]]
        if best:
            highest = max(scored.scores[i] for i in mine)
            asked += 1
            right += any(scored.scores[i] == highest for i in best)
    return right, asked


few = st.sampled_from([-2.0, -1.0, 0.0, 3.0])


@settings(max_examples=60)
@given(scored_actions(few))
def test_how_often_the_best_is_optimal_equals_the_loop(case: tuple[Scored, int]) -> None:
    (scores, owners, optimal), structures = case
    scored = Scored(scores.float(), owners, optimal)
    assert best_are_optimal(scored, structures) == naive_best(scored, structures)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(1.0, 0, True), (0.0, 0, False)], (1, 1)),
        ([(0.0, 0, True), (1.0, 0, False)], (0, 1)),
        ([(1.0, 0, False), (1.0, 0, True)], (1, 1)),  # a tie counts as optimal, whatever the order
        ([(1.0, 0, True), (1.0, 0, False)], (1, 1)),
        ([(1.0, 0, False)], (0, 0)),
        ([(-math.inf, 0, False), (-3.0, 0, True)], (1, 1)),
        ([(1.0, 0, True), (2.0, 1, False), (5.0, 2, False), (4.0, 2, True)], (1, 2)),
        ([], (0, 0)),
    ],
)
def test_a_tie_of_an_optimal_action_with_another_counts_as_optimal(
    rows: list[tuple[float, int, bool]], expected: tuple[int, int]
) -> None:
    scored = as_scored(rows, torch.float32)
    assert best_are_optimal(scored, 3) == naive_best(scored, 3) == expected


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_how_often_the_best_is_optimal_can_be_asked_of_any_floats(dtype: torch.dtype) -> None:
    assert best_are_optimal(as_scored([(1.0, 0, True), (0.0, 0, False)], dtype), 1) == (1, 1)


def test_without_any_relation_of_queries_there_are_no_scores() -> None:
    f, sums = torch.zeros(2, DIM, dtype=torch.float64), torch.zeros(1, DIM, dtype=torch.float64)
    found = ActionScores((), DIM)(f, sums, {})
    assert found.scores.shape == found.owners.shape == found.optimal.shape == (0,)
