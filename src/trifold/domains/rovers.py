"""Rovers: rovers with different equipment and maps sample soil and rock, take images, and report to a lander.

A training set must cover goals of each kind, alone and together; maps that differ between rovers, so that one sees
waypoints that it cannot enter, or must go around; goals that only one rover can achieve, and goals that several can;
rovers without the needed equipment; soil and rock at one waypoint; full stores with samples left to take; samples
that no goal asks for; starts from which the lander is seen, and starts from which it is not; cameras that must be
calibrated at another waypoint than the image's, and again for a second image; modes that only one camera supports, and
images that several rovers can take.

As in the benchmark's files, a rover's map is a tree over pairs of waypoints that see each other, found breadth first
with some pairs left out, so it need not hold all waypoints; and each rover can go where the lander is seen. So there
are no dead ends: whoever takes a sample can report it, an image can be taken again, and a store can be emptied.

A state holds the place, the store and the calibrated cameras of each rover; for each sample, who took it and whether
it was reported; for each image, which rovers have it and whether it was reported. ``bound_states`` multiplies these:
three rovers that can go to 8 waypoints each have 512 places, and each goal multiplies by 3 or more. Equipment, maps
and modes are random, and so is that number: the training set redraws what exceeds ``max_states``, and joins many
waypoints with few goals, and few with many. It has several problems of each size: few maps would be learned by heart.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Literal

from trifold.domains.problem import problem_text

DESCRIPTION = "send soil, rock and image data to a lander from rovers with their own maps and equipment"
PICTURE = """\
 lander     soil    rover0
   w0 ===== w1 ===== w2     === rover0 can go
   :        :        :      --- rover1 can go
   :        :        :       :  in sight, no way
   w3 ----- w4 ----- w5
 rover1     rock             objective0: seen from w2
 rover0: soil analysis, camera   rover1: rock analysis"""

MODES = ["colour", "high_res", "low_res"]
KINDS = ["soil", "rock"]
ATTEMPTS = 20_000

SIZES = ["rovers", "waypoints", "soil", "rock", "images", "spare", "cameras", "objectives", "max_states"]
TRAINING = [
    (2, 3, 1, 1, 1, 0, 1, 1, 10_000),
    (2, 3, 1, 0, 0, 1, 0, 0, 1_000),
    (2, 3, 0, 1, 1, 0, 1, 2, 20_000),
    (2, 3, 2, 1, 0, 1, 0, 0, 10_000),
    (2, 3, 2, 2, 1, 0, 1, 1, 20_000),
    (2, 3, 0, 0, 3, 0, 2, 1, 30_000),
    (2, 3, 3, 3, 0, 0, 0, 0, 20_000),
    (2, 3, 1, 1, 2, 0, 2, 1, 30_000),
    (2, 4, 1, 1, 1, 0, 1, 1, 10_000),
    (2, 4, 1, 1, 0, 2, 0, 0, 10_000),
    (2, 4, 0, 0, 2, 0, 1, 2, 20_000),
    (2, 4, 2, 2, 1, 0, 1, 1, 50_000),
    (2, 4, 3, 2, 0, 0, 0, 0, 20_000),
    (2, 4, 4, 3, 0, 0, 0, 0, 60_000),
    (2, 5, 1, 1, 1, 1, 1, 1, 30_000),
    (2, 5, 0, 2, 0, 0, 0, 0, 10_000),
    (2, 5, 2, 2, 0, 0, 0, 0, 20_000),
    (2, 5, 1, 0, 2, 0, 1, 2, 40_000),
    (2, 5, 3, 2, 0, 0, 0, 0, 50_000),
    (2, 6, 1, 1, 1, 0, 1, 2, 40_000),
    (2, 6, 2, 0, 0, 0, 0, 0, 10_000),
    (2, 6, 2, 1, 0, 1, 0, 0, 20_000),
    (2, 6, 2, 2, 1, 0, 1, 1, 100_000),
    (2, 7, 0, 1, 2, 0, 1, 2, 30_000),
    (2, 7, 1, 2, 0, 0, 0, 0, 20_000),
    (2, 7, 2, 2, 0, 1, 0, 0, 40_000),
    (2, 8, 1, 1, 0, 0, 0, 0, 10_000),
    (2, 8, 0, 0, 2, 0, 1, 2, 20_000),
    (2, 8, 1, 1, 1, 0, 1, 1, 40_000),
    (2, 8, 3, 1, 0, 0, 0, 0, 40_000),
    (3, 3, 1, 1, 1, 0, 1, 1, 30_000),
    (3, 3, 2, 2, 0, 0, 0, 0, 40_000),
    (3, 4, 1, 1, 1, 0, 1, 1, 40_000),
    (3, 4, 1, 2, 0, 1, 0, 0, 40_000),
    (3, 4, 0, 0, 2, 0, 2, 1, 40_000),
    (3, 5, 1, 1, 0, 0, 0, 0, 20_000),
    (3, 5, 1, 0, 1, 0, 1, 2, 30_000),
    (3, 6, 0, 0, 1, 0, 1, 2, 40_000),
    (3, 6, 1, 1, 1, 0, 1, 1, 100_000),
    (3, 7, 0, 2, 0, 0, 0, 0, 40_000),
    (3, 7, 2, 1, 0, 0, 0, 0, 60_000),
    (3, 8, 0, 0, 1, 0, 1, 1, 20_000),
    (3, 8, 1, 1, 0, 0, 0, 0, 40_000),
    (3, 8, 1, 1, 1, 0, 1, 1, 120_000),
    # Many goals.
    (2, 4, 4, 4, 0, 0, 0, 0, 400_000),
    (2, 5, 4, 4, 0, 0, 0, 0, 400_000),
    (2, 5, 3, 3, 2, 0, 2, 1, 400_000),
    (2, 6, 4, 3, 0, 1, 0, 0, 400_000),
    (2, 6, 3, 3, 1, 0, 1, 1, 400_000),
    (2, 6, 1, 1, 3, 0, 2, 2, 400_000),
    (2, 7, 4, 3, 0, 0, 0, 0, 400_000),
    (2, 7, 2, 3, 2, 0, 2, 1, 400_000),
    (2, 8, 3, 3, 1, 0, 1, 1, 400_000),
    (2, 8, 4, 2, 0, 2, 0, 0, 400_000),
    (3, 4, 3, 2, 1, 0, 1, 1, 400_000),
    (3, 5, 2, 2, 1, 1, 1, 2, 400_000),
    (3, 6, 3, 3, 0, 0, 0, 0, 400_000),
    (3, 7, 2, 2, 1, 0, 1, 1, 400_000),
    (3, 8, 2, 2, 0, 1, 0, 0, 400_000),
    (3, 8, 1, 1, 2, 0, 2, 2, 400_000),
    # Many cameras: several rovers can take an image.
    (2, 3, 0, 0, 1, 0, 4, 2, 100_000),
    (2, 4, 1, 0, 1, 2, 4, 1, 100_000),
    (2, 5, 0, 1, 2, 0, 4, 2, 200_000),
    (2, 6, 0, 0, 1, 3, 4, 2, 100_000),
    (2, 7, 1, 1, 1, 0, 3, 2, 200_000),
    (2, 8, 0, 0, 3, 0, 4, 2, 400_000),
    (3, 3, 0, 0, 1, 1, 4, 1, 100_000),
    (3, 4, 0, 0, 2, 0, 4, 2, 400_000),
    (3, 4, 1, 1, 1, 0, 3, 1, 400_000),
    (3, 5, 0, 1, 1, 0, 4, 2, 200_000),
    (3, 6, 0, 0, 1, 2, 4, 2, 200_000),
    (3, 6, 1, 0, 1, 0, 4, 1, 400_000),
    (3, 7, 0, 0, 2, 0, 3, 2, 400_000),
    (3, 8, 0, 0, 1, 0, 4, 2, 400_000),
    (3, 8, 0, 1, 1, 0, 3, 1, 400_000),
]
COPIES = 12
"""So many problems of each size are trained on."""
# Soil, rock, images, spare: from a few goals to as many as the benchmark's problems with so many waypoints have.
TEST_GOALS = [(2, 2, 1, 2), (4, 3, 2, 4), (7, 6, 3, 4), (12, 9, 3, 6)]

Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class Rover:
    """A rover: where it starts, between which waypoints it can go (both ways), and which samples it can analyse."""

    start: int
    roads: Pairs
    analyses: list[str]

    @cached_property
    def reach(self) -> set[int]:
        """The waypoints that the rover can be at."""
        return {self.start, *(waypoint for road in self.roads for waypoint in road)}


@dataclass(frozen=True)
class Camera:
    """A camera: the rover that it is on, the objective that it is calibrated with, and the modes of its images."""

    rover: int
    target: int
    modes: list[str]


@dataclass(frozen=True)
class Mission:
    """What the rovers find.

    visible    pairs of waypoints that see each other
    lander     its waypoint
    seen_from  for each objective, the waypoints from which it is visible
    samples    kind and waypoint of each
    """

    waypoints: int
    visible: Pairs
    lander: int
    rovers: list[Rover]
    cameras: list[Camera]
    seen_from: list[list[int]]
    samples: list[tuple[str, int]]

    def analysts(self, kind: str, waypoint: int) -> list[int]:
        """The rovers that can take a sample of this kind there."""
        return [i for i, rover in enumerate(self.rovers) if kind in rover.analyses and waypoint in rover.reach]

    def able_cameras(self, objective: int, mode: str) -> list[Camera]:
        """The cameras that can be calibrated and take this image."""
        able = [camera for camera in self.cameras if mode in camera.modes and self.views(camera, camera.target)]
        return [camera for camera in able if self.views(camera, objective)]

    def views(self, camera: Camera, objective: int) -> set[int]:
        """The waypoints to which the camera's rover can go and from which the objective is visible."""
        return self.rovers[camera.rover].reach.intersection(self.seen_from[objective])

    def needs_trip(self, objective: int, mode: str) -> bool:
        """Whether no camera can take this image at a waypoint where it can be calibrated."""
        cameras = self.able_cameras(objective, mode)
        return all(self.views(camera, objective).isdisjoint(self.views(camera, camera.target)) for camera in cameras)


