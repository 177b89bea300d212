"""What views are made of, by itself: long lists, dialogs, Markdown, and how numbers are written."""

import json

import pytest

USE = "(async () => {{ const dom = await import('/dashboard/dom.js'); const widgets = await import('/dashboard/widgets.js'); {} }})()"


@pytest.fixture
def part(page):
    """A function that runs lines with the modules `dom` and `widgets`."""
    one = page("empty", "setup?tab=tokens")
    return lambda lines: one.run(USE.format(lines))


WRITTEN = [
    ("dom.money(0)", "$0"),
    ("dom.money(0.00025)", "$0.00025"),
    ("dom.money(0.427)", "$0.427"),
    ("dom.money(12.345)", "$12.35"),
    ("dom.money(1234)", "$1,234.00"),
    ("dom.duration(0.42)", "0.4 ms"),
    ("dom.duration(999)", "999 ms"),
    ("dom.duration(1234)", "1.2 s"),
    ("dom.duration(61000)", "1 min 1 s"),
    ("dom.duration(7.3e6)", "2 h 1 min"),
    ("dom.duration(null)", "–"),
    ("dom.short(9999)", "9,999"),
    ("dom.short(1234567)", "1.2M"),
    ("dom.bytes(1536)", "1.5 kB"),
    ("dom.bytes(0)", "0 B"),
    ("dom.ago(Date.now() - 180000)", "3 min. ago"),
    ("dom.ago(Date.now() + 7200000)", "in 2 hr."),
    ("dom.ago(Date.now())", "now"),
    ("dom.printable('a\\u202eb\\x07c')", "a‹RLO›b␇c"),
]


def test_how_things_are_written(part):
    assert part(f"return [{', '.join(made for made, _ in WRITTEN)}];") == [shown for _, shown in WRITTEN]


MARKDOWN = [
    ("# One\n\ntwo *three* **four** `five`", "<h3>One</h3><p>two <em>three</em> <strong>four</strong> <code>five</code></p>"),
    ("- a\n- b\n  - c\n- d", '<ul data-ordered="false"><li>a</li><li>b<ul data-ordered="false"><li>c</li></ul></li><li>d</li></ul>'),
    ("3. a\n4. b", '<ol start="3" data-ordered="true"><li>a</li><li>b</li></ol>'),
    ("```\n<b>*x*\n```", '<pre tabindex="0"><code>&lt;b&gt;*x*</code></pre>'),
    ("> quoted\n> twice", "<blockquote><p>quoted<br>twice</p></blockquote>"),
    ("<b>bold</b>", "<p>&lt;b&gt;bold&lt;/b&gt;</p>"),
    ("---", "<hr>"),
    ("[x](javascript:alert(1))", '<p><bdi class="foreign">x</bdi></p>'),
    (
        "![x](https://example.org/a.png)",
        '<p><a href="https://example.org/a.png" target="_blank" rel="noopener noreferrer" class="outward"><bdi class="foreign">picture: x</bdi></a></p>',
    ),
]


def test_markdown(part):
    texts = json.dumps([text for text, _ in MARKDOWN])
    assert part(f"return {texts}.map((text) => widgets.markdown(text).innerHTML);") == [markup for _, markup in MARKDOWN]


def test_a_list_of_ten_thousand_rows(part):
    made = """
      const list = widgets.virtualList({ label: "Rows", rowHeight: 40, count: 10000, render: (n) => dom.h("button", { type: "button" }, "row " + n) });
      dom.replace(document.querySelector("main"), list.node);
      list.refresh();
      window.list = list;
      return list.node.querySelectorAll("button").length;
    """
    assert 5 < part(made) < 60
    shown = part("list.node.scrollTop = 200000; await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); return [...list.node.querySelectorAll('button')].map((one) => one.textContent);")
    assert "row 5000" in shown and "row 0" not in shown and len(shown) < 60
    assert part("list.focus(9999); return document.activeElement.textContent;") == "row 9999"
    assert part("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true })); return document.activeElement.textContent;") == "row 0"
    assert part("list.update(3); return list.node.querySelectorAll('button').length;") == 3


def test_a_question_before_something_is_done(page):
    one = page("empty", "setup?tab=tokens")
    ask = USE.format("window.said = 'open'; widgets.confirm({ title: 'Delete it?', text: 'For good.', action: 'Delete', danger: true }).then((yes) => { window.said = yes; });")
    one.run(ask)
    assert one.focused() == "Cancel", "what cannot be undone is not a key press away"
    assert not one.axe()
    one.press("Escape")
    one.wait("window.said === false")
    one.run(ask)
    one.click("Delete")
    one.wait("window.said === true && !document.querySelector('dialog')")
