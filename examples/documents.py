"""Write a small folder of documents as reviewers get them: mail, contracts, an archive, and files that cannot be read.

::

    python examples/documents.py case

Everything is invented, and the same on every machine.
"""

from __future__ import annotations

from generator import office_files as make
from generator.command import target_folder
from generator.prose import Chance, fill, read_blocks

ADA, BO = "Ada Byron <ada@harbour.example>", "Bo Lund <bo@mill.example>"


def documents() -> dict[str, bytes]:
    """The files by their names."""
    chance, filled = Chance("documents"), {"A": "Ada Byron", "B": "Bo Lund"}
    blocks = [block for block in read_blocks("contracts.txt") if block.kind in ("lease", "any")]
    lease = [" ".join(fill(ways[0], chance, filled) for ways in block.sentences) for block in blocks]
    other = " ".join(fill(ways[-1], chance, filled) for ways in blocks[2].sentences)
    changed = [*lease[:2], other, *lease[3:]]
    offer = {"From": ADA, "To": BO, "Subject": "The lease", "Date": "Mon, 4 Mar 2024 09:12:00 +0100"}
    reply = {"From": BO, "To": ADA, "Subject": "Re: The lease", "Date": "Mon, 4 Mar 2024 11:40:00 +0100"}
    asked = "Please find the lease attached. We would like to sign it on Friday, in the office by the harbour."
    agreed = "Thank you. One clause should be changed, as you see in the attached draft. The rest is as agreed."
    mails = [
        make.mail({**offer, "Message-ID": "<1@harbour.example>"}, asked, {"lease.docx": make.docx(lease)}),
        make.mail(
            {**reply, "Message-ID": "<2@mill.example>", "In-Reply-To": "<1@harbour.example>"},
            f"{agreed}\n\n> {asked}",
            {"lease 2.docx": make.docx(changed)},
        ),
    ]
    page = f"<html><head><title>Lease</title></head><body>{''.join(f'<p>{one}</p>' for one in lease)}</body></html>"
    return {
        "archive.zip": make.zipped(
            {"signed/lease.pdf": make.pdf(lease), "signed/scan.pdf": make.pdf([], is_scan=True)}
        ),
        "lease.doc": make.rtf(lease),
        "lease.html": page.encode(),
        "lease draft.docx": make.docx(changed),
        "mail/1.eml": mails[0],
        "mail/all.mbox": b"\n".join(b"From bo Mon Mar  4 11:40:00 2024\n" + one for one in mails),
        "note.txt": b"The lease is with the landlord; the scan still has to be read.\n",
        "broken.pdf": make.pdf(lease)[:700],
        "rent.xlsx": make.xlsx([["month", "rent"], ["March", "1,200"], ["April", "1,200"]]),
    }


def main() -> None:
    folder = target_folder(__doc__, "case")
    for name, content in documents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(path)


if __name__ == "__main__":
    main()
