"""What customers say of a product is content: each review that its page shows, with who wrote it, when, and how many
stars, in the markup of several shop systems; what only counts, filters or asks for reviews is not."""

import json

import pytest
from extracting import extract

TEXTS = ("Boils quickly and looks good. I would buy it again.", "The lid broke after a week, and nobody answered.")
ABOUT = (
    "<p>The kettle boils a litre of water in three minutes, switches itself off, and keeps its handle cool while it "
    "does so. It comes with a lid that can be locked and a cord of one metre.</p>"
    "<p>Its base turns in every direction, and the window on both sides shows how much water is left in it.</p>"
)
PRODUCT = {"@context": "https://schema.org", "@type": "Product", "name": "Kettle K1"}


def page(reviews, **members):
    data = json.dumps({**PRODUCT, "offers": {"@type": "Offer", "price": "29.00"}, **members})
    return (
        f"<html><head><title>Kettle K1</title><meta property=og:type content=product>"
        f'<script type="application/ld+json">{data}</script></head><body>'
        f"<nav><ul><li><a href=/>Home</a><li><a href=/k>Kettles</a><li><a href=/p>Pots</a></ul></nav><main>"
        f"<div class=product><h1>Kettle K1</h1><p class=price>$29.00</p>{ABOUT}<button>Add to cart</button></div>"
        f"{reviews}</main><footer><p>The shop of pots and kettles, all rights reserved.</p></footer></body></html>"
    )


SHOPS = {
    "woocommerce": (
        '<div id="reviews" class="woocommerce-Reviews"><div id="comments"><h2 class="woocommerce-Reviews-title">2 '
        'reviews for Kettle K1</h2><ol class="commentlist">{0}</ol></div><div id="review_form_wrapper"><form><p>Your '
        "review</p><textarea></textarea></form></div></div>",
        '<li class="review even" id="li-comment-1"><div class="comment_container"><div class="comment-text"><div '
        'class="star-rating" role="img" aria-label="Rated {stars} out of 5"><span style="width:{percent}%"></span>'
        '</div><p class="meta"><strong class="woocommerce-review__author">{author}</strong> <span>–</span> <time '
        'datetime="2024-03-02">March 2, 2024</time></p><div class="description"><p>{text}</p></div></div></div></li>',
        "## 2 reviews for Kettle K1",
    ),
    "microdata": (
        "<section><h2>What people say</h2><div>{0}</div></section>",
        '<div itemprop="review" itemscope itemtype="https://schema.org/Review"><p itemprop="author">{author}</p><p>'
        '<time itemprop="datePublished" datetime="2024-03-02">March 2, 2024</time></p><span itemprop="reviewRating" '
        'itemscope itemtype="https://schema.org/Rating"><meta itemprop="ratingValue" content="{stars}"><meta '
        'itemprop="bestRating" content="5"></span><p itemprop="reviewBody">{text}</p></div>',
        "## Reviews",
    ),
    "shopify": (
        '<div id="shopify-product-reviews"><div class="spr-container"><div class="spr-header"><h2 '
        'class="spr-header-title">Customer Reviews</h2></div><div class="spr-reviews">{0}</div></div></div>',
        '<div class="spr-review"><div class="spr-review-header"><span class="spr-starratings" '
        'aria-label="{stars} of 5 stars" role="img"><i class="spr-icon"></i></span><h3 class="spr-review-header-title">'
        'A word on it</h3><span class="spr-review-header-byline"><strong>{author}</strong> on <strong>March 2, 2024'
        '</strong></span></div><div class="spr-review-content"><p>{text}</p></div></div>',
        "## Customer Reviews",
    ),
    "magento": (
        '<div id="customer-reviews" class="review-list"><div class="block-title"><h2>Customer Reviews</h2></div><ol '
        'class="review-items">{0}</ol></div>',
        '<li class="item review-item"><div class="review-ratings"><div class="rating-result" title="{percent}%"><span '
        'style="width:{percent}%"></span></div></div><div class="review-content">{text}</div><div '
        'class="review-details"><p class="review-author">Review by <strong>{author}</strong></p><p '
        'class="review-date">Posted on <time datetime="2024-03-02">March 2, 2024</time></p></div></li>',
        "## Customer Reviews",
    ),
}
WRITERS = (("Ann Berg", 5), ("Ben Tide", 2))


