"""The benchmark that keeps tclint honest: its findings against what torch.compile really does.

Run: python -m benchmarks.models [--catalogue others] [--types bert,llama] [--mode eval]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.catalogues import CATALOGUES, Model
from benchmarks.models.join import Joined, join
from benchmarks.models.record import Measured
from benchmarks.models.report import MODES, page, source_of, summary
from benchmarks.models.runner import measure_all
from benchmarks.models.static import Predicted, predicted_breaks
from benchmarks.models.totals import total
from tclint.config import Config, Settings
from tclint.torch_bounds.releases import minor_version

TITLES = {"transformers": "real models", "others": "models of other packages"}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, check, join, report."""
    options = _options(argv)
    models = _chosen(CATALOGUES[options.catalogue], options.types)
    modes = [options.mode] if options.mode else list(MODES)
    jobs = [(model, mode) for model in models for mode in modes]
    records = measure_all(jobs, options.jobs, options.time_limit, options.resume)
    ran = [one for one in records if one.failure is None]
    if not ran:
        print("no model ran; the first failure:", records[0].failure, file=sys.stderr)
        return 2
    roots = {one.root for one in ran}
    if len(roots) > 1:
        print("the records come from different installations:", *sorted(roots), file=sys.stderr)
        return 2
    root = Path(roots.pop())
    config = Config(root, settings=Settings(target_torch=_torch_of(ran)))
    predicted = predicted_breaks(root, {file for one in ran for file in one.executed}, config)
    joined = _joined(models, records, predicted, root)
    totals = total(joined)
    print(summary(joined, totals))
    if options.markdown:
        versions = {name: version for one in ran for name, version in one.versions.items()}
        report = page(joined, totals, versions, source_of(root), TITLES[options.catalogue])
        options.markdown.write_text(report)
    if options.json:
        options.json.write_text(json.dumps(_everything(joined), indent=1, default=list) + "\n")
    return 0


def _torch_of(ran: Sequence[Measured]) -> tuple[int, int]:
    """The newest torch that a model ran with."""
    return max(minor_version(one.versions["torch"]) for one in ran)


def _joined(
    models: Sequence[Model], records: Sequence[Measured], predicted: list[Predicted], root: Path
) -> list[Joined]:
    by_model = defaultdict(list)
    for one in records:
        by_model[one.model].append(one)
    return [join(model.family, by_model[model.name], predicted, root) for model in models]


def _everything(joined: Sequence[Joined]) -> list[dict[str, Any]]:
    return [asdict(one) for one in joined]


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    parser.add_argument("--catalogue", choices=CATALOGUES, default="transformers")
    parser.add_argument("--types", help="model types, comma-separated; all when left out")
    parser.add_argument("--mode", choices=MODES, help="one mode only")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--time-limit", type=float, default=90, help="seconds for each process")
    parser.add_argument("--resume", type=Path, help="JSON lines: keep records, skip what is there")
    parser.add_argument("--json", type=Path, help="write everything measured and judged")
    parser.add_argument("--markdown", type=Path, help="write the report")
    return parser.parse_args(argv)


def _chosen(models: Sequence[Model], types: str | None) -> list[Model]:
    if types is None:
        return list(models)
    known = {model.name: model for model in models}
    unknown = [name for name in types.split(",") if name not in known]
    if unknown:
        sys.exit(f"unknown model types: {', '.join(unknown)}; known: {', '.join(known)}")
    return [known[name] for name in types.split(",")]


if __name__ == "__main__":
    sys.exit(main())
