"""Write a production as one law firm sends it to another: a load file, its texts in a folder, and a list of images.

::

    python examples/production.py production

Everything is invented, and the same on every machine. The mails end with a disclaimer and a page number, some have a
contract attached, one text file is missing, and one path leads out of the folder, as a hostile one would.
"""

from __future__ import annotations

from pathlib import Path

from generate import contracts, mails
from generator.command import target_folder

N_MAILS, N_ATTACHED = 40, 8
FIELDS = ("BEGDOC", "ENDDOC", "BEGATTACH", "ENDATTACH", "CUSTODIAN", "SUBJECT", "TEXTPATH")
SEPARATOR, QUALIFIER = "\x14", "þ"
DISCLAIMER = (
    "This message and its attachments are confidential and intended for the addressee alone.\n"
    "If you received it by mistake, tell the sender at once and delete all copies of it."
)
ENCODING = "cp1252"


def documents() -> list[tuple[str, str, str]]:
    """Subject, text and family of each document; the family is the number of the mail."""
    found = []
    attached = iter(contracts())
    for number, mail in enumerate(mails()[:N_MAILS]):
        footer = f"\n\n{DISCLAIMER}\n\nPage {number % 3 + 1} of 3"
        found.append((f"Mail {number + 1}", mail.text + footer, str(number)))
        if number % (N_MAILS // N_ATTACHED) == 0:
            found.append((f"Café contract {number + 1}", next(attached).text, str(number)))
    found.append(("Exhibit", "17 404 2 933\n12.05.1998\n", "exhibit"))
    found.append(("Blank page", "", "blank"))
    return found


def record(*values: str) -> str:
    """Return a record of the load file."""
    return SEPARATOR.join(f"{QUALIFIER}{value}{QUALIFIER}" for value in values) + "\r\n"


def write_production(folder: Path) -> dict[str, int]:
    """Write the files into a folder; returns the number of records and of texts."""
    (folder / "TEXT").mkdir(parents=True)
    rows = documents()
    numbers = [f"ABC{place:06d}" for place in range(1, len(rows) + 1)]
    lines, images = [record(*FIELDS)], []
    for number, (subject, text, family) in zip(numbers, rows, strict=True):
        members = [own for own, (_, _, other) in zip(numbers, rows, strict=True) if other == family]
        attached = (members[0], members[-1]) if len(members) > 1 else ("", "")
        lines.append(record(number, number, *attached, "Rey, Zoë", subject, rf"TEXT\{number}.TXT"))
        images.append(f"{number},ABC,IMAGES\\{number}.tif,Y,,,1\r\n")
        (folder / "TEXT" / f"{number}.txt").write_bytes(text.encode(ENCODING, "replace"))
    lines.append(record("ABC900001", "ABC900001", "", "", "Rey, Zoë", "Lost", r"TEXT\ABC900001.TXT"))
    lines.append(record("ABC900002", "ABC900002", "", "", "Rey, Zoë", "Odd", r"..\..\etc\passwd"))
    (folder / "ABC.dat").write_bytes("".join(lines).encode(ENCODING))
    (folder / "ABC.opt").write_bytes("".join(images).encode(ENCODING))
    return {"records": len(lines) - 1, "texts": len(rows)}


def main(folder: Path) -> None:
    """Write a production and say what is in it."""
    written = write_production(folder)
    print(f"{folder}/ABC.dat  {written['records']} records")
    print(f"{folder}/TEXT  {written['texts']} texts")
    print(f"{folder}/ABC.opt  {written['texts']} images")


if __name__ == "__main__":
    main(target_folder(__doc__))
