/* Quotes that are on a page, and quotes that are not: tables of what a comparison sees and what it
 * passes over. */
#include "unit.h"

#include "arena_fixture.h"
#include "evidence/evidence.h"

#define EXACT  EVIDENCE_EXACT
#define NEAR   EVIDENCE_NEAR
#define ABSENT EVIDENCE_ABSENT

/* Long enough for one word in twenty to be another. */
#define LONG_PAGE                                                                                  \
    "The committee of the town said on Monday that the old bridge across the river Ouse will "     \
    "remain open to people on foot while workers repair its stones, and that no fee is asked."
#define LONG_START "the committee of the town said on monday that the old bridge across the river "

struct quote_row {
    const char *page, *quote;
    enum evidence_grade grade;
};

static const struct quote_row FOLDED[] = {
    {"The lake is deep and cold.", "The lake is deep and cold.", EXACT},
    {"The lake is deep and cold.", "the LAKE is deep and cold", EXACT},
    {"The lake is deep and cold.", "lake is deep and", EXACT},
    {"The  lake\n is\tdeep and cold.", "The lake is deep and cold", EXACT},
    {"The lake is\xC2\xA0"
     "deep.",
     "The lake is deep", EXACT},
    {"He said “deep water” twice.", "He said \"deep water\" twice", EXACT},
    {"He said ‘deep water’ twice.", "He said \"deep water\" twice", EXACT},
    {"He said «deep water» twice.", "He said “deep water” twice", EXACT},
    {"He said „deep water“ twice.", "He said 'deep water' twice", EXACT},
    {"It isn’t deep at all.", "It isn't deep at all", EXACT},
    {"It isn't deep at all.", "It isnʼt deep at all", EXACT},
    {"The lake — a deep one — is cold.", "The lake - a deep one - is cold", EXACT},
    {"The lake – a deep one – is cold.", "The lake — a deep one — is cold", EXACT},
    {"The lake -- a deep one -- is cold.", "The lake — a deep one — is cold", EXACT},
    {"The Bose–Einstein condensate is cold.", "The Bose-Einstein condensate is cold", EXACT},
    {"A well\xE2\x80\x91known lake is cold.", "A well-known lake is cold", EXACT},
    {"The lake is deep… and cold.", "The lake is deep... and cold", EXACT},
    {"The lake is deep...and cold.", "The lake is deep … and cold", EXACT},
    {"The lake is deep.", "\"The lake is deep.\"", EXACT},
    {"The lake is deep and cold.", "...lake is deep and...", EXACT},
    {"The un\xC2\xAD"
     "believable lake is cold.",
     "The unbelievable lake is cold", EXACT},
    {"The unbelievable lake is cold.",
     "The un\xC2\xAD"
     "believable lake is cold",
     EXACT},
    {"The unbe-\nlievable lake is cold.", "The unbelievable lake is cold", EXACT},
    {"The unbe-\r\n  lievable lake is cold.", "The unbelievable lake is cold", EXACT},
    {"The unbe\xC2\xAD\nlievable lake is cold.", "The unbelievable lake is cold", EXACT},
    {"A well-\nknown lake is cold.", "A well-known lake is cold", EXACT},
    {"The ﬁrst ﬂoor is cold.", "The first floor is cold", EXACT},
    {"The ＬＡＫＥ is cold.", "The lake is cold", EXACT},
    {"The cafe\xCC\x81 by the lake is cold.", "The café by the lake is cold", EXACT},
    {"The Straße by the lake is cold.", "The STRASSE by the lake is cold", EXACT},
    {"The lake\xE2\x80\x8B is\xE2\x80\x8D deep.", "The lake is deep", EXACT},
    {"The Lake™ is a © deep one.", "The lake is a deep one", EXACT},
    {"The lake is 1\xE2\x80\xAF"
     "642 m deep.",
     "The lake is 1 642 m deep", EXACT},
    {"The lake is Ⅳ in the list.", "The lake is IV in the list", EXACT},
    {"The İstanbul lake is cold.", "The i\xCC\x87stanbul lake is cold", EXACT},
    {"Α Ω: ΟΔΥΣΣΕΥΣ is a name.", "α ω: οδυσσευσ is a name", EXACT},
    {"The pages 10–20 of the book.", "The pages 10-20 of the book", EXACT},
    {"The a\xCC\xA3\xCC\x82 by the lake is cold.", "The a\xCC\x82\xCC\xA3 by the lake is cold",
     EXACT},
    {"The \xC2\xAD lake is deep.", "The lake is deep", EXACT},
    {"", "The lake is deep", ABSENT},
    {"The lake is deep.", "", ABSENT},
    {"The lake is deep.", "...", ABSENT},
    {"The lake is deep.", "the", ABSENT},
    {"The lake is deep.", "lake", ABSENT},
    {"The lake is deep.", "is deep", ABSENT}, /* too short to say anything */
};

