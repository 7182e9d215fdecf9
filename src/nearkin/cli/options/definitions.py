"""Definitions of the options of all commands: names, help and panels.

Each panel has a function that makes its options. If an option is None when not given, its help states the default,
which may come from a preset or from the input.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from nearkin.cli.parameters import argument, option

_input = partial(option, panel="Input")
_search = partial(option, panel="What is a near-duplicate")
_choice = partial(option, panel="What is kept")
_output = partial(option, panel="Output")
_run = partial(option, panel="The run")
FinishedRun = Annotated[Path, argument(metavar="DIR", help="Results of nearkin dedup.")]
Encoding = Annotated[
    str,
    _input(
        help="Encoding of text, CSV and TSV that is neither UTF-8 nor begins with a byte order mark, for example "
        "cp1252. [default: such text is unreadable]",
    ),
]
HigherThreshold = Annotated[float, _search(help="Minimum similarity; at least the threshold of the run.")]
OtherGroup = Annotated[str | None, _choice(help="principal or component. [default: as in the run]")]
Out = Annotated[Path, _output("--out", help="Directory for the results.")]
OutBeside = Annotated[
    Path | None,
    _output("--out", help="Directory for the results. [default: DIR/threshold-T]"),
]
WriteKept = Annotated[
    bool,
    _output("--write-kept", help="Also write the cleaned corpus, in the format of the input or as JSON Lines."),
]
Report = Annotated[bool, _output("--report/--no-report", help="Write report.html.")]
Overlay = Annotated[
    str | None,
    _output(
        "--overlay",
        metavar="TOOL",
        help="Also write an overlay with the field names of relativity, everlaw, reveal, purview or plain, keyed on "
        "the control number.",
    ),
]
Json = Annotated[bool, _output("--json", help="Print the result as JSON and nothing else.")]
Quiet = Annotated[bool, _output("--quiet", "-q", help="Print only errors and warnings.")]
Resume = Annotated[
    bool,
    _run(
        "--resume",
        help="Continue an interrupted run; the results are the same, byte for byte.",
    ),
]
Overwrite = Annotated[bool, _run("--overwrite", help="Replace the results of an earlier run.")]
Threads = Annotated[int, _run(help="Worker threads; 0 means one per CPU core.")]
Memory = Annotated[str, _run(help="Memory limit, for example 2GiB; at least 256MiB.")]
SignatureFile = Annotated[Path, argument(metavar="SIGNATURES", help="A file that nearkin sign wrote.")]
Query = Annotated[
    str | None, _search(help="Print only the neighbours of the document with this id, the nearest first.")
]
OutFile = Annotated[Path, _output("--out", help="File for the result.")]
OutFileIfAny = Annotated[Path | None, _output("--out", help="File for the result.")]
PairsFile = Annotated[
    Path | None,
    _output(
        "--out",
        help="File for the pairs: .parquet, .csv, .tsv or .jsonl; Parquet without a suffix.",
    ),
]
OverwriteFile = Annotated[bool, _output("--overwrite", help="Replace the file of --out.")]
