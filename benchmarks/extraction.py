"""How fast texts come out of documents, beside the library called plainly, and how good they are.

Speed: files made of known texts, read by one worker in its sandbox, and by the library alone in one process that is
already running. The two take turns, and what counts is processor time, of Nearkin and its worker together, of each in
its best round. The library does the same work: office files with the settings that Nearkin needs, of a mail the
headers, too; of a page, `html.parser` gathers the text, with a line for each paragraph. Its digest, its kind and its
limits are Nearkin's own. Quality:
words that agree (Dice's measure, with repeats) with the texts from which files were made; with a second reader, on a
folder of other people's files; and between files of one name and two formats in that folder::

    python benchmarks/extraction.py
    python benchmarks/extraction.py --files 50 --formats FOLDER
"""

from __future__ import annotations

import argparse
import asyncio
import io
import random
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable
from email import message_from_bytes
from email.header import decode_header, make_header
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from rich.console import Console
from rich.table import Table

from generator import office_files as make
from nearkin.stages.documents.extraction.messages import ExtractionRequest
from nearkin.stages.documents.extraction.office import MIME_TYPES, settings_of_xberg
from nearkin.stages.documents.extraction.pool import ExtractionAnswer, ExtractionPool
from nearkin.stages.documents.readers.extracted import as_documents
from nearkin.stages.documents.rules import ExtractionLimits

PARAGRAPHS, WORDS = 40, 60
GOAL = 0.85
ROUNDS = 9


def html(told: list[str]) -> bytes:
    return f"<html><body>{''.join(f'<p>{one}</p>' for one in told)}</body></html>".encode()


HEADERS = {
    "From": "Ada Lovelace <ada@example.org>", "To": "bo@example.org, Cy <cy@example.org>", "Subject": "Größe",
    "Date": "Mon, 1 Jan 2024 12:00:00 +0200", "Message-ID": "<3@example.org>", "In-Reply-To": "<2@example.org>",
    "References": "<1@example.org> <2@example.org>",
}  # fmt: skip
MADE: dict[str, Callable[[list[str]], bytes]] = {
    "pdf": make.pdf, "docx": make.docx, "xlsx": lambda told: make.xlsx([one.split() for one in told]),
    "pptx": make.pptx, "odt": make.odt, "rtf": make.rtf, "html": html,
    "eml": lambda told: make.mail(HEADERS, "\n\n".join(told)),
}  # fmt: skip


def texts(n: int) -> list[list[str]]:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrst", k=chance.randint(2, 9))) for _ in range(5000)]
    return [[" ".join(chance.choices(words, k=WORDS)) for _ in range(PARAGRAPHS)] for _ in range(n)]


def plainly(kind: str) -> Callable[[bytes], str]:
    """Return the library for a kind, called as its manual says."""
    if kind == "pdf":
        import pypdfium2

        def of_pdf(data: bytes) -> str:
            return "\n".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(data))

        return of_pdf
    if kind == "html":
        return of_page
    if kind == "eml":
        return of_mail
    import xberg

    loop = asyncio.new_event_loop()
    config = settings_of_xberg(ExtractionLimits(), kind)

    def of_office(data: bytes) -> str:
        asked = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=MIME_TYPES[kind])
        return str(loop.run_until_complete(xberg.extract(asked, config)).results[0].content)

    return of_office


