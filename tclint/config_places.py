"""Places of code that nobody trains or serves with, told by names of folders and files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache
from typing import Final

from tclint.records import record

CODE: Final = "code"
"""The place of everything else."""


@record(frozen=True)
class Place:
    """A kind of code: ``words`` name it in a sentence; names of folders, patterns of files.

    The patterns match names without the ending, and those in ``but`` take some of them back.
    """

    name: str
    words: str
    folders: frozenset[str]
    files: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def holds(self, parts: Sequence[str]) -> bool:
        """Whether a file is there, by the parts of its path from the configuration's folder."""
        *folders, file = parts
        stem = file.rpartition(".")[0] or file
        if not self.folders.isdisjoint(folder.lower() for folder in folders):
            return True
        return _matches(self.files, stem) and not _matches(self.but, stem)


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    return bool(patterns) and _as_one(patterns).match(name) is not None


@cache
def _as_one(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Patterns of names as one expression, which is looked for at once."""
    return re.compile("|".join(map(translate, patterns)))


PLACES: Final = (
    Place(
        "tests", "tests",
        frozenset({"test", "tests", "testing", "unit_test", "unit_tests", "unittests"}),
        ("test_*", "*_test", "*_tests", "tests", "conftest"),
        ("test_time_*",),  # what is done to inputs at test time
    ),
    Place(
        "benchmarks", "benchmarks",
        frozenset({"bench", "benchmark", "benchmarks", "benchmarking", "perf", "profiling"}),
        ("bench_*", "*_bench", "benchmark*", "*_benchmark", "*_benchmarks", "profile_*"),
    ),
    Place(
        "archives", "archives",
        frozenset({"archive", "archived", "archives", "records", "runs", "outputs", "log", "logs",
                   "lightning_logs", "mlruns", "wandb"}),
    ),
    Place(
        "export", "export code",
        frozenset({"export", "exporter", "exporters", "exports", "onnx", "tensorrt", "coreml",
                   "tflite", "openvino", "deploy", "deployment"}),
        ("export", "export_*", "*_export", "onnx_*", "*_onnx", "convert_*", "deploy_*"),
    ),
    Place(
        "visualization", "visualization code",
        frozenset({"vis", "viz", "visualization", "visualisation", "visualizations",
                   "visualisations", "visualizer", "visualize", "plots", "plotting", "figures"}),
        ("plot", "plot_*", "*_plot", "plotting", "plots", "vis_*", "viz_*", "*_vis", "*_viz",
         "visuali[sz]e*", "visuali[sz]ation*", "visuali[sz]er*", "*_visuali[sz]e",
         "*_visuali[sz]ation", "*_visuali[sz]er"),
    ),
    Place(
        "data", "data preparation",
        frozenset({"data", "data_loader", "data_loaders", "data_loading", "data_utils",
                   "dataloader", "dataloaders", "dataset", "datasets", "datamodule", "datamodules",
                   "preprocess", "preprocessing", "transform", "transforms"}),
        ("dataset", "datasets", "dataset_*", "*_dataset", "*_datasets", "dataloader", "dataloaders",
         "*_dataloader", "data_loader", "data_loaders", "*_data_loader", "data_utils",
         "preprocess", "preprocess_*", "preprocessing"),
    ),
)  # fmt: skip
"""The first that holds a file decides."""

WORDS: Final = {place.name: place.words for place in PLACES}
PLACE_NAMES: Final = (CODE, *WORDS)

UNTRAINED: Final = ("tests", "benchmarks", "archives")
"""What the users of a library do not get."""


def place_by_name(parts: Sequence[str]) -> str:
    """The place of a file by the names of its folders and its own."""
    return next((place.name for place in PLACES if place.holds(parts)), CODE)