def generate(
    rng: random.Random,
    *,
    rovers: int = 2,
    waypoints: int = 4,
    soil: int = 1,
    rock: int = 1,
    images: int = 1,
    spare: int = 0,
    cameras: int = 1,
    objectives: int = 1,
    max_states: int = 0,
) -> str:
    """Generate a problem of which some rover can achieve each goal, whatever was done before; none is at the start.

    soil, rock, images  numbers of goals of each kind
    spare               number of samples of either kind that no goal asks for
    cameras             on random rovers, each with one to three of the three modes
    objectives          if several, then some image needs a camera that was calibrated at another waypoint
    max_states          redraw the problem until ``bound_states`` is at most this; 0 sets no limit
    """
    if rovers < 1 or waypoints < 2:
        raise ValueError(f"Rovers needs at least 1 rover and 2 waypoints, not {rovers} and {waypoints}")
    if min(soil, rock, images, spare, cameras, objectives, max_states) < 0 or soil + rock + images == 0:
        raise ValueError("Rovers needs at least one goal, and no number can be negative")
    if max(soil, rock) > waypoints or soil + rock + spare > 2 * waypoints:
        raise ValueError(f"{waypoints} waypoints cannot have {soil} + {rock} + {spare} samples, one of a kind each")
    if images > len(MODES) * objectives or (images and not cameras) or (cameras and not objectives):
        raise ValueError(f"{cameras} cameras and {objectives} objectives are too few, or do not fit {images} images")
    for _ in range(ATTEMPTS):
        mission = _draw_mission(rng, rovers, waypoints, cameras, objectives)
        places = {kind: [w for w in range(waypoints) if mission.analysts(kind, w)] for kind in KINDS}
        shots = [shot for shot in product(range(objectives), MODES) if mission.able_cameras(*shot)]
        if len(places["soil"]) < soil or len(places["rock"]) < rock or len(shots) < images:
            continue
        wanted = [("soil", w) for w in rng.sample(places["soil"], soil)]
        wanted += [("rock", w) for w in rng.sample(places["rock"], rock)]
        others = [sample for sample in product(KINDS, range(waypoints)) if sample not in wanted]
        mission = replace(mission, samples=wanted + rng.sample(others, spare))
        pictures = rng.sample(shots, images)
        if images and objectives > 1 and not any(mission.needs_trip(*shot) for shot in pictures):
            continue
        if not max_states or bound_states(mission) <= max_states:
            return _write(mission, wanted, pictures)
    raise ValueError(f"no solvable problem within {max_states} states (0: any) was found in {ATTEMPTS} attempts")