static const struct quote_row MARKDOWN[] = {
    {"The **lake** is _deep_ and ~~warm~~ cold.", "The lake is deep and warm cold", EXACT},
    {"The lake is deep and cold.", "The **lake** is _deep_ and cold", EXACT},
    {"The [lake](https://x.test/a) is deep.", "The lake is deep", EXACT},
    {"The [lake](https://x.test/a_(b)_c \"title\") is deep.", "The lake is deep", EXACT},
    {"The [lake][ref] is deep.", "The lake ref is deep", EXACT},
    {"The ![lake](pic.png) is deep.", "The lake is deep", NEAR}, /* a mark too many */
    {"The lake \\(a deep one\\) is cold\\.", "The lake (a deep one) is cold", EXACT},
    {"The `lake()` is deep and cold.", "The lake() is deep and cold", EXACT},
    {"The snake\\_case lake is cold.", "The snake_case lake is cold", EXACT},
    {"# The lake\n\nIt is deep and cold.", "The lake It is deep and cold", EXACT},
    {"- The lake\n- is deep\n", "The lake is deep", EXACT},
    {"* The lake\n* is deep\n", "The lake is deep", EXACT},
    {"1. The lake\n2. is deep\n", "The lake is deep", EXACT},
    {"> The lake\n> is deep\n", "The lake is deep", EXACT},
    {"| Lake | Depth |\n| --- | ---: |\n| Baikal | 1642 m |", "Baikal 1642 m", EXACT},
    {"| Lake | Depth |\n| --- | ---: |\n| Baikal | 1642 m |", "Lake Depth Baikal 1642 m", EXACT},
    {"```c\nint lake = deep + water;\n```\n", "int lake = deep + water;", EXACT},
    {"The lake[^1] is deep[^note] and cold.", "The lake is deep and cold", EXACT},
    {"The lake[1] is deep.[12] It is cold.", "The lake is deep. It is cold", NEAR},
    {"The un**believ**able lake is cold.", "The unbelievable lake is cold", EXACT},
    {"The lake &amp; the river are cold.", "The lake & the river are cold", EXACT},
    {"The lake<br>is deep and cold.", "The lake is deep and cold", EXACT},
    {"It has 10^6^ m of water.", "It has 10^6 m of water", EXACT},
    {"The lake is deep. [Read](https://x.test/](", "The lake is deep", EXACT},
    {"The lake](( is deep and cold.", "The lake (( is deep and cold", EXACT},
    {"* * *\nThe lake is deep.", "The lake is deep", EXACT},
    {"The lake is deep.\n\n---\n\nIt is cold.", "The lake is deep. It is cold", EXACT},
    {"The lake is deep. See <https://x.test/>.", "The lake is deep", EXACT},
    /* The lines of one quotation are one text, as those of a paragraph are. */
    {"> The lake is not\n> deep, and it may\n> freeze over.",
     "The lake is not deep, and it may freeze", EXACT},
    {">> The lake is some\n>> unbe-\n>> lievable lake.", "The lake is some unbelievable lake",
     EXACT},
    {"> The lake is not\n>\n> deep, and it is cold.", "The lake is not deep, and it is", ABSENT},
    {"> The lake is not\n> - deep, and it is cold.", "The lake is not deep, and it is", ABSENT},
    {"> The lake is not\n>> deep, and it is cold.", "The lake is not deep, and it is", ABSENT},
    {"The lake is not\n> deep, and it is cold.", "The lake is not deep, and it is", ABSENT},
    /* What a quote adds where a page has nothing is not passed over. */
    {"The lake was guilty of it.", "The lake was [^not]guilty of it", ABSENT},
    {"The lake was guilty of it.", "The lake [was](not) guilty of it", ABSENT},
    {"The lake was guilty of it.", "The lake was\n```not\nguilty of it", ABSENT},
    {"The lake was guilty of it.", "The [lake](https://x.test/) was[^1] guilty of it", EXACT},
    {"The lake was guilty of it.", "The [lake](#deep) was guilty of it", EXACT},
    {"The lake was guilty of it.", "The lake was guilty of it](", EXACT},
};

