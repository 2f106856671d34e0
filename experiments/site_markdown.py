"""What becomes of the text of a page on the site: parts of other files are put in, and links lead where things are.

Beside the code a link may lead to any file of the repository; on the site it leads to the page that has the file or the
part of it, and is plain text if there is none. So pages are written once, and read in both places:

- a paragraph that is nothing but a link to a file outside ``docs/`` stands for that file, or for the section that is
  linked; that of the title is what stands before the first section;
- a picture ``figures/NAME.svg`` is drawn twice, and the page shows the one that suits the reader's colours.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pymdownx.slugs import slugify

slug: Callable[[str, str], str] = slugify(case="lower")

LINK = re.compile(
    r"(?P<code>```.*?```|`[^`\n]+`)|(?P<picture>!?)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s]+)\)", re.DOTALL
)
ALONE = re.compile(r"^\[[^\[\]]*\]\((\.\./[^()\s]+)\)$", re.MULTILINE)
HEADING = re.compile(r"(?P<code>^ *```.*?^ *```)|^(?P<marks>#+) (?P<title>[^\n]+)$", re.DOTALL | re.MULTILINE)
FIGURES = "figures/"


@dataclass(frozen=True)
class Link:
    """Where a link leads: a file, named from the root of the repository, and a part of it or ""."""

    file: str
    anchor: str

    @classmethod
    def of(cls, target: str, source: str) -> Link:
        """What a target means in a file."""
        path, _, anchor = target.partition("#")
        return cls(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source, anchor)

    def __str__(self) -> str:
        return f"{self.file}#{self.anchor}" if self.anchor else self.file


@dataclass(frozen=True)
class Book:
    """The pages in ``docs/`` and what they take from the rest of the repository.

    root   the repository's folder
    homes  where else a part of the repository is told: a file or its section → the page in docs/
    """

    root: Path
    homes: Mapping[Link, str]

    @classmethod
    def of(cls, root: Path) -> Book:
        """Read which pages there are, and what they take."""
        book = cls(root, {})
        pages = sorted((root / "docs").glob("*.md"))
        taken = {
            Link.of(found, f"docs/{page.name}"): page.name
            for page in pages
            for found in ALONE.findall(page.read_text(encoding="utf-8"))
        }
        homes = dict(taken)
        for link, page in taken.items():
            for _, title, _ in headings(book.section(link)):  # a part may be linked by any of its headings
                homes.setdefault(Link(link.file, slug(title, "-")), page)
            homes.setdefault(Link(link.file, ""), page)
        return replace(book, homes=homes)

    def read(self, page: str) -> str:
        """The text of a page in docs/, with what it takes from elsewhere."""
        text = (self.root / "docs" / page).read_text(encoding="utf-8")
        titles = {title for _, title, _ in headings(text)}
        parts, end = [], 0
        for found in ALONE.finditer(text):
            parts.append(self.localize(text[end : found.start()], f"docs/{page}"))
            link = Link.of(found[1], f"docs/{page}")
            parts.append(self.localize(_without_title(self.section(link), titles), link.file))
            end = found.end()
        return "".join([*parts, self.localize(text[end:], f"docs/{page}")])

    def section(self, link: Link) -> str:
        """The text of a file, or of one of its sections with its heading."""
        text = (self.root / link.file).read_text(encoding="utf-8")
        if not link.anchor:
            return text
        found = [*headings(text), (0, "", len(text))]
        for number, (level, title, start) in enumerate(found[:-1]):
            if slug(title, "-") == link.anchor:
                deepest = 6 if level == 1 else level
                return (
                    text[start : next(end for other, _, end in found[number + 1 :] if other <= deepest)].strip() + "\n"
                )
        raise ValueError(f"{link.file} has no section {link.anchor}")

    def localize(self, text: str, source: str) -> str:
        """A text from a file of the repository with its links as the site has them."""

        def lead(found: re.Match[str]) -> str:
            if found["code"] or re.match(r"[a-z]+:", found["target"]):
                return found[0]
            link = Link.of(found["target"], source)
            if found["picture"] and link.file.startswith(f"docs/{FIGURES}"):
                return _in_both_colours(found["text"], link.file.removeprefix("docs/"))
            place = self.place(link, source)
            if place is None:
                return _as_text(found["text"], link)
            is_name = found["text"] == found["target"].partition("#")[0]
            words = self.title(place.partition("#")[0]) if is_name and place.endswith(".md") else found["text"]
            return f"{found['picture']}[{words}]({place})"

        return LINK.sub(lead, text)

    def place(self, link: Link, source: str) -> str | None:
        """Where the site has what is linked; None if nowhere."""
        if link.file.startswith("docs/"):
            return str(link).removeprefix("docs/") if link.file != source else f"#{link.anchor}"
        if not (self.root / link.file).exists():
            raise ValueError(f"{source} leads to {link.file}, which is not there")
        page = self.homes.get(link)
        return page and (f"{page}#{link.anchor}" if link.anchor and link.anchor in self._anchors(page) else page)

    def title(self, page: str) -> str:
        """What a page in docs/ is called."""
        text = (self.root / "docs" / page).read_text(encoding="utf-8")
        parts = [text, *(self.section(Link.of(found, f"docs/{page}")) for found in ALONE.findall(text))]
        return next(title for part in parts for _, title, _ in headings(part))

    def _anchors(self, page: str) -> set[str]:
        text = (self.root / "docs" / page).read_text(encoding="utf-8")
        parts = [text, *(self.section(Link.of(found, f"docs/{page}")) for found in ALONE.findall(text))]
        return {slug(title, "-") for part in parts for _, title, _ in headings(part)}


def headings(text: str) -> Iterator[tuple[int, str, int]]:
    """The level and the title of each heading of a text, and where it stands."""
    for found in HEADING.finditer(text):
        if found["marks"]:
            yield len(found["marks"]), found["title"], found.start()


def _without_title(section: str, titles: set[str]) -> str:
    """A section without its heading if that is one of the page already."""
    first = next(headings(section), None)
    return section.split("\n", 1)[1].lstrip("\n") if first and first[2] == 0 and first[1] in titles else section


def _as_text(text: str, link: Link) -> str:
    """The words of a link to what the site has not, and the name of the file unless they are that."""
    return f"`{link.file}`" if text.strip("`") == link.file else f"{text} (`{link.file}`)"


def _in_both_colours(words: str, picture: str) -> str:
    name = picture.removesuffix(".svg")
    return "\n".join(f"![{words}]({name}-{scheme}.svg#only-{scheme})" for scheme in ("light", "dark"))
