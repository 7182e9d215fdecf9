"""The peers: what runs each, and the environment of its own that it runs in."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = HERE / "peers"
ENVIRONMENTS = HERE.parent / ".venvs"
INSTALL_LIMIT_S = 1_800

NO_NETWORK = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DAFT_ANALYTICS_ENABLED": "0",
    "DO_NOT_TRACK": "1",
}
"""Set for every peer: nothing is fetched and nothing is reported during a measurement."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One way of running one package.

    Parameters
    ----------
    name : str
        In the tables.
    package : str
        Names its environment and its pinned requirements, ``peers/<package>.txt``.
    script : str
        In ``peers``.
    arguments : tuple of str
        For the script, after the corpus and the folder.
    rule : str
        Which rule for words is nearest to its own; see ``words.py``.
    """

    name: str
    package: str
    script: str
    arguments: tuple[str, ...] = ()
    rule: str = "nearkin"

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return ENVIRONMENTS / self.package / "bin" / "python"

    def command(self, corpus: Path, out: Path) -> list[str]:
        """What to run."""
        return [str(self.python), str(PEERS / self.script), str(corpus), str(out), *self.arguments]


ALL_PEERS = (
    Peer("text-dedup", "text-dedup", "run_text_dedup.py", rule="text-dedup"),
    Peer("text-dedup xxh3", "text-dedup", "run_text_dedup.py", ("--xxh3",), "text-dedup"),
    Peer("rensa", "rensa", "run_rensa.py"),
    Peer("rensa c-minhash", "rensa", "run_rensa.py", ("--c-minhash",)),
    Peer("rensa rho", "rensa", "run_rensa.py", ("--rho",)),
    Peer("datasketch", "datasketch", "run_datasketch.py"),
    Peer("daft", "daft", "run_daft.py", rule="daft"),
    Peer("daft sketch only", "daft", "run_daft.py", ("--sketch-only",), "daft"),
    Peer("datatrove", "datatrove", "run_datatrove.py", rule="datatrove"),
)


def chosen_peers(names: str) -> list[Peer]:
    """The peers named, separated by commas: by name, or by package for all of its ways; ``all``, ``none``."""
    if names == "all":
        return list(ALL_PEERS)
    wanted = [name.strip() for name in names.split(",") if name.strip() and name != "none"]
    known = {peer.name for peer in ALL_PEERS} | {peer.package for peer in ALL_PEERS}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"--peers must name some of {', '.join(sorted(known))}. Got {', '.join(unknown)} instead.")
    return [peer for peer in ALL_PEERS if peer.name in wanted or peer.package in wanted]


def install(peer: Peer) -> str:
    """Make the peer's environment unless it is there; the reason in a line when that fails, else nothing."""
    requirements = PEERS / f"{peer.package}.txt"
    folder = ENVIRONMENTS / peer.package
    stamp = folder / "installed-from"
    digest = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return ""
    print(f"installing {peer.package} in {folder}", file=sys.stderr)
    steps = [
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(peer.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements)],
    ]
    for step in steps:
        try:
            done = subprocess.run(step, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return f"not installed: more than {INSTALL_LIMIT_S} s"
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
            return f"not installed: {lines[0][:200] if lines else 'pip said nothing'}"
    stamp.write_text(digest)
    return ""
