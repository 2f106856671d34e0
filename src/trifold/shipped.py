"""Models in the box: the trained model files that come with the package, by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trifold.errors import TrifoldError, did_you_mean

if TYPE_CHECKING:
    from trifold.model import Model

FOLDER = Path(__file__).parent / "model" / "pretrained"
SUFFIX = ".safetensors"


def shipped_models() -> dict[str, Path]:
    """The file of each shipped model, by its name."""
    return {file.stem: file for file in sorted(FOLDER.glob(f"*{SUFFIX}"), key=lambda file: file.stem)}


def formerly(file: Path) -> str | None:
    """The SHA-256 of a shipped model's file in an older format, if it had one: the weights are the same."""
    from trifold.tensor_file import open_tensors

    try:
        with open_tensors(file) as opened:
            return opened.header.get("formerly")
    except (OSError, ValueError) as error:
        raise TrifoldError(
            f"this shipped model is damaged: {error}", place=str(file), remedy="install again"
        ) from error


def find_model(model: Path | str) -> Path:
    """The file that a user means: a file, or that of a run folder, or else a shipped model of this name.

    Only a bare word is looked for among the names; any other path is a file's, whether it is there or not.
    """
    path = Path(model)
    is_name = path.name == str(model) and not path.suffix
    if path.is_dir() and not (is_name and str(model) in shipped_models() and not (path / "config.json").exists()):
        return _model_of(path)
    if path.is_file() or not is_name:
        return path
    return _choose(path.name, "there is no such file, nor a shipped model of this name")


def place_of(model: Path | str) -> str:
    """What a run remembers another model by: its name in the box, or else the path of its file."""
    file = find_model(model)
    return str(model) if file == shipped_models().get(str(model)) else str(file.resolve())


def _model_of(run: Path) -> Path:
    """The model of a run folder; an error says what to do where there is none yet."""
    file = run / f"model{SUFFIX}"
    if file.exists():
        return file
    if best := sorted(run.glob(f"seed-*/best{SUFFIX}")):
        remedy = f"trifold train --resume {run}; or use the best so far of a seed: {best[0]}"
        raise TrifoldError("the training in this folder has not ended", place=str(run), remedy=remedy)
    raise TrifoldError(
        "there is no model in this folder",
        place=str(run),
        remedy=f"trifold train --resume {run}"
        if (run / "config.json").exists()
        else "give a model file, the folder of a run of `trifold train`, or the name of a shipped model",
    )


def best_policy(file: Path) -> str:
    """The best policy that the model in a file has: by scores of actions, or else by values.

    A file that is none has the latter: whoever loads it says what is wrong.
    """
    from trifold.tensor_file import open_tensors

    try:
        with open_tensors(file) as opened:
            config = opened.header.get("config")
    except (OSError, ValueError):
        return "values"
    return "actions" if isinstance(config, dict) and config.get("heads") in ("actions", "both") else "values"


def pretrained(name: str, device: str = "cpu") -> Model:
    """Load a shipped model by its name, such as "logistics"; `trifold models` lists them."""
    from trifold.model import Model

    return Model.load(_choose(name, "there is no shipped model of this name"), device)


def _choose(name: str, otherwise: str) -> Path:
    models = shipped_models()
    if name not in models:
        none = None if models else "a model file: no model is shipped with this version"
        raise TrifoldError(otherwise, place=name, remedy=did_you_mean(name, models, none))
    return models[name]
