"""Training: balanced batches, one visible loop, and run folders that can be resumed."""

from trifold.training.sampler import BalancedSampler
from trifold.training.settings import PRESETS, Preset, Settings
from trifold.training.train import TrainingResult, resume, train
from trifold.training.watcher import Watcher

__all__ = ["PRESETS", "BalancedSampler", "Preset", "Settings", "TrainingResult", "Watcher", "resume", "train"]
