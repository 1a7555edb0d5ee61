"""Check sentences of the pages written by hand: at most 25 words, a verb, no "beside", no ellipsis: `prose.py`

It reads paragraphs and items of lists in Markdown. It leaves out tables, headings, code, blocks between `<!-- name -->`, the
changelog, and the scenario's reference, which doc comments become. What has a letter or a digit is a word; code is one, whatever
its length. Items of lists end a sentence at a semicolon, too. "Beside" was used for "besides", "compared with" and "in", so pages
and messages say "next to" or one of these; comments, tables and headings may have it. "So do the others", "nor is it" and
"goes on" leave out what a reader needs, and "ten packets a second" is ten packets per second.

It cannot see whether a sentence is clear: a pronoun without its noun, a wrong term, a figure without a unit, two thoughts in
twenty words. Most plurals look like verbs to it, and so does the verb of "nodes that send": it finds only the barest fragments.
"""

import re
import sys

import rust

MOST_WORDS = 25
# Sentences that are longer, by page: citations of papers, lists of keys and of programs. These numbers may only fall.
LONGER = {
    "bench/peers/README.md": 3,
    "bench/peers/ns3/README.md": 3,
    "docs/results.md": 3,
}
NOT_READ = re.compile(r"docs/scenario/|docs/SUMMARY|CHANGELOG")
# A sentence of so many words has a verb; one that this does not know is added to it.
SHORTEST = 8
VERB = re.compile(
    r"\b(?:is|are|was|be|been|has|have|had|do|did|can|could|may|might|must|should|will|would|cannot|let|make|made|give|gave|get|"
    r"got|take|took|keep|kept|put|set|run|ran|see|say|said|write|hold|held|show|use|add|lose|lost|need|find|found|come|came|go|"
    r"went|know|begin|choose|tell|leave|send|read|wait|cost|cut|fit|act|adapt|agree|ask|belong|carry|change|collide|contend|"
    r"build|count|cross|decide|depend|describe|differ|end|fall|gain|govern|hear|install|lack|last|lie|miss|observe|overlap|"
    r"press|reach|repeat|replace|reply|respond|save|serve|simulate|start|stay|stop|\w{2,}s|\w{2,}ed)\b",
    re.IGNORECASE,
)
ELLIPSIS = re.compile(
    r"^(?:So|Nor) (?:am|are|can|could|did|do|does|had|has|have|is|was|were|will)\b|\bgo(?:es)? on\b|"
    r"\b(?:\d[\d,.]*|one|two|three|five|ten|hundred|thousand|million) [a-z]{4,} an? (?:second|minute|hour|run|node|packet)\b"
)
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"^<!-- (\w+).*?-->$.*?^<!-- (?:end|\1) -->$", re.MULTILINE | re.DOTALL)
NO_TEXT = re.compile(r" {0,3}(?:#|\||>|<!--|!\[)| {4,}(?![-*] )")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
# Not after "p." or "Fig."; in items after a semicolon, too.
END = r"(?<! p\.)(?<![Ff]ig\.)(?<=[.!?{}])\)?\s+"
# The initials of an author, at which a citation is split.
INITIAL = re.compile(r"\b[A-Z]\. [A-Z]")
MESSAGE = re.compile(r'^(?! *(?://|#))[^"\n]*"[^"\n]* beside [^"\n]*"', re.MULTILINE)


def paragraphs(text):
    """Paragraphs and items of lists, each in one line, with the numbers of their first lines."""

    def blank(found):
        return "\n" * found.group().count("\n")

    lines = []
    for number, line in enumerate([*GENERATED.sub(blank, FENCE.sub(blank, text)).splitlines(), ""], 1):
        is_text = line.strip() and not NO_TEXT.match(line)
        if lines and (not is_text or ITEM.match(line.strip())):
            yield lines[0][0], " ".join(line for _, line in lines)
            lines = []
        if is_text:
            lines.append((number, line.strip()))


def sentences(paragraph):
    is_item = ITEM.match(paragraph)
    text = re.sub(r"`[^`]*`", "CODE", paragraph[is_item.end() :] if is_item else paragraph)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("*", "")
    return re.split(END.format(";" if is_item else ""), text)


def words(sentence):
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def main():
    wrong = []
    count = 0
    for file in rust.listed("*.md"):
        page = file.relative_to(rust.ROOT).as_posix()
        if NOT_READ.search(page):
            continue
        longer = []
        for line, paragraph in paragraphs(file.read_text()):
            for sentence in sentences(paragraph):
                count += 1
                start = f"{page}:{line}: {sentence[:60]}...:"
                if words(sentence) > MOST_WORDS:
                    longer.append(f"{start} {words(sentence)} words, at most {MOST_WORDS}")
                if re.search(r"\bbeside\b", sentence):
                    wrong.append(f"{start} \"beside\": write \"besides\", \"next to\", \"compared with\"")
                if found := ELLIPSIS.search(sentence):
                    wrong.append(f"{start} \"{found.group()}\": name what it is, \"continues\", \"per second\"")
                is_whole = words(sentence) >= SHORTEST and not ITEM.match(paragraph) and not INITIAL.search(paragraph)
                if is_whole and not VERB.search(sentence):
                    wrong.append(f"{start} no verb, or one that tests/prose.py does not know")
        if len(longer) > LONGER.get(page, 0):
            wrong += longer
        elif len(longer) < LONGER.get(page, 0):
            wrong.append(f"{page}: {len(longer)} long sentences: write this number into tests/prose.py")
    sources = set(rust.listed("crates/*.rs"))
    for file in sorted(sources - rust.test_files(sources)):
        text = file.read_text().splitlines()
        tested = {row for rows, *_ in rust.tested(text) for row in rows}
        wrong += [
            f"{file.relative_to(rust.ROOT)}:{row + 1}: a message has \"beside\""
            for row, line in enumerate(text)
            if row not in tested and MESSAGE.match(line)
        ]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"prose: {count:,} sentences")


if __name__ == "__main__":
    main()
