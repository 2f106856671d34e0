"""Where a model comes from, in a few facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trifold.hardware import spell_command


@dataclass(frozen=True)
class Origin:
    """The facts of a training that tables and records tell; None is what the model's file does not say.

    command          that trained it
    seed             of this model
    seeds            how many models were trained, of which this one was kept
    steps            that this model was trained for, up to where its validation loss was least
    seconds          of the training of all of them, validation included, labelling not
    validation_loss  of this model
    data             the hash of what it was trained on, `problems` and `states` how much that is
    hardware         the accelerator, or else the processor
    versions         of the software

    >>> Origin.of({"settings": {"seed": 1, "seeds": 3}, "training": {"seconds": [60.0, 61.0, 62.0]}}).seconds
    183.0
    """

    command: str | None = None
    seed: int | None = None
    seeds: int | None = None
    steps: int | None = None
    seconds: float | None = None
    validation_loss: float | None = None
    data: str | None = None
    problems: int | None = None
    states: int | None = None
    hardware: str | None = None
    versions: str | None = None

    @classmethod
    def of(cls, provenance: dict[str, Any]) -> Origin:
        """Read the facts from the provenance that a training leaves in a model."""
        settings, environment = provenance.get("settings", {}), provenance.get("environment", {})
        selected, data = provenance.get("selected", {}), provenance.get("data", {})
        command, seconds = provenance.get("command"), provenance.get("training", {}).get("seconds")
        device, versions = environment.get("device"), environment.get("versions")
        return cls(
            command=spell_command(command) if command else None,
            seed=settings.get("seed"),
            seeds=settings.get("seeds"),
            steps=selected.get("step"),
            seconds=sum(seconds) if seconds else None,
            validation_loss=selected.get("validation_loss"),
            data=data.get("hash"),
            problems=data.get("problems"),
            states=data.get("states"),
            hardware=environment.get("processor") if device == "cpu" else device,
            versions=", ".join(f"{name} {value}" for name, value in versions.items()) if versions else None,
        )
