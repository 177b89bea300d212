"""Renders Markdown as CommonMark with the tables and the deletions of GFM: a JSON list of texts in, a list of HTML out.

A program of its own, since the renderer is in the virtual environment of the web site.
"""

import json
import sys

import markdown_it

parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
json.dump([parser.render(text) for text in json.load(sys.stdin)], sys.stdout)