static const struct quote_row MARKS[] = {
    /* Only marks differ: near. */
    {"The lake, which is deep, is cold.", "The lake which is deep is cold", NEAR},
    {"The lake is deep; it is cold.", "The lake is deep. It is cold", NEAR},
    {"The lake (deep) is cold.", "The lake deep is cold", NEAR},
    {"The lake is deep! It is cold.", "The lake is deep? It is cold", NEAR},
    {"The well-known lake is cold.", "The well known lake is cold", ABSENT},
    {"It rose by 5%<sup>3</sup> at the lake.", "It rose by 5% at the lake", NEAR},
    {"It rose by 5%³ at the lake.", "It rose by 5% at the lake", NEAR},
    {"The lake is deep.<sup>2</sup> It is cold.", "The lake is deep. It is cold", NEAR},
    {"The lake<sup>\\[12\\]</sup> is deep and cold.", "The lake is deep and cold", NEAR},
    {"The lake<sup>[3]</sup> is deep and cold.", "The lake is deep and cold", NEAR},
    {"It is 5~10 km from the lake.", "It is 5–10 km from the lake", EXACT},
};

static const struct quote_row NUMBERS[] = {
    {"The lake is 1,642 metres deep.", "The lake is 1,642 metres deep", EXACT},
    {"The lake is 1,642 metres deep.", "The lake is 1,643 metres deep", ABSENT},
    {"The lake is 1,642 metres deep.", "The lake is 1642 metres deep", ABSENT},
    {"The lake is 1,642 metres deep.", "The lake is 1.642 metres deep", ABSENT},
    {"The lake is 16.42 metres deep.", "The lake is 1642 metres deep", ABSENT},
    {"It was -5 °C at the lake.", "It was −5 °C at the lake", EXACT},
    {"It was -5 °C at the lake.", "It was 5 °C at the lake", ABSENT},
    {"It was 5 °C at the lake.", "It was -5 °C at the lake", ABSENT},
    {"It lost -$5 at the lake.", "It lost $5 at the lake", ABSENT},
    {"It rose by 5 % at the lake.", "It rose by 5% at the lake", EXACT},
    {"It rose by 5 % at the lake.", "It rose by 5 at the lake", ABSENT},
    {"It rose by 5 % at the lake.", "It rose by 5 ‰ at the lake", ABSENT},
    {"It costs $5 at the lake.", "It costs €5 at the lake", ABSENT},
    {"It has 10⁶ fish in the lake.", "It has 106 fish in the lake", ABSENT},
    {"It has 10⁶ fish in the lake.", "It has 10^6 fish in the lake", EXACT},
    {"It has 10² fish in the lake.", "It has 102 fish in the lake", ABSENT},
    {"It has 1½ boats on the lake.", "It has 11/2 boats on the lake", ABSENT},
    {"A < B holds for the lake.", "A > B holds for the lake", ABSENT},
    {"A ≤ B holds for the lake.", "A < B holds for the lake", ABSENT},
    {"Version 1.2.3 of the lake.", "Version 1.2.4 of the lake", ABSENT},
    {"On 2020-01-02 the lake froze.", "On 2020-01-03 the lake froze", ABSENT},
    {"COVID-19 came to the lake.", "COVID-18 came to the lake", ABSENT},
    {"In the 1990s the lake froze.", "In the 1980s the lake froze", ABSENT},
    {"Chapter IV is on the lake.", "Chapter VI is on the lake", ABSENT},
    {"The year ١٩٩٠ at the lake.", "The year ١٩٩١ at the lake", ABSENT},
    {"It is 3 km/h at the lake.", "It is 3 km h at the lake", ABSENT},
    {"It has 10⁻⁶ fish in the lake.", "It has 10^-6 fish in the lake", EXACT},
    {"It has 10<sup>6</sup> fish in the lake.", "It has 10⁶ fish in the lake", EXACT},
    {"It has 10<sup>6</sup> fish in the lake.", "It has 106 fish in the lake", ABSENT},
    {"It has 2<sup>n</sup> fish in the lake.", "It has 2n fish in the lake", ABSENT},
    /* Feet and inches, minutes and seconds. */
    {"The boat is 5' long and wide.", "The boat is 5' long and wide", EXACT},
    {"The boat is 5′ long and wide.", "The boat is 5' long and wide", EXACT},
    {"The boat is 5’ long and wide.", "The boat is 5′ long and wide", EXACT},
    {"The boat is 5'' long and wide.", "The boat is 5″ long and wide", EXACT},
    {"The boat is 5' long and wide.", "The boat is 5\" long and wide", ABSENT},
    {"The boat is 5″ long and wide.", "The boat is 5′ long and wide", ABSENT},
    {"The boat is 5' long and wide.", "The boat is 5 long and wide", ABSENT},
    {"The '90s boat is 5' long and wide.", "boat is 5\" long and wide", ABSENT},
    {"It was “built in 1990” at the lake.", "It was \"built in 1990\" at the lake", EXACT},
    {"It was 'built in 1990' at the lake.", "It was “built in 1990” at the lake", EXACT},
    {"The boat is 5' long.", "The whole boat is 5", ABSENT},
    {"It lies at 52° 31′ of the north.", "It lies at 52° 31\" of the north", ABSENT},
    /* Groups of digits are one number. */
    {"It has 1 250 000 fish in it.", "It has 1 250 000 fish", EXACT},
    {"It has 1\xC2\xA0"
     "250\xE2\x80\xAF"
     "000 fish in it.",
     "It has 1 250 000 fish", EXACT},
    {"It has 1 250\n000 fish in it.", "It has 1 250 000 fish", EXACT},
    {"It has 1 250 000 fish in it.", "250 000 fish in it", ABSENT},
    {"It has 1 250 000 fish in it.", "000 fish in it", ABSENT},
    {"It has 1 250 000 fish in it.", "It surely has 1 250", ABSENT},
    {"It has 1 250 000 fish in it.", "It has 1250000 fish in it", ABSENT},
    {"It has -1 250 fish in it.", "It has −1 250 fish in it", EXACT},
    {"In 2019 250 fish were in it.", "250 fish were in it", EXACT},
    {"It has 12 2500 fish in it.", "2500 fish were in it", ABSENT},
    {"# Lake 5\n250 fish were in it.", "250 fish were in it", EXACT},
    {"| Lake | 5 | 250 fish were in it |", "250 fish were in it", EXACT},
    /* "About" is a part of a number, as its unit is. */
    {"It has ~5,000 fish in it.", "It has ~5,000 fish in it", EXACT},
    {"It has \\~5,000 fish in it.", "It has ≈5,000 fish in it", EXACT},
    {"It has ~5,000 fish in it.", "It has 5,000 fish in it", ABSENT},
    {"It has ~5,000 fish in it.", "5,000 fish in it", ABSENT},
    {"It has 5,000 fish in it.", "It has ~5,000 fish in it", ABSENT},
    {"It has ~~5,000~~ fish in it.", "It has 5,000 fish in it", EXACT},
    {"It has ~$5 in it for fish.", "$5 in it for fish", ABSENT},
    {"It has <5 fish in the lake.", "5 fish in the lake", ABSENT},
    {"It costs $5 at the lake.", "5 at the lake", ABSENT},
    {"It rose by some 5 %, and more.", "It rose by some 5", ABSENT},
    {"It rose by some 5, and % is a sign.", "It rose by some 5", EXACT},
    {"It has 1½ boats on it.", "½ boats on it", ABSENT},
    {"It has 10^6 fish in it.", "6 fish in it", ABSENT},
};

