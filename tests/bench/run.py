"""`make bench`: every measurement, each printed with the machine's load.

python tests/bench/run.py [peers] [embedding] [search] [scan]     (all of them by default)
SHARED=DIR   folder with tools/bench_peers.py and eval/tldr (default: ../shared beside the checkout)
WORK=DIR     scratch folder, kept between runs (default: .bench)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINUX_PAGES = 388  # all of common, then this many of linux by name: about 5,000 pages


def main() -> int:
    wanted = sys.argv[1:] or ["peers", "embedding", "search", "scan"]
    shared = Path(os.environ.get("SHARED", ROOT.parent / "shared")).resolve()
    work = Path(os.environ.get("WORK", ROOT / ".bench")).resolve()
    work.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in wanted:
        one, five, fifteen = os.getloadavg()
        print(f"\n== {name} (load {one:.1f} {five:.1f} {fifteen:.1f}, {os.cpu_count()} cores)", flush=True)
        if name == "embedding":
            failed |= run(sys.executable, HERE / "embedding.py")
        elif not (shared / "eval" / "tldr" / "corpus.tar.gz").is_file():
            print(f"SKIPPED: {shared}/eval/tldr is not there; set SHARED to the folder that has it.")
        elif name == "peers":
            failed |= peers(shared, work)
        else:
            failed |= run(sys.executable, HERE / f"{name}.py", pages(shared, work), work)
    return 1 if failed else 0


def pages(shared: Path, work: Path) -> Path:
    """The 5,000 tldr pages as a folder."""
    folder = work / "tldr"
    if not folder.exists():
        with tarfile.open(shared / "eval" / "tldr" / "corpus.tar.gz") as archive:
            names = sorted(name for name in archive.getnames() if name.endswith(".md"))
            chosen = [name for name in names if name.startswith("common/")]
            chosen += [name for name in names if name.startswith("linux/")][:LINUX_PAGES]
            for name in chosen:
                member = archive.extractfile(name)
                assert member is not None
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(member.read())
    return folder


def peers(shared: Path, work: Path) -> int:
    """The whole product under the harness that measured the others; then again with a model for the other modes."""
    spec = (HERE / "peers_spec.json").read_text(encoding="utf-8")
    spec = spec.replace("$PYTHON", sys.executable).replace("$HERE", str(HERE))
    plain, modelled = work / "spec.json", work / "spec-model.json"
    plain.write_text(spec, encoding="utf-8")
    arguments = [
        sys.executable, shared / "tools" / "bench_peers.py", "--corpus", pages(shared, work), "--work", work / "peers",
        "--queries", "50", "--peers", "", "--qa", HERE / "tldr_questions.json", "--custom", plain,
    ]  # fmt: skip
    if models := os.environ.get("MODELS"):  # a folder of models, so that nothing is fetched while measuring
        modelled.write_text(json.dumps(with_model(json.loads(spec), models)), encoding="utf-8")
        arguments += ["--custom", modelled]
    return run(*arguments)


def with_model(spec: dict[str, Any], models: str) -> dict[str, Any]:
    """The same with vectors. The harness knows three modes; its `semantic` is asked in mode `auto` here."""
    link = "import os, sys; os.makedirs(sys.argv[2]); os.symlink(sys.argv[1], os.path.join(sys.argv[2], 'models'))"
    spec |= {"name": "armillary+model", "env": {}}
    spec["setup"] = [[sys.executable, "-c", link, str(Path(models).resolve()), "$WORK/armillary/data"]]
    for slot, mode in (("semantic", "auto"), ("hybrid", "hybrid")):
        spec[slot] = {"tool": "search_docs", "args": {"query": "$Q", "mode": mode, "limit": 10}}
    return spec


def run(*command: object) -> int:
    return subprocess.run([str(part) for part in command], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
