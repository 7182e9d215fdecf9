"""What a user without extras gets: run with the python of an environment made by a bare ``pip install .``."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXTRAS = (
    "argon2",
    "jinja2",
    "psycopg",
    "py4j",
    "pypdf",
    "pypdfium2",
    "pyspark",
    "rapidfuzz",
    "snowballstemmer",
    "sqlalchemy",
    "starlette",
    "xberg",
)
HEAVY = ("numba", "pyarrow", "numpy", "click", "rich", *EXTRAS)
EXAMPLES = Path(__file__).parents[1] / "examples"
COMPILING = "compiling kernels that"
LEASE = "The tenant shall keep the garden in good order and return every key to the owner on the last day of the term"
DOCUMENTS = [
    {"id": "lease", "text": LEASE},
    {"id": "lease, copied", "text": LEASE.upper()},
    {"id": "letter", "text": "Dear Ms Ito, thank you for the tea and for an evening that none of us will forget soon."},
]


def check(holds: bool, sentence: str, came: object = "") -> None:
    """Say what was looked at; end with what came when it does not hold."""
    if not holds:
        sys.exit(f"FAILED  {sentence}\n{came}")
    print(f"ok  {sentence}")


def python(code: str) -> str:
    """What a fresh interpreter prints for ``code``."""
    return subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True).stdout


def nearkin(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("nearkin")
    return subprocess.run(
        [command, *arguments], cwd=cwd, env=os.environ | {"NUMBA_CACHE_DIR": str(cwd / "kernels")}, capture_output=True,
        text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def check_imports() -> None:
    present = [name for name in EXTRAS if importlib.util.find_spec(name)]
    check(not present, "no extra is installed here", present)
    loaded = python("import sys, nearkin; print(*sys.modules)").split()
    check(not {*HEAVY} & {*loaded}, "import nearkin loads nothing heavy", {*HEAVY} & {*loaded})


def check_help(folder: Path) -> None:
    for arguments in (["--help"], ["--version"], ["dedup", "--help"], ["regroup", "--help"]):
        run = nearkin(*arguments, cwd=folder)
        check(run.returncode == 0, f"nearkin {' '.join(arguments)}", run.stdout + run.stderr)


def check_dedup(folder: Path) -> None:
    (folder / "in.jsonl").write_text("".join(json.dumps(d) + "\n" for d in DOCUMENTS), encoding="utf-8")
    run = nearkin("dedup", "in.jsonl", "--out", "out", cwd=folder)
    said = run.stdout + run.stderr
    check(run.returncode == 0, "nearkin dedup works without extras", said)
    counts = json.loads((folder / "out/manifest.json").read_text(encoding="utf-8"))["counts"]
    check((counts["unique"], counts["exact_copy"]) == (2, 1), "it finds the copy", counts)
    check(not (folder / "out/report.html").exists(), "report.html is not half written")
    check("nearkin[report]" in said, "it says which extra report.html needs, and how to get it", said)
    check(COMPILING not in said, "three documents need no compiled kernels", said)


def kept_and_dropped(out: Path) -> tuple[int, int, int]:
    """Documents of a run, those kept, and those dropped."""
    counts = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["counts"]
    return counts["documents"], counts["kept"], counts["dropped"]


def check_readme(folder: Path) -> None:
    generate = [sys.executable, str(EXAMPLES / "generate.py"), "collection"]
    subprocess.run(generate, cwd=folder, check=True, capture_output=True)
    files = [f"collection/{one}.jsonl" for one in ("contracts", "oddities")]
    run = nearkin("dedup", *files, "--out", "clean", "--threshold", "0.8", cwd=folder)
    check(run.returncode == 0 and kept_and_dropped(folder / "clean") == (185, 107, 73), "README's first run", run)
    check(run.stderr.count(COMPILING) == 1, "a first run says that kernels are compiled", run.stderr)


def check_documents(folder: Path) -> None:
    case = [sys.executable, str(EXAMPLES / "documents.py"), "case"]
    subprocess.run(case, cwd=folder, check=True, capture_output=True)
    run = nearkin("dedup", "case", "--out", "of-case", "--max-unreadable", "80%", cwd=folder)
    check(
        run.returncode == 0 and kept_and_dropped(folder / "of-case") == (14, 4, 1),
        "mail, HTML and archives need no extra",
        run,
    )
    told = (folder / "of-case/exceptions.csv").read_text(encoding="utf-8")
    check(told.count("nearkin[documents]") == 9, "PDF and office files name the extra", told)


def check_pairs(folder: Path) -> None:
    for side in ("left", "right"):
        (folder / f"{side}.jsonl").write_text(
            "".join(json.dumps({"id": f"d{i}", "text": f"{LEASE} {LEASE}"}) + "\n" for i in range(2)),
            encoding="utf-8",
        )
    (folder / "words.tsv").write_text("".join(f"{word}\t{word}\n" for word in {*LEASE.lower().split()}))
    run = nearkin("align", "dictionary", "words.tsv", "--source", "de", "--target", "en", "--out", "t", cwd=folder)
    check(run.returncode == 0, "nearkin align dictionary works without extras", run)
    pairs = ["pairs", "--left", "left.jsonl", "--right", "right.jsonl", "--table", "t", "--out", "pairs"]
    run = nearkin(*pairs, cwd=folder)
    check(run.returncode == 6 and "nearkin[align]" in run.stderr, "pairs names the extra that stems need", run)
    check("--no-stems" in run.stderr and "Traceback" not in run.stderr, "and the way without it", run.stderr)
    run = nearkin(*pairs, "--no-stems", cwd=folder)
    check(run.returncode == 0, "nearkin pairs works without extras", run)
    check((folder / "pairs/pairs.tsv").read_text().count("\n") == 5, "it finds the pairs", run.stdout)
    for command in (
        ("families", "left.jsonl", "--out", "families"),
        ("sign", "left.jsonl", "--out", "signatures"),
        ("neighbours", "signatures", "--distance", "1", "--out", "near"),
        ("regroup", "clean", "--threshold", "0.9"),
    ):
        run = nearkin(*command, cwd=folder)
        check(run.returncode == 0, f"nearkin {command[0]} works without extras", run)


def check_missing_extras(folder: Path) -> None:
    run = nearkin("dedup", "in.jsonl", "--out", "by-spark", "--engine", "spark", cwd=folder)
    check(run.returncode == 6, "nearkin dedup --engine spark ends with 6 without its extra", run)
    check("nearkin[spark]" in run.stderr, "it says how to get it", run.stderr)
    check("Traceback" not in run.stderr, "without a traceback", run.stderr)
    check(not (folder / "by-spark").exists(), "it leaves nothing behind")

    run = nearkin("add", "matter", "in.jsonl", cwd=folder)
    check(run.returncode == 6, "nearkin add ends with 6 without its extra", run)
    check("nearkin[collection]" in run.stderr, "it says how to get it", run.stderr)
    check("Traceback" not in run.stderr, "without a traceback", run.stderr)
    check(not (folder / "matter").exists(), "it leaves nothing behind")

    run = nearkin("serve", "matter", cwd=folder)
    check(run.returncode == 6 and "nearkin[" in run.stderr, "nearkin serve ends with 6 without its extra", run)
    check("Traceback" not in run.stderr, "without a traceback", run.stderr)


def check_wrong_usage(folder: Path) -> None:
    run = nearkin("dedup", "in.jsonl", "--no-such-option", cwd=folder)
    check(run.returncode == 2, "a wrong option ends with 2", run)
    check("Traceback" not in run.stderr, "without a traceback", run.stderr)
    run = nearkin("dedup", "missing.jsonl", "--out", "out2", cwd=folder)
    check(run.returncode == 3 and "missing.jsonl" in run.stderr, "a missing input is named", run)
    check("Traceback" not in run.stderr, "without a traceback", run.stderr)


def main() -> None:
    check_imports()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_help(folder)
        check_dedup(folder)
        check_readme(folder)
        check_documents(folder)
        check_pairs(folder)
        check_missing_extras(folder)
        check_wrong_usage(folder)


if __name__ == "__main__":
    main()