/* What stands lower or higher in a formula, a unit or an ordinal. */
static const struct quote_row SCRIPTED[] = {
    {"The CO<sub>2</sub> of the lake is high.", "The CO2 of the lake is high", EXACT},
    {"The CO<sub>2</sub> of the lake is high.", "The CO₂ of the lake is high", EXACT},
    {"The CO₂ of the lake is high.", "The CO2 of the lake is high", EXACT},
    {"The CO2 of the lake is high.", "The CO<sub>2</sub> of the lake is high", EXACT},
    {"The CO<sub>2</sub> of the lake is high.", "The CO of the lake is high", ABSENT},
    {"The CO<sub>2</sub> of the lake is high.", "The CO3 of the lake is high", ABSENT},
    {"The **CO<sub>2</sub>** of the lake is high.", "The CO2 of the lake is high", EXACT},
    {"The *x*<sub>1</sub> of the lake is high.", "The x1 of the lake is high", EXACT},
    {"The x<sub>*1*</sub> of the lake is high.", "The x₁ of the lake is high", EXACT},
    {"The C<sub>6</sub>H<sub>12</sub>O<sub>6</sub> of the lake.", "The C₆H₁₂O₆ of the lake", EXACT},
    {"The H₂O of the lake is cold.", "The H2O of the lake is cold", EXACT},
    {"The V<sub>max</sub> of the lake.", "The Vmax of the lake", EXACT},
    {"The 101<sub>2</sub> of the lake.", "The 1012 of the lake", ABSENT},
    {"The 101₂ of the lake is base 2.", "The 101<sub>2</sub> of the lake is base 2", EXACT},
    {"The 101₂ of the lake is base 2.", "The 101² of the lake is base 2", ABSENT},
    {"The 101₂ of the lake is base 2.", "The 101 2 of the lake is base 2", ABSENT},
    {"The log₂8 of the lake is 3.", "The log28 of the lake is 3", ABSENT},
    {"It is 12 km<sup>2</sup> of water.", "It is 12 km² of water", EXACT},
    {"It is 12 km<sup>2</sup> of water.", "It is 12 km2 of water", EXACT},
    {"It is 12 km² of water.", "It is 12 km^2 of water", EXACT},
    {"It is 12 km^2^ of water.", "It is 12 km2 of water", EXACT},
    {"It is 12 km² of water.", "It is 12 km of water", ABSENT},
    {"It is 12 km² of water.", "It is 12 km³ of water", ABSENT},
    {"It is x² of the water.", "It is x2 of the water", ABSENT},
    {"It is x<sup>2</sup> of the water.", "It is x^2 of the water", EXACT},
    {"In the 21<sup>st</sup> century the lake froze.", "In the 21st century the lake froze", EXACT},
    {"In the 21st century the lake froze.", "In the 21ˢᵗ century the lake froze", EXACT},
    {"Au XIX<sup>e</sup> siècle, le lac.", "Au XIXe siècle, le lac", EXACT},
    {"Au XIX<sup>e</sup> siècle, le lac.", "Au XX<sup>e</sup> siècle, le lac", ABSENT},
};