def suite(split: Literal["train", "validation", "test"]) -> list[dict[str, int | str]]:
    """The options of each problem of the suite ``paper``."""
    match split:
        case "train":
            rows = [row for row in TRAINING for _ in range(COPIES)]
        case "validation":
            rows = [*TRAINING[::3], TRAINING[-1]]
        case "test":
            waypoints = sorted([*range(21, 40), 30])
            rows = [(3, count, *TEST_GOALS[i % 4], 4, 1 + i % 2, 0) for i, count in enumerate(waypoints)]
        case _:
            raise ValueError(f'a split is "train", "validation" or "test", not {split!r}')
    return [dict(zip(SIZES, row, strict=True)) for row in rows]


def bound_states(mission: Mission) -> int:
    """Count the states of a mission; too many only as a store counts as full even before its rover's first sample."""
    takers = [mission.analysts(*sample) for sample in mission.samples]
    shots = product(range(len(mission.seen_from)), MODES)
    owners = [{camera.rover for camera in mission.able_cameras(*shot)} for shot in shots]
    return prod(
        [
            *[len(rover.reach) for rover in mission.rovers],
            *[2 for rover in range(len(mission.rovers)) if any(rover in able for able in takers)],
            *[2 for camera in mission.cameras if mission.views(camera, camera.target)],
            *[1 + 2 * len(able) for able in takers],  # still there, or one rover has it, reported or not
            *[2 ** (len(able) + 1) - 1 for able in owners],  # no rover has it, or some do, reported or not
        ]
    )


