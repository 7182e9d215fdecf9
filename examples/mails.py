"""Write a small collection of mails in files, and the truth about their threads.

::

    python examples/mails.py mails

``inbox.mbox`` holds two thirds of the threads, ``folders`` the others as single files, ``sent`` second copies of some
mails. Some mails are left out, although others refer to them. Everything is invented, and the same on every machine.
truth.jsonl has a line for each mail that is there: its identifier, its ``thread``, the identifier of the mail that it
answers, how it quotes that mail, why it is inclusive (nothing if it is not), and its second copy if there is one; and a
line for each missing one.
"""

from __future__ import annotations

import json
from pathlib import Path

from generator.command import target_folder
from generator.prose import Chance, read_blocks
from generator.threads import ThreadMail, as_message, compose_headed_thread, reasons_of

N_THREADS = 30


def write_mails(folder: Path) -> None:
    """Write all files."""
    subjects = read_blocks("mails.txt")
    for name in ("folders", "sent"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    box, truth, n_files, n_mails, n_copies = list[str](), list[dict[str, object]](), 0, 0, 0
    for number in range(N_THREADS):
        start, mails = compose_headed_thread(subjects, Chance(f"thread {number}"), number)
        reasons = reasons_of(mails)
        for mail in mails:
            truth.append(_told(mail, mails, number, reasons))
            if mail.is_missing:
                continue
            text = as_message(mail, mails, start)
            name = f"{number:02d}-{mail.number}.eml"
            n_mails += 1
            if mail.is_sent_twice:
                (folder / "sent" / name).write_bytes(text.encode())
                n_copies += 1
            if number % 3:
                box.append(f"From someone@example.org Mon Jan  1 00:00:00 2024\n{text}\n")
            else:
                (folder / "folders" / name).write_bytes(text.encode())
                n_files += 1
    (folder / "inbox.mbox").write_bytes("".join(box).encode())
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in truth)
    (folder / "truth.jsonl").write_text("".join(lines), encoding="utf-8")
    print(f"{folder}/inbox.mbox  {n_mails - n_files} mails")
    print(f"{folder}/folders  {n_files} mails")
    print(f"{folder}/sent  {n_copies} copies of mails")


def _told(mail: ThreadMail, mails: list[ThreadMail], number: int, reasons: dict[int, str]) -> dict[str, object]:
    return {
        "message_id": mail.message_id,
        "thread": number,
        "answers": None if mail.parent is None else mails[mail.parent].message_id,
        "style": mail.style,
        "headers": mail.headers,
        "is_missing": mail.is_missing,
        "reason": reasons.get(mail.number) or None,
        "is_sent_twice": mail.is_sent_twice,
    }


if __name__ == "__main__":
    write_mails(target_folder(__doc__, "mails"))