static const struct quote_row WORDS[] = {
    {LONG_PAGE, LONG_PAGE, EXACT},
    /* One plain word of thirty: near. */
    {LONG_PAGE, LONG_START "ouse will stay open to people on foot while workers repair its stones",
     NEAR},
    {LONG_PAGE, LONG_START "ouse will remain open to people on foot while they repair its stones",
     NEAR},
    {LONG_PAGE, LONG_START "ouse will remain open to people while workers repair its stones and",
     ABSENT}, /* two of them */
    {LONG_PAGE,
     LONG_START "ouse will remain open to people on foot whilst workers repair its stone",
     ABSENT}, /* two again */
    /* A short one must be there word by word. */
    {"The lake is deep and cold.", "The lake is deep and warm", ABSENT},
    {"The lake is deep and cold.", "The lake was deep and cold", ABSENT},
    {"The lake is deep and cold.", "The lake is cold and deep", ABSENT},
    {"The lake is deep and cold.", "The deep lake is cold", ABSENT},
    /* A number, a name, a negation, a direction: never. */
    {LONG_PAGE, LONG_START "cam will remain open to people on foot while workers repair its stones",
     ABSENT},
    {LONG_PAGE,
     LONG_START "Ouse will not remain open to people on foot while workers repair its "
                "stones",
     ABSENT},
    {LONG_PAGE, LONG_START "Ouse will never open to people on foot while workers repair its stones",
     ABSENT},
    {LONG_PAGE,
     LONG_START "Ouse will remain open to people on foot before workers repair its "
                "stones",
     ABSENT},
    {LONG_PAGE,
     LONG_START "Ouse will remain open to 12 people on foot while workers repair its "
                "stones",
     ABSENT},
    {LONG_PAGE, LONG_START "Ouse may remain open to people on foot while workers repair its stones",
     ABSENT},
    {LONG_PAGE,
     "The committee of the town said on Tuesday that the old bridge across the river "
     "Ouse will remain open to people on foot while workers repair its stones",
     ABSENT},
    {LONG_PAGE, "people on foot while workers repair its stones, and that a fee is asked", ABSENT},
    {LONG_PAGE,
     "The committee of the town said on Monday that the new bridge across the river "
     "Ouse will remain open to people on foot while workers repair its stones",
     ABSENT},
    /* The page has a negation that the quote leaves out. */
    {"The committee of the town said on Monday that the old bridge across the river Ouse will not "
     "remain open to people on foot while workers repair its stones.",
     LONG_START "ouse will remain open to people on foot while workers repair its stones", ABSENT},
    {"The committee of the town said on Monday that the old bridge across the river Ouse can't "
     "remain open to people on foot while workers repair its stones.",
     LONG_START "ouse can remain open to people on foot while workers repair its stones", ABSENT},
    /* A syllable that turns a word around. */
    {"The committee of the town said on Monday that it is able to keep the old bridge across the "
     "river open to people on foot while workers repair its stones.",
     "The committee of the town said on Monday that it is unable to keep the old bridge across the "
     "river open to people on foot while workers repair its stones",
     ABSENT},
    /* An elision is a quote that is not on the page. */
    {"The drug was tested on mice. It was found to be safe.", "The drug ... was found to be safe",
     ABSENT},
    {"The drug is not safe for people.", "The drug is safe for people", ABSENT},
};