def shown(shop):
    around, review, _ = SHOPS[shop]
    written = [
        review.format(author=author, stars=stars, percent=stars * 20, text=text)
        for (author, stars), text in zip(WRITERS, TEXTS, strict=True)
    ]
    return page(around.format("".join(written)))


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    pages = {shop: shown(shop) for shop in SHOPS} | CASES
    return extract(tmp_path_factory.mktemp("reviews"), pages)


@pytest.mark.parametrize("shop", SHOPS)
def test_reviews_are_written(read, shop):
    text = read[shop]
    about, heading, reviews = text.partition("\n" + SHOPS[shop][2] + "\n")
    assert heading, text
    assert "boils a litre" in about, text
    assert not any(said in about for said in TEXTS), text
    items = [item for item in reviews.split("\n- ") if item.strip()]
    assert len(items) == 2, text
    for item, (author, stars), said in zip(items, WRITERS, TEXTS, strict=True):
        assert f"Rating: {stars}/5" in item, text
        assert author in item, text
        assert "March 2, 2024" in item, text
        assert said in item, text
        assert not any(line.lstrip().startswith("#") for line in item.splitlines()), text
    assert "Your review" not in text


def embedded(count, text):
    return [
        {
            "@type": "Review",
            "name": "A word",
            "author": {"@type": "Person", "name": f"Person {number}"},
            "datePublished": "2024-03-02T10:00:00Z",
            "reviewRating": {"@type": "Rating", "ratingValue": "4", "bestRating": 5},
            "reviewBody": f"{number}: {text}",
        }
        for number in range(count)
    ]


ROW = '<div class="review-row"><p class="author">{0}</p><p>{1}</p></div>'
CASES = {
    "left to a script": page("<div id=reviews></div>", review=embedded(2, "It boils * <b>quickly</b>.")),
    "shown, and in the data": page(
        "<div class=reviews>"
        + "".join(ROW.format(f"Person {n}", f"{n}: {TEXTS[0]}") for n in range(2))
        + "</div>",
        review=embedded(2, TEXTS[0]),
    ),
    "parts that nothing parts": page(
        "<div class=reviews>"
        + f"<div class=review><span class=title>So so</span><span class=name>Ann</span><span>{TEXTS[0]}</span></div>" * 2
        + "</div>"
    ),
    "very many": page("<div id=reviews></div>", review=embedded(500, "It boils quickly.")),
    "very many shown": page(
        "<div class=reviews>"
        + "".join(ROW.format(f"P{n}", f"It boils a litre within {n} minutes, and {TEXTS[0]}") for n in range(500))
        + "</div>"
    ),
    "data without a place on the page": page("<div></div>", review=embedded(2, "Obey, it is said.")),
    "strange data": page("<div id=reviews></div>", review=[3, None, "a", {"reviewBody": 4}, {"reviewBody": ["x"]}]),
    "counted": page(
        "<div class=ratings>"
        + "".join(
            f'<div class="rating-row"><span class=date>{n} stars</span> <span>{n * 7}%</span></div>' for n in range(5)
        )
        + "</div>"
    ),
    "hidden": page(
        '<div class=reviews style="display:none">'
        + "".join(ROW.format("Ann", f"Obey {n}, it is said. {TEXTS[0]}") for n in range(3))
        + "</div>"
    ),
    "beside other products": page(
        "<ul class=related>"
        + "".join(
            f'<li class="review-card"><a href=/p{n}>Pot number {n}</a> <span class=date>new</span> '
            f"<span>$1{n}.00</span></li>"
            for n in range(5)
        )
        + "</ul>"
    ),
}


def test_what_a_script_would_show_comes_from_the_data(read):
    text = read["left to a script"]
    assert "## Reviews\n\n- Rating: 4/5\n\n  Person 0, 2024-03-02\n\n  **A word**\n\n  0: It boils" in text
    assert text.count("Rating: 4/5") == 2


def test_what_the_page_shows_is_not_said_twice(read):
    text = read["shown, and in the data"]
    assert text.count(f"1: {TEXTS[0]}") == 1
    assert "Rating" not in text


def test_parts_of_a_review_are_lines(read):
    assert f"- So so\n\n  Ann\n\n  {TEXTS[0]}\n" in read["parts that nothing parts"]


@pytest.mark.parametrize("case", ["very many", "very many shown"])
def test_there_is_a_ceiling(read, case):
    assert read[case].count("\n- ") == 10


@pytest.mark.parametrize("case", ["data without a place on the page", "strange data", "counted", "hidden", "beside other products"])
def test_what_is_no_review_stays_out(read, case):
    assert "Reviews" not in read[case]
    assert "Obey" not in read[case]
    assert "\n- " not in read[case]