def _draw_mission(rng: random.Random, rovers: int, waypoints: int, cameras: int, objectives: int) -> Mission:
    """Draw all but the samples."""
    order = rng.sample(range(waypoints), waypoints)
    tree = {frozenset((place, rng.choice(order[:index]))) for index, place in enumerate(order) if index}
    pairs = combinations(range(waypoints), 2)
    visible = [pair for pair in pairs if frozenset(pair) in tree or rng.random() < 1 / 4]
    lander = rng.randrange(waypoints)
    return Mission(
        waypoints=waypoints,
        visible=visible,
        lander=lander,
        rovers=[_draw_rover(rng, waypoints, visible, lander) for _ in range(rovers)],
        cameras=[
            Camera(rng.randrange(rovers), rng.randrange(objectives), rng.sample(MODES, rng.randint(1, len(MODES))))
            for _ in range(cameras)
        ],
        seen_from=[rng.sample(range(waypoints), rng.randint(1, 1 + waypoints // 3)) for _ in range(objectives)],
        samples=[],
    )


def _draw_rover(rng: random.Random, waypoints: int, visible: Pairs, lander: int) -> Rover:
    """Draw a rover that can leave its start and go where the lander is seen."""
    neighbours: list[list[int]] = [[] for _ in range(waypoints)]
    for one, other in visible:
        neighbours[one].append(other)
        neighbours[other].append(one)
    while True:
        reached = [rng.randrange(waypoints)]
        roads = []
        for place in reached:  # grows while it is read: breadth first
            for other in rng.sample(neighbours[place], len(neighbours[place])):
                if other not in reached and rng.random() < 4 / 5:
                    reached.append(other)
                    roads.append((place, other))
        if roads and not set(reached).isdisjoint(neighbours[lander]):
            return Rover(reached[0], roads, [kind for kind in KINDS if rng.random() < 1 / 2])


def _write(mission: Mission, samples: list[tuple[str, int]], shots: list[tuple[int, str]]) -> str:
    """Write the problem of reporting these samples and images."""
    rovers = range(len(mission.rovers))
    init = ["channel_free general", f"at_lander general waypoint{mission.lander}"]
    for one, other in mission.visible:
        init += [f"visible waypoint{one} waypoint{other}", f"visible waypoint{other} waypoint{one}"]
    init += [f"at_{kind}_sample waypoint{waypoint}" for kind, waypoint in mission.samples]
    for name, rover in zip((f"rover{number}" for number in rovers), mission.rovers, strict=True):
        init += [f"at {name} waypoint{rover.start}", f"available {name}"]
        init += [f"store_of {name}store {name}", f"empty {name}store"]
        init += [f"equipped_for_{kind}_analysis {name}" for kind in rover.analyses]
        for one, other in rover.roads:
            init += [f"can_traverse {name} waypoint{x} waypoint{y}" for x, y in ((one, other), (other, one))]
    init += [f"equipped_for_imaging rover{number}" for number in sorted({camera.rover for camera in mission.cameras})]
    for number, camera in enumerate(mission.cameras):
        init += [f"on_board camera{number} rover{camera.rover}"]
        init += [f"calibration_target camera{number} objective{camera.target}"]
        init += [f"supports camera{number} {mode}" for mode in camera.modes]
    for number, waypoints in enumerate(mission.seen_from):
        init += [f"visible_from objective{number} waypoint{waypoint}" for waypoint in waypoints]
    kinds = {
        "lander": ["general"],
        "mode": MODES,
        "rover": [f"rover{number}" for number in rovers],
        "store": [f"rover{number}store" for number in rovers],
        "waypoint": [f"waypoint{number}" for number in range(mission.waypoints)],
        "camera": [f"camera{number}" for number in range(len(mission.cameras))],
        "objective": [f"objective{number}" for number in range(len(mission.seen_from))],
    }
    return problem_text(
        f"rovers-r{len(mission.rovers)}-w{mission.waypoints}",
        domain="rover",
        objects=[f"{' '.join(names)} - {kind}" for kind, names in kinds.items() if names],
        init=init,
        goal=[
            *[f"communicated_{kind}_data waypoint{waypoint}" for kind, waypoint in samples],
            *[f"communicated_image_data objective{objective} {mode}" for objective, mode in shots],
        ],
    )