/* A quote that any page might hold is none. */
static const struct quote_row BRIEF[] = {
    {"It is about the lake, and deep.", "about the", ABSENT},
    {"About us | Privacy Policy | Imprint", "Privacy Policy", ABSENT},
    {"It is as it was for the one.", "it is as it was for the", ABSENT},
    {"The lake is deep and cold.", "deep and cold", ABSENT},
    {"It was there in 1946, as before.", "it was there in 1946", EXACT},
    {"It was about 1946.", "in 1946", ABSENT},
    {"It is in Siberia, as you know.", "It is in Siberia", EXACT},
    {"贝加尔湖深1642米，是世界最深的湖。", "世界最深", ABSENT},
    {"贝加尔湖深1642米，是世界最深的湖。", "是世界最深的湖", ABSENT},
    {"贝加尔湖深1642米，贝加尔湖是世界最深的湖。", "贝加尔湖是世界最深的湖", EXACT},
};

/* Words of two cells, items or sentences do not make a negation together. */
static const struct quote_row UNITS[] = {
    {"| Recalled | No | Defects were found |", "No defects were found", ABSENT},
    {"| Recalled | No | Defects were found |", "No | Defects were found", EXACT},
    {"| Recalled | No defects were found |", "Recalled no defects were found", ABSENT},
    {"| Lake | Deep water | Cold stones |", "Lake deep water cold stones", EXACT},
    {"| Found<br>No<br>defects were seen |", "No defects were seen", ABSENT},
    {"Verdict: No\n\nEvidence of fraud was found.", "No evidence of fraud was found", ABSENT},
    {"## No\nEvidence of fraud was found.", "No evidence of fraud was found", ABSENT},
    {"- No\n- Evidence of fraud was found.", "No evidence of fraud was found", ABSENT},
    {"No\nevidence of fraud was found.", "No evidence of fraud was found", EXACT},
    {"Any issues? No. Problems were found.", "No problems were found", ABSENT},
    {"Any issues? No, problems were found.", "No problems were found", ABSENT},
    {"Any issues? No: problems were found.", "No problems were found", ABSENT},
    {"No problems were found.", "No. Problems were found", ABSENT},
    {"They asked if it was not. Safe drugs were sold.", "it was not safe drugs were sold", ABSENT},
    {"Verdict: No\n\nEvidence of fraud was found. No evidence of fraud was found.",
     "No evidence of fraud was found", EXACT}, /* the second place */
    {"Was it deep? No. The committee of the town said on Monday that the old bridge across the "
     "river Ouse remains open to people on foot while workers repair its stones.",
     "No the committee of the town said on Monday that the old bridge across the river Ouse "
     "stays open to people on foot while workers repair its stones",
     ABSENT},
    {"It went, to the lake and the sea.", "It went to the lake and the sea", NEAR},
    {"It went to the lake.\n\nHe saw the sea.", "It went to the lake. He saw the sea.", EXACT},
};

