"""Scripts without spaces: what shingles of words see of Chinese, Japanese and Thai. Needs no data.

``python benchmarks/evidence/unspaced.py``
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pairs import jaccard, normalised, print_table

from nearkin.stages.features.shingles import Characters, Words

TEXTS = {
    "Chinese": (
        "本合同自双方签字之日起生效，有效期为三年。乙方应在每月五日之前向甲方支付租金，逾期支付的，每逾期一日应按欠付金额的"
        "千分之一支付违约金。租赁期满前两个月，任何一方均可书面通知对方不再续租。未收到通知的，合同自动延长一年。",
        "本合同自双方签字之日起生效，有效期为五年。乙方应在每月五日之前向甲方支付租金，逾期支付的，每逾期一日应按欠付金额的"
        "千分之二支付违约金。租赁期满前两个月，任何一方均可书面通知对方不再续租。未收到通知的，合同自动延长一年。",
        "昨天下午，一场突如其来的大雨让城里的孩子们跑到街上玩水。老人坐在茶馆门口，看着雨水沿着屋檐流下来，想起了小时候在"
        "河边捉鱼的日子。傍晚时分天空放晴，远处的山上出现了一道彩虹，许多人停下脚步拍照。",
    ),
    "Japanese": (
        "本契約は、両当事者が署名した日から効力を生じ、その有効期間は三年間とする。借主は毎月五日までに賃料を支払うものとし、"
        "支払いが遅れた場合には年率十パーセントの遅延損害金を加算する。期間満了の二か月前までに申し出がないときは、契約は自動的に"
        "一年間更新される。",
        "本契約は、両当事者が署名した日から効力を生じ、その有効期間は五年間とする。借主は毎月五日までに賃料を支払うものとし、"
        "支払いが遅れた場合には年率八パーセントの遅延損害金を加算する。期間満了の二か月前までに申し出がないときは、契約は自動的に"
        "一年間更新される。",
        "昨日の午後、急に雨が降り出して、子どもたちは喜んで道に飛び出した。喫茶店の前に座っていたおじいさんは、屋根から落ちる"
        "しずくを眺めながら、川で魚をとった幼いころを思い出していた。夕方には空が晴れて、遠くの山に虹がかかった。",
    ),
    "Thai": (
        "สัญญานี้มีผลบังคับใช้นับตั้งแต่วันที่ทั้งสองฝ่ายลงนามและมีกำหนดสามปี ผู้เช่าต้องชำระค่าเช่าภายในวันที่ห้าของทุกเดือน "
        "หากชำระล่าช้าจะต้องเสียดอกเบี้ยร้อยละสิบต่อปี และหากไม่มีการแจ้งล่วงหน้าสองเดือนให้ถือว่าต่ออายุสัญญาออกไปอีกหนึ่งปี",
        "สัญญานี้มีผลบังคับใช้นับตั้งแต่วันที่ทั้งสองฝ่ายลงนามและมีกำหนดห้าปี ผู้เช่าต้องชำระค่าเช่าภายในวันที่ห้าของทุกเดือน "
        "หากชำระล่าช้าจะต้องเสียดอกเบี้ยร้อยละแปดต่อปี และหากไม่มีการแจ้งล่วงหน้าสองเดือนให้ถือว่าต่ออายุสัญญาออกไปอีกหนึ่งปี",
        "เมื่อวานตอนบ่ายฝนตกลงมาอย่างกะทันหัน เด็กๆ วิ่งออกไปเล่นน้ำบนถนนด้วยความดีใจ คุณตานั่งอยู่หน้าร้านกาแฟ "
        "มองดูน้ำไหลลงจากหลังคาแล้วนึกถึงสมัยเด็กที่เคยจับปลาในแม่น้ำ ตอนเย็นท้องฟ้าแจ่มใสและมีรุ้งกินน้ำพาดผ่านภูเขา",
    ),
}
"""For each script a clause, the same clause with two terms changed, and another text. Written for this test."""


def split_at_spaces(texts: pa.LargeStringArray) -> list[int]:
    """How many words a splitter that knows only spaces finds."""
    return [len(text.split()) for text in texts.to_pylist()]


if __name__ == "__main__":
    left, right = np.array([0, 0], np.uint32), np.array([1, 2], np.uint32)
    rows = []
    for script, texts in TEXTS.items():
        ready = normalised(texts)
        for shingle in (Words(3), Words(5), Words(7), Characters(5), Characters(8)):
            sets = shingle.sets(ready)
            changed, other = jaccard(sets, left, right)
            rows.append(
                (
                    f"{script}, {shingle}",
                    split_at_spaces(ready)[0],
                    sets.n_units[0],
                    sets.sizes[0],
                    f"{changed:.3f}",
                    f"{other:.3f}",
                )
            )
    print_table(
        "Scripts without spaces: a clause, the same with two terms changed, another text",
        ("script, shingle", "words at spaces", "units", "shingles", "two terms changed", "another text"),
        rows,
    )