class PageText(HTMLParser):
    """Text of a page, gathered as the manual of `html.parser` shows."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_endtag(self, tag: str) -> None:
        """End a line with a paragraph."""
        if tag == "p":
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        """Add text."""
        self.pieces.append(data)


def of_page(data: bytes) -> str:
    reader = PageText()
    reader.feed(data.decode())
    reader.close()
    return "".join(reader.pieces)


def of_mail(data: bytes) -> str:
    """Return the text of a mail, when its headers have been read, too."""
    message = message_from_bytes(data)
    for name in ("Subject", "From", "To", "Cc"):
        str(make_header(decode_header(message.get(name, ""))))
    parsedate_to_datetime(message["Date"])
    for name in ("Message-ID", "In-Reply-To", "References"):
        message.get(name, "").split()
    return "\n".join(
        part.get_payload(decode=True).decode(part.get_content_charset() or "utf-8", "replace")
        for part in message.walk()
        if part.get_content_maintype() == "text"
    )


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def agreement(a: Counter[str], b: Counter[str]) -> float:
    return 2 * (a & b).total() / max(1, a.total() + b.total())


def speed(n_files: int, console: Console) -> None:
    """Time each kind, plainly and through a worker, and compare the texts with what the files were made of."""
    told = texts(n_files)
    table = Table(
        "kind", "library, files per CPU second", "Nearkin, files per CPU second", "share", "of the worker",
        "files per second", "pages per CPU second", "known words",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name, ExtractionPool(1) as pool:
        for kind, how in MADE.items():
            files = []
            for at, content in enumerate(map(how, told)):
                path = Path(name, f"{at}.{kind}")
                path.write_bytes(content)
                files.append(path)
            library = plainly(kind)
            found = read(pool, files[:4])  # starts the worker
            library(files[0].read_bytes())
            plain_s, own_s, worker_s, wall_s = [], [], [], []
            for _ in range(ROUNDS):
                started = time.process_time()
                for file in files:
                    library(file.read_bytes())
                plain_s.append(time.process_time() - started)
                started, before, begun = time.process_time(), worker_cpu_s(pool), time.perf_counter()
                found = read(pool, files)
                wall_s.append(time.perf_counter() - begun)
                worker_s.append(worker_cpu_s(pool) - before)
                own_s.append(time.process_time() - started + worker_s[-1])
            known = min(agreement(words("\n".join(one)), words(text)) for one, (text, _) in zip(told, found))
            pages, plain, own, worker = sum(n for _, n in found), min(plain_s), min(own_s), min(worker_s)
            table.add_row(
                kind, f"{n_files / plain:,.0f}", f"{n_files / own:,.0f}", f"{plain / own:.0%}", f"{plain / worker:.0%}",
                f"{n_files / min(wall_s):,.0f}", f"{pages / own:,.0f}" if pages else "–", f"{known:.4f}",
            )  # fmt: skip
    console.print(table)
    console.print(f"goal: a share of {GOAL:.0%}; CPU seconds are those of all threads of both processes")


def worker_cpu_s(pool: ExtractionPool) -> float:
    """Return the processor time of all workers so far, by the clock of each process (Linux, clock_getcpuclockid(3))."""
    return sum(time.clock_gettime(~worker.process.pid << 3 | 2) for worker in pool.workers)


def submitted(pool: ExtractionPool, files: list[Path]) -> list[tuple[Path, ExtractionAnswer]]:
    """Return each file with its answer to come."""
    return [(file, pool.submit(ExtractionRequest(name=file.name), str(file))) for file in files]


def read(pool: ExtractionPool, files: list[Path]) -> list[tuple[str, int]]:
    """Return text and pages of each file."""
    found = []
    for file, answer in submitted(pool, files):
        for one in as_documents(file.name, answer.nodes()):
            if one.parent is None:
                found.append(((one.text or b"").decode(), (one.origin.n_pages or 0) if one.origin else 0))
    return found


def second(kind: str, data: bytes) -> str | None:
    """Return the text of a second reader; None if there is none for the kind, or it fails."""
    try:
        if kind == "pdf":
            import pypdf

            return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)
        if kind in PARTS:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                names = sorted(one for one in archive.namelist() if re.fullmatch(PARTS[kind], one))
                return "\n".join(in_blocks(archive.read(one)) for one in names)
        if kind in ("html", "eml", "msg"):
            import xberg

            mime = {"html": "text/html", "eml": "message/rfc822", "msg": "application/vnd.ms-outlook"}[kind]
            asked = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=mime)
            config = xberg.ExtractionConfig(use_cache=False, disable_ocr=True)
            return str(asyncio.run(xberg.extract(asked, config)).results[0].content)
    except Exception:  # noqa: BLE001  (other readers raise what comes for files that are damaged)
        return None
    return None


PARTS = {
    "docx": r"word/(document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml",
    "pptx": r"ppt/slides/slide\d+\.xml", "odt": r"content\.xml", "ods": r"content\.xml", "odp": r"content\.xml",
    "xlsx": r"xl/(sharedStrings|worksheets/sheet\d+)\.xml",
}  # fmt: skip
BLOCKS = ("p", "tab", "br", "t", "v", "h", "s", "line-break", "a")


def in_blocks(part: bytes) -> str:
    """Return all characters of a part, apart where a block ends."""
    told = []
    for element in ElementTree.fromstring(part).iter():
        name = element.tag.rpartition("}")[2]
        if name in ("p", "h", "tab", "br", "tr", "c", "si"):
            told.append("\n")
        if name not in ("instrText", "f") and not (name == "v" and element.text and element.text.isdigit()):
            told.append(element.text or "")
        told.append(element.tail or "")
    return "".join(told)


def quality(folder: Path, console: Console) -> None:
    """Compare the texts of other people's files with those of a second reader, and of files of one name."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    agreed: dict[str, list[tuple[float, int]]] = defaultdict(list)
    by_stem: dict[str, dict[str, Counter[str]]] = defaultdict(dict)
    with ExtractionPool(2) as pool:
        for file, answer in submitted(pool, files):
            for one in as_documents(file.name, answer.nodes()):
                if one.parent is not None or one.origin is None:
                    continue
                kind = one.origin.kind
                state = "part" if one.origin.is_partial else "read" if one.text is not None else one.origin.exception
                counts[kind][str(state)] += 1
                own = words((one.text or b"").decode())
                if one.text is not None:
                    by_stem[file.stem][kind] = own
                other = second(kind, file.read_bytes()) if one.text is not None else None
                if other is not None and (theirs := words(other)).total():
                    agreed[kind].append((agreement(own, theirs), theirs.total()))
    table = Table("kind", "files", "read", "in part", "not read, because", "agreement of words", "files below 0.9")
    for kind, found in sorted(counts.items()):
        pairs = agreed[kind]
        share = sum(one * n for one, n in pairs) / max(1, sum(n for _, n in pairs))
        why = ", ".join(f"{name} {n}" for name, n in sorted(found.items()) if name not in ("read", "part"))
        below = sum(one < 0.9 for one, _ in pairs)
        shown = (f"{share:.3f} ({len(pairs)} files)", str(below)) if pairs else ("–", "–")
        table.add_row(kind, str(found.total()), str(found["read"]), str(found["part"]), why, *shown)
    console.print(table)
    twins = Table("name", "formats", "agreement of words")
    for stem, of in sorted(by_stem.items()):
        for (a, one), (b, other) in zip(list(of.items()), list(of.items())[1:]):
            twins.add_row(stem, f"{a}, {b}", f"{agreement(one, other):.3f}")
    console.print(twins)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=200, help="files of each kind that are timed")
    parser.add_argument("--formats", type=Path, help="folder of files of many kinds, for the quality of texts")
    asked = parser.parse_args()
    console = Console(width=140)
    started = time.perf_counter()
    with ExtractionPool(1) as pool, tempfile.TemporaryDirectory() as name:
        path = Path(name, "a.txt.docx")
        path.write_bytes(make.docx(["x"]))
        read(pool, [path])
        console.print(f"first document, with the start of its worker: {time.perf_counter() - started:.2f} s")
    speed(asked.files, console)
    if asked.formats:
        quality(asked.formats, console)


if __name__ == "__main__":
    main()