/* What stands beside a quote and turns it around is a part of what the page says. */
static const struct quote_row BORDERS[] = {
    {"Nobody who took part in it was harmed.", "Who took part in it was harmed", ABSENT},
    {"Nobody was there. Who took part in it was harmed.", "Who took part in it was harmed", EXACT},
    {"It is not the deepest lake in the world.", "the deepest lake in the world", ABSENT},
    {"It is not “the deepest lake in the world”.", "the deepest lake in the world", ABSENT},
    {"No, the deepest lake in the world is cold.", "the deepest lake in the world", EXACT},
    {"| Not | the deepest lake in the world |", "the deepest lake in the world", EXACT},
    {"Not the deepest lake in the world. It is the deepest lake in the world.",
     "the deepest lake in the world", EXACT}, /* the second place */
    {"Der Rat genehmigte das tiefe Becken nicht.", "Der Rat genehmigte das tiefe Becken", ABSENT},
    {"Der Rat genehmigte das Becken nicht, weil es tief ist.", "Der Rat genehmigte das Becken",
     ABSENT},
    {"The council approved the deep lake without delay.", "The council approved the deep lake",
     EXACT},
};

static const struct quote_row SCRIPTS[] = {
    {"贝加尔湖深1642米，是世界最深的湖。", "贝加尔湖深1642米", EXACT},
    {"贝加尔湖深1642米，是世界最深的湖。", "贝加尔湖深1643米", ABSENT},
    {"贝加尔湖深1642米，是世界最深的湖。", "贝加尔湖深 1642 米, 是世界最深的湖", EXACT},
    {"贝加尔湖深1642米，是世界最深的湖。", "贝加尔湖深1642米是世界最深的湖", NEAR},
    {"贝加尔湖是世界最深的湖，也是最古老的湖，已有两千五百万年的历史。",
     "贝加尔湖是世界最深的湖，也是最年轻的湖，已有两千五百万年的历史", ABSENT},
    {"バイカル湖は世界で最も深い湖です。", "バイカル湖は世界で最も深い湖", EXACT},
    {"ﾊﾞｲｶﾙ湖は深いです。", "バイカル湖は深いです", EXACT},
    {"바이칼호는 세계에서 가장 깊은 호수이다.", "바이칼호는 세계에서 가장 깊은 호수", EXACT},
    {"바이칼호는 세계에서 가장 깊은 호수이다.", "바이칼호는 세계에서 가장 얕은 호수", ABSENT},
    {"ทะเลสาบนี้ลึกที่สุดในโลก", "ทะเลสาบนี้ลึกที่สุด", EXACT},
    {"بحيرة بايكال هي أعمق بحيرة في العالم.", "بحيرة بايكال هي أعمق بحيرة", EXACT},
    {"بحيرة بايكال هي أعمق بحيرة في العالم.", "بحيرة بايكال ليست أعمق بحيرة", ABSENT},
    {"بحـــيرة بايكال هي أعمق بحيرة.", "بحيرة بايكال هي أعمق", EXACT},
    {"ימת בייקל היא הימה העמוקה בעולם.", "ימת בייקל היא הימה העמוקה", EXACT},
    {"\xE2\x80\x8Fימת בייקל היא הימה העמוקה.", "ימת בייקל היא הימה", EXACT},
    {"Озеро Байкал — самое глубокое.", "озеро байкал - самое глубокое", EXACT},
    {"Озеро Байкал не самое глубокое.", "Озеро Байкал самое глубокое", ABSENT},
    {"Der See ist nicht tief genug.", "Der See ist tief genug", ABSENT},
    {"Der See ist nicht tief genug.", "der see ist nicht tief genug", EXACT},
    {"Le lac n’est pas profond.", "Le lac n'est pas profond", EXACT},
    {"Le lac n’est pas profond.", "Le lac est profond", ABSENT},
    {"El lago no es profundo aquí.", "El lago es profundo aquí", ABSENT},
    {"झील बहुत गहरी है और ठंडी है।", "झील बहुत गहरी है और ठंडी", EXACT},
    {"झील बहुत गहरी है और ठंडी है।", "झील बहुत गहरी नहीं है और ठंडी", ABSENT},
    {"Η λίμνη είναι πολύ βαθιά.", "η ΛΊΜΝΗ είναι πολύ βαθιά", EXACT},
    {"Résumé of the lake.", "Resume of the lake", ABSENT}, /* an accent may be another name */
};

