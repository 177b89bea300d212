"""Documentation that Debian packages hold, and how much of it survives the reader.

Manuals say themselves what is their text: it stands in their main part (role=main, main, article, or the container of
the program that made them), outside of navigation. Nothing of it may be lost, so there is no truth to write by hand:
headings, paragraphs and code blocks of that part must all be found in the Markdown. Of each package so many pages count,
drawn by a hash of their paths."""

import hashlib
import os
import re

# The first of these that holds some text is the page's main part.
MAIN_PARTS = (
    '//*[@role="main"]',
    "//main",
    "//article",
    '//*[@id="api-wrapper"]/*[@id="content"]|//*[@id="apicontent"]',
    '//div[@class="body"]',
    '//div[@id="content"]',
    '//div[contains(@class,"fancy")]/..',
    "//body",
)
LEAST_TEXT = 200
# Furniture by its tag or role; a word in an id says nothing.
FURNITURE = frozenset("nav aside header footer script style noscript template button select form".split())
FURNITURE_ROLES = frozenset("navigation search banner contentinfo complementary".split())
LISTS_OF_LINKS = re.compile(
    r"\b(nav(igation|bar|header|footer)?|sidebar\w*|sphinxsidebar\w*|toc|table-of-contents|breadcrumbs?|related|footer"
    r"|headerlink|search)\b",
    re.IGNORECASE,
)
CONTAINERS = frozenset("div ul ol table section".split())
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
LINKS_WITHOUT_MEANING = frozenset(("", "source", "src", "readmore"))
PAGER = re.compile(r"\s*(Next|Previous|Up):")
INDEXES = re.compile(r"genindex|search|py-modindex|index-all|allclasses|doc-index")
SMALLEST_PAGE, LARGEST_PAGE = 3000, 2_000_000  # bytes
LEAST_LETTERS, LEAST_PARAGRAPH, LEAST_PARAGRAPHS = 3, 40, 2
PARTS = ("headings", "paragraphs", "code")


def letters(text):
    return re.sub(r"[\W\d_]+", "", text.lower())


# ---- what a page holds ----


def is_furniture(element):
    return element.tag in FURNITURE or (element.get("role") or "") in FURNITURE_ROLES


def is_element(node):
    return isinstance(node.tag, str)


def text_of(element):
    """The text below, without furniture, marks of links and references to notes."""
    if is_furniture(element):
        return ""
    if element.tag == "a" and letters(element.text_content()) in LINKS_WITHOUT_MEANING:
        return ""
    if element.tag == "sup" and element.find(".//a") is not None:
        return ""
    pieces = [element.text or ""]
    for child in element:
        pieces += [text_of(child) if is_element(child) else "", child.tail or ""]
    return "".join(pieces)


def gather(element, parts):
    """Adds what stands below to the headings, paragraphs and code blocks."""
    is_list_of_links = element.tag in CONTAINERS and LISTS_OF_LINKS.search(element.get("class") or "")
    if is_furniture(element) or is_list_of_links:
        return
    if element.tag in HEADINGS:
        parts["headings"].append(text_of(element))
    elif element.tag == "pre":
        parts["code"].append(text_of(element))
    elif element.tag == "p":
        text = text_of(element)
        if len(letters(text)) >= LEAST_PARAGRAPH and not PAGER.match(text):
            parts["paragraphs"].append(text)
    else:
        for child in filter(is_element, element):
            gather(child, parts)


def parts_of(path):
    """Headings, paragraphs and code of a page; None where there is too little to tell."""
    import lxml.etree
    import lxml.html

    with open(path, "rb") as file:
        page = file.read()
    try:
        tree = lxml.html.fromstring(page)
    except (lxml.etree.ParserError, lxml.etree.XMLSyntaxError, ValueError):
        return None
    for place in MAIN_PARTS:
        found = [element for element in tree.xpath(place) if len(element.text_content()) > LEAST_TEXT]
        if found:
            parts = {name: [] for name in PARTS}
            gather(max(found, key=lambda element: len(element.text_content())), parts)
            return parts if len(parts["paragraphs"]) >= LEAST_PARAGRAPHS else None
    return None


# ---- what was found ----

LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)")
ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|])")


def letters_of_markdown(markdown):
    return letters(re.sub(r"</?su[bp]>|<br>", "", ESCAPE.sub(r"\1", LINK.sub(r"\1", markdown))))


def lost_parts(parts, markdown):
    """For each kind of part: how many there are, and those that the Markdown lacks."""
    text = letters_of_markdown(markdown)
    row = {}
    for name in PARTS:
        wanted = [part for part in map(letters, parts[name]) if len(part) >= LEAST_LETTERS]
        row[name] = len(wanted), [part for part in wanted if part not in text]
    return row


# ---- packages ----


def pages_of(folder, package):
    """The pages of a package, in the order in which they are drawn."""
    paths = [
        os.path.join(path, file)
        for path, _, files in os.walk(os.path.join(folder, package))
        for file in files
        if file.endswith((".html", ".htm"))
    ]
    paths = [
        path
        for path in paths
        if not os.path.islink(path)
        and SMALLEST_PAGE < os.path.getsize(path) < LARGEST_PAGE
        and not INDEXES.search(path)
    ]
    return sorted(paths, key=lambda path: hashlib.sha256(os.path.relpath(path, folder).encode()).hexdigest())


def packages_in(folder):
    return sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
