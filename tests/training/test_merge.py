"""Merged states: fewer, with the same loss for any network, drawn as often as all of them would be."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from command_line import trifold
from oracles import from_naive
from oracles_pairs import decode
from trifold.data import Dataset
from trifold.domains import write_problems
from trifold.model import Model, ModelConfig
from trifold.nn import REFERENCE
from trifold.pddl import StateSpace, expand, load_domain
from trifold.structures import Signature
from trifold.training import BalancedSampler, resume
from trifold.training.loss import batch_loss
from trifold.training.merge import merge_states

CONFIGS: dict[str, Any] = {
    "R-GNN": {"encoder": "plain"},
    "R-GNN[1]": {"t": 1},
    "R-GNN₂": {"encoder": "compositions"},
    "2-GNN": {"encoder": "oblivious"},
    "ET": {"encoder": "marks"},
}


@pytest.fixture(scope="module")
def gripper(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[StateSpace]]:
    folder = tmp_path_factory.mktemp("gripper")
    return folder, [
        expand(folder / "domain.pddl", file, 10_000) for file in write_problems(folder, "gripper", [2, 3], 0)
    ]


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(("layers", "heads"), [(1, "values"), (3, "values"), (3, "both")])
@torch.no_grad()
def test_the_loss_of_any_network_stays(
    gripper: tuple[Path, list[StateSpace]], name: str, layers: int, heads: str
) -> None:
    folder, spaces = gripper
    config = ModelConfig(**CONFIGS[name], dim=8, layers=layers, heads=heads)
    data = Dataset.build(spaces, config.build_encoder(), dead_end_target=None, with_actions=config.has_actions)
    merged = merge_states(data, config)
    assert len(merged) < len(data) and int(merged.weights.sum()) == len(data)
    text = load_domain(folder / "domain.pddl").source.text
    schemas = spaces[0].actions.schemas
    network = Model.fresh(config, spaces[0].table.signature, text, data.atom_counts, 0, schemas).network.double()

    def loss(part: Dataset) -> torch.Tensor:
        losses = [batch_loss(network, *part.take(torch.tensor([i])), REFERENCE) for i in range(len(part))]
        return (part.weights * torch.stack(losses)).sum()

    torch.testing.assert_close(loss(merged), loss(data), rtol=1e-10, atol=0)
    assert merged.targets.unique().tolist() == data.targets.unique().tolist()
    again = merge_states(merged, config)
    assert len(again) == len(merged) and torch.equal(again.weights, merged.weights)


def naive_folklore(
    pairs: list[tuple[int, int]], atoms: set[tuple[str, tuple[Any]]], rounds: int
) -> frozenset[tuple[tuple[Any, Any], int]]:
    """The colour of a structure over pairs by 2-FWL: ⟨u,w⟩ sees each v between, and the pairs ⟨o,o⟩ are read out."""
    objects = sorted({u for u, _ in pairs})
    colours: dict[tuple[int, int], Any] = {
        pair: frozenset(name for name, (marked,) in atoms if marked == pair) for pair in pairs
    }
    for _ in range(rounds):
        colours = {
            (u, w): (colours[u, w], frozenset(Counter((colours[u, v], colours[v, w]) for v in objects).items()))
            for u, w in pairs
        }
    return frozenset(Counter(colours[o, o] for o in objects).items())


@pytest.mark.parametrize(("layers", "weights"), [(2, [2]), (3, [1, 1])])
def test_an_edge_transformer_s_states_are_merged_as_much_as_2_fwl_allows(layers: int, weights: list[int]) -> None:
    """Compositions that were told to all of their pairs would separate these two digraphs after two rounds already."""
    config = ModelConfig(encoder="marks", dim=8, layers=layers)
    digraphs = [  # the two successors of each vertex
        [(3, 4), (4, 7), (1, 5), (2, 6), (1, 5), (2, 6), (0, 7), (0, 3)],
        [(6, 7), (4, 5), (3, 7), (4, 6), (0, 1), (2, 3), (2, 5), (0, 1)],
    ]
    naive = [(8, {("edge", (u, v)) for u, after in enumerate(digraph) for v in after}) for digraph in digraphs]
    encoded = config.build_encoder()(from_naive(naive, Signature.of([("edge", 2)])))
    merged = merge_states(Dataset(encoded, None, torch.zeros(2), torch.ones(2, dtype=torch.int64), {}), config)
    classes = Counter(naive_folklore(*structure, layers) for structure in decode(encoded))
    assert merged.weights.tolist() == list(classes.values()) == weights


def test_states_whose_values_differ_stay_apart(gripper: tuple[Path, list[StateSpace]]) -> None:
    """Without layers all states of one problem look the same: what is kept is the multiset of V*."""
    _, spaces = gripper
    config = ModelConfig(dim=8, layers=0)
    data = Dataset.build(spaces[:1], config.build_encoder(), dead_end_target=None)
    merged = merge_states(data, config)
    assert dict(zip(merged.targets.tolist(), merged.weights.tolist(), strict=True)) == Counter(data.targets.tolist())


def test_the_sampler_draws_by_weight() -> None:
    targets, weights = torch.tensor([0.0, 1.0, 1.0, 2.0]), torch.tensor([5, 1, 3, 2])
    sampler = BalancedSampler(targets, 3, 0, weights)
    drawn = Counter(torch.cat([sampler.draw(step) for step in range(1_000)]).tolist())
    assert drawn[0] == drawn[3] == drawn[1] + drawn[2] == 1_000
    assert 200 < drawn[1] < 300
    whole = BalancedSampler(targets.repeat_interleave(weights), 3, 0)
    owner = torch.arange(4).repeat_interleave(weights)
    for step in range(50):
        assert torch.equal(owner[whole.draw(step)], sampler.draw(step))


def test_a_run_says_how_many_were_merged_and_resumes_with_them(
    gripper: tuple[Path, list[StateSpace]], tmp_path: Path
) -> None:
    folder, _ = gripper
    run = tmp_path / "run"
    changes = [word for change in ("merge=true", "dim=4", "layers=2", "batch=8") for word in ("--set", change)]
    done = trifold("train", folder, "--run", run, "--recipe", "small", "--steps", "3", "--device", "cpu", *changes)
    summary = json.loads((run / "data.json").read_text(encoding="utf-8"))
    assert 0 < summary["inputs"] < summary["states"]
    assert f"merged {summary['states']} states into {summary['inputs']} " in done.stderr
    assert resume(run, steps=5).steps == 5
    assert json.loads((run / "data.json").read_text(encoding="utf-8"))["inputs"] == summary["inputs"]