static enum evidence_grade grade_of(const char *page, const char *quote)
{
    struct evidence *evidence = evidence_new(arena);
    size_t source = evidence_add_page(evidence, "https://a.test/", "", page, 0);
    size_t note = evidence_add_note(evidence, "c", quote, source);
    assert_true(source && note);
    return evidence_note(evidence, note)->grade;
}

static void check_quotes(const struct quote_row *rows, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        enum evidence_grade grade = grade_of(rows[i].page, rows[i].quote);
        if (grade != rows[i].grade) {
            print_error("%s, not %s:\n  %s\n  %s\n", evidence_grade_name(grade),
                        evidence_grade_name(rows[i].grade), rows[i].page, rows[i].quote);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

#define CHECK_QUOTES(name, ROWS)                                                                   \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        check_quotes(ROWS, COUNT(ROWS));                                                           \
    }

CHECK_QUOTES(what_looks_the_same_is_the_same, FOLDED)
CHECK_QUOTES(markdown_is_not_seen, MARKDOWN)
CHECK_QUOTES(marks_make_a_quote_near, MARKS)
CHECK_QUOTES(numbers_are_identical, NUMBERS)
CHECK_QUOTES(formulas_have_several_spellings, SCRIPTED)
CHECK_QUOTES(words_may_differ_where_they_do_not_matter, WORDS)
CHECK_QUOTES(brief_quotes_say_nothing, BRIEF)
CHECK_QUOTES(negations_stay_in_their_unit, UNITS)
CHECK_QUOTES(borders_turn_nothing_around, BORDERS)
CHECK_QUOTES(other_scripts_are_as_strict, SCRIPTS)

/* Positions count code points of the page, and are where the words are. */
static void positions_are_true(void **state)
{
    (void)state;
    struct evidence *evidence = evidence_new(arena);
    size_t source =
        evidence_add_page(evidence, "https://a.test/", "", "Ünder **ö** deep cold water.", 0);
    size_t note = evidence_add_note(evidence, "", "ö deep cold water", source);
    assert_int_equal(evidence_note(evidence, note)->grade, EVIDENCE_EXACT);
    assert_int_equal(evidence_note(evidence, note)->start, 8);
    assert_int_equal(evidence_note(evidence, note)->end, 27);
}
UNIT_TEST(evidence_quotes)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_looks_the_same_is_the_same, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(markdown_is_not_seen, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(marks_make_a_quote_near, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(numbers_are_identical, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(formulas_have_several_spellings, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(words_may_differ_where_they_do_not_matter, make_arena,
                                        free_arena),
        cmocka_unit_test_setup_teardown(brief_quotes_say_nothing, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(negations_stay_in_their_unit, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(borders_turn_nothing_around, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(other_scripts_are_as_strict, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(positions_are_true, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
