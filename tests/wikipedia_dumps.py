"""Small dumps of Wikipedia, as MediaWiki exports them."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

HEAD = """\
<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.mediawiki.org/xml/export-0.11/ http://www.mediawiki.org/xml/export-0.11.xsd" \
version="0.11" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>dewiki</dbname>
    <base>https://de.wikipedia.org/wiki/Wikipedia:Hauptseite</base>
    <generator>MediaWiki 1.45.0-wmf.1</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Medium</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Diskussion</namespace>
      <namespace key="6" case="first-letter">Datei</namespace>
      <namespace key="10" case="first-letter">Vorlage</namespace>
      <namespace key="14" case="first-letter">Schlagwort</namespace>
    </namespaces>
  </siteinfo>
"""
TAIL = "</mediawiki>\n"
PROSE = "Regen ist die am häufigsten auftretende Form flüssigen Niederschlags aus Wolken. " * 10


def page(title: str, text: str, *, number: int = 1, namespace: int = 0, redirect: str | None = None) -> str:
    length = len(text.encode())
    target = "" if redirect is None else f"    <redirect title={quoteattr(redirect)} />\n"
    return f"""\
  <page>
    <title>{escape(title)}</title>
    <ns>{namespace}</ns>
    <id>{number}</id>
{target}    <revision>
      <id>{number + 1000}</id>
      <parentid>{number + 900}</parentid>
      <timestamp>2025-01-31T12:00:00Z</timestamp>
      <contributor>
        <username>Bot</username>
        <id>77</id>
      </contributor>
      <comment>title</comment>
      <origin>{number + 1000}</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{length}" sha1="8xwtzcx0lnqkk2d0vg7rpg7jgn5nd2w" xml:space="preserve">{escape(text)}</text>
      <sha1>8xwtzcx0lnqkk2d0vg7rpg7jgn5nd2w</sha1>
    </revision>
  </page>
"""


def dump(*pages: str) -> bytes:
    return (HEAD + "".join(pages) + TAIL).encode()


def old_page(title: str, text: str, redirect: str = "") -> str:
    """As before export-0.6: without a namespace; without an element for redirects too, or with an empty one."""
    return f"""\
  <page>
    <title>{escape(title)}</title>
    <id>5</id>
    {redirect}<revision>
      <id>9</id>
      <timestamp>2011-01-31T12:00:00Z</timestamp>
      <contributor><ip>127.0.0.1</ip></contributor>
      <text xml:space="preserve">{escape(text)}</text>
    </revision>
  </page>
"""
