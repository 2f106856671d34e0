"""Training: recipes, balanced batches, one visible loop, and run folders that can be resumed."""

from trifold.training.advice import Advice
from trifold.training.assist import lead
from trifold.training.config import check_config, describe_run
from trifold.training.coverage import Coverage, lay_tracks
from trifold.training.larger import find_larger
from trifold.training.loop import Progress
from trifold.training.parallel import Astray, Parted, is_led
from trifold.training.plot import plot_trainings
from trifold.training.recipe import (
    RECIPE_KEYS,
    SECTIONS,
    Recipe,
    Selection,
    Value,
    default_recipe,
    find_key,
    read_recipe,
    recorded_recipe,
    shipped_recipes,
)
from trifold.training.run import RunFolder
from trifold.training.sampler import BalancedSampler
from trifold.training.settings import Settings
from trifold.training.step import TrainingStep, build_optimizer
from trifold.training.train import TrainingResult, resume, train
from trifold.training.watcher import Watcher

__all__ = [
    "RECIPE_KEYS",
    "SECTIONS",
    "Advice",
    "Astray",
    "BalancedSampler",
    "Coverage",
    "Parted",
    "Progress",
    "Recipe",
    "RunFolder",
    "Selection",
    "Settings",
    "TrainingResult",
    "TrainingStep",
    "Value",
    "Watcher",
    "build_optimizer",
    "check_config",
    "default_recipe",
    "describe_run",
    "find_key",
    "find_larger",
    "is_led",
    "lay_tracks",
    "lead",
    "plot_trainings",
    "read_recipe",
    "recorded_recipe",
    "resume",
    "shipped_recipes",
    "train",
]
