/* Makes the text of an answer from what a model claims. */
#include "answer/claims.h"

#include "answer/sources.h"
#include "core/buf.h"
#include "core/limits.h"
#include "research/own/moves.h"
#include "research/steps.h"
#include "text/sentences.h"
#include "text/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define PROSE_MARKERS 32
#define QUOTE_CHARS   2000
#define ELLIPSIS      "\xe2\x80\xa6"

/* ---- markers that a model writes ---- */

/* The length of "[1]", "[1, 2]" or "[source 3]" at `at`, and its numbers; 0: there is none. */
static size_t read_marker(const char *at, int64_t numbers[MOVE_SOURCES], size_t *count)
{
    static const char WORD[] = "source";
    const char *place = at + 1;
    *count = 0;
    while (*at == '[' && *count < MOVE_SOURCES) {
        place += strspn(place, " #^");
        if (strncasecmp(place, WORD, sizeof WORD - 1) == 0) {
            place += sizeof WORD - 1;
            place += strspn(place, "s :");
        }
        size_t digits = strspn(place, "0123456789");
        if (!digits || digits > 4) {
            return 0;
        }
        int64_t number = 0;
        for (size_t i = 0; i < digits; i++) {
            number = number * 10 + (place[i] - '0');
        }
        numbers[(*count)++] = number;
        place += digits;
        place += strspn(place, " ");
        if (*place == ']') {
            return (size_t)(place + 1 - at);
        }
        if (*place != ',' && *place != ';') {
            return 0;
        }
        place++;
    }
    return 0;
}

/* On one line, without markers of its own and marks of lists. */
static const char *tidy(struct arena *arena, const char *sentence)
{
    struct buf out;
    bool blank = false;
    buf_init(&out, KIB(64));
    sentence += strspn(sentence, " \t\r\n-*>#");
    while (*sentence) {
        int64_t numbers[MOVE_SOURCES];
        size_t count;
        size_t marker = read_marker(sentence, numbers, &count);
        unsigned char c = (unsigned char)*sentence;
        if (marker || c <= ' ' || c == 0x7F) {
            blank = true;
        } else {
            if (blank && out.length && !strchr(".,;:!?", c)) {
                buf_putc(&out, ' ');
            }
            blank = false;
            buf_putc(&out, (char)c);
        }
        sentence += marker ? marker : 1;
    }
    return buf_to_arena(&out, arena);
}

/* ---- prose ---- */

/* The words between the first quotation marks, where they are more than a name; else all of it. */
static const char *quote_in(struct arena *arena, const char *sentence)
{
    static const char *const MARKS[][2] = {
        {"\"", "\""},
        {"\xe2\x80\x9c", "\xe2\x80\x9d"},
        {"\xe2\x80\x9e", "\xe2\x80\x9c"},
        {"\xc2\xab", "\xc2\xbb"},
    };
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++) {
        const char *open = strstr(sentence, MARKS[i][0]);
        const char *from = open ? open + strlen(MARKS[i][0]) : NULL;
        const char *close = from ? strstr(from, MARKS[i][1]) : NULL;
        const char *blank = close ? memchr(from, ' ', (size_t)(close - from)) : NULL;
        if (blank && memchr(blank + 1, ' ', (size_t)(close - blank - 1))) {
            return arena_strndup(arena, from, (size_t)(close - from));
        }
    }
    return sentence;
}

static size_t read_prose(struct arena *arena, const char *words, struct claim claims[CLAIMS_MOST])
{
    struct span spans[PROSE_MARKERS];
    int64_t numbers[PROSE_MARKERS][MOVE_SOURCES];
    size_t counts[PROSE_MARKERS];
    size_t length = strlen(words);
    size_t found = 0, count = 0;
    for (size_t at = 0; at < length && found < PROSE_MARKERS; at++) {
        size_t size = read_marker(words + at, numbers[found], &counts[found]);
        if (size) {
            spans[found++] = (struct span){at, at + size};
            at += size - 1;
        }
    }
    for (size_t i = 0; i < found; i++) {
        const char *sentence = snippet_for(arena, words, length, spans, found, i);
        const char *quote = sentence && *sentence ? quote_in(arena, sentence) : NULL;
        for (size_t n = 0; quote && n < counts[i] && count < CLAIMS_MOST; n++) {
            claims[count++] = (struct claim){sentence, quote, numbers[i][n]};
        }
    }
    return count;
}

/* ---- in what shape it comes ---- */

static size_t take_notes(const struct move *move, struct claim claims[CLAIMS_MOST], size_t count)
{
    for (size_t i = 0; i < move->note_count && count < CLAIMS_MOST; i++) {
        const struct move_note *note = &move->notes[i];
        claims[count++] = (struct claim){note->claim, note->quote, note->source};
    }
    return count;
}

static size_t read_json(struct arena *arena, const char *words, struct claim claims[CLAIMS_MOST],
                        bool *none)
{
    static const struct extract_member NOTES[] = {{"notes", YYJSON_TYPE_ARR},
                                                  {NULL, YYJSON_TYPE_NONE}};
    static const struct extract_member TEXT[] = {{"text", YYJSON_TYPE_STR},
                                                 {NULL, YYJSON_TYPE_NONE}};
    yyjson_val *object;
    size_t length = strlen(words);
    if (extract_json(arena, words, length, NOTES, &object) == OK) {
        struct move *move = arena_zalloc(arena, sizeof *move);
        const char *text = json_text_of(arena, object);
        if (!move || !text) {
            return 0;
        }
        *none = yyjson_arr_size(yyjson_obj_get(object, "notes")) == 0;
        move_of_use(arena, "note", text, move);
        return take_notes(move, claims, 0);
    }
    if (extract_json(arena, words, length, TEXT, &object) == OK) {
        return read_prose(arena, json_string(object, "text"), claims);
    }
    return 0;
}

static size_t read_lines(struct arena *arena, const char *words, struct claim claims[CLAIMS_MOST])
{
    struct move *moves = arena_zalloc(arena, MOVES_OF_TURN * sizeof *moves);
    size_t made = moves ? moves_of_words(arena, words, moves) : 0;
    size_t count = 0;
    for (size_t i = 0; i < made; i++) {
        count = take_notes(&moves[i], claims, count);
    }
    return count;
}

size_t claims_read(struct arena *arena, const char *words, struct claim claims[CLAIMS_MOST],
                   bool *none)
{
    static const char THOUGHT[] = "</think>";
    for (const char *end; (end = strstr(words, THOUGHT));) {
        words = end + sizeof THOUGHT - 1;
    }
    *none = false;
    size_t count = strchr(words, '{') ? read_json(arena, words, claims, none) : 0;
    count = count || *none ? count : read_lines(arena, words, claims);
    return count || *none ? count : read_prose(arena, words, claims);
}

/* ---- which of them hold ---- */

/* Whether each address in a sentence stands in its quote too, and there are no hidden ones. */
static bool has_only_quoted_addresses(const char *sentence, const char *quote)
{
    static const char ENDS[] = " \t\r\n<>\"'`|()[]";
    if (strstr(sentence, "](")) {
        return false;
    }
    for (const char *at = strstr(sentence, "://"); at; at = strstr(at + 3, "://")) {
        const char *start = at;
        while (start > sentence && isalnum((unsigned char)start[-1])) {
            start--;
        }
        size_t length = strcspn(start, ENDS);
        while (length && strchr(".,;:!?", start[length - 1])) {
            length--; /* of the sentence, not of the address */
        }
        if (!memmem(quote, strlen(quote), start, length)) {
            return false;
        }
    }
    return true;
}

/* The page that a claim leans on; NULL: it leans on nothing. */
static const struct evidence_page *page_of(struct arena *arena, struct evidence *evidence,
                                           const struct sources *sources, const struct claim *claim)
{
    const struct research_source *source = sources_get(sources, claim->source);
    size_t size = text_prefix(claim->quote, strlen(claim->quote), QUOTE_CHARS);
    const char *quote = arena_strndup(arena, claim->quote, size);
    if (!source || !source->page || !quote || !has_only_quoted_addresses(claim->sentence, quote)) {
        return NULL;
    }
    size_t number = evidence_add_note(evidence, claim->sentence, quote, source->page);
    const struct evidence_note *note = evidence_note(evidence, number);
    bool holds = note && (note->grade == EVIDENCE_EXACT || note->grade == EVIDENCE_NEAR);
    return holds ? evidence_page(evidence, source->page) : NULL;
}

/* ---- writing ---- */

/* A text on its way, and how many code points it has. */
struct draft_text {
    struct buf buf;
    size_t points;
    size_t said; /* points of sentences */
};

static void put(struct draft_text *draft, const char *text)
{
    buf_puts(&draft->buf, text);
    draft->points += text_count(text, strlen(text));
}

/* The stop that a sentence lacks. */
static const char *stop_for(const char *sentence)
{
    uint32_t last = 0, point = 0;
    const char *end = sentence + strlen(sentence);
    bool alone;
    for (const char *at = sentence; at < end;) {
        point = text_next(&at, end);
        last = sentence_closes(point) && last ? last : point;
    }
    if (sentence_stops(last, &alone) || strchr(".!?:;", last < 0x80 ? (int)last : 'x')) {
        return "";
    }
    return last >= 0x3040 && last <= 0x9FFF ? "\xe3\x80\x82" : ".";
}

/* False: it does not fit any more. The first one always does, if need be without its end. */
static bool put_sentence(struct arena *arena, struct draft_text *draft, const char *sentence)
{
    size_t length = strlen(sentence);
    size_t points = text_count(sentence, length);
    bool first = !draft->said;
    if (!first && draft->said + points > CLAIMS_CHARS) {
        return false;
    }
    bool whole = points <= CLAIMS_CHARS;
    const char *kept =
        whole ? sentence
              : arena_strndup(arena, sentence, text_prefix(sentence, length, CLAIMS_CHARS - 1));
    put(draft, first ? "" : " ");
    put(draft, kept ? kept : "");
    put(draft, whole ? stop_for(sentence) : ELLIPSIS);
    draft->said += points;
    return true;
}

/* " ([host](url))", with its annotation. */
static void put_marker(struct draft_text *draft, const struct evidence_page *page,
                       const char *published, struct model_part *part)
{
    bool awkward = page->url[strcspn(page->url, "()<> ")];
    const char *host = strncmp(page->host, "www.", 4) == 0 ? page->host + 4 : page->host;
    struct model_annotation *annotation = &part->annotations[part->annotation_count++];
    put(draft, " ");
    *annotation = (struct model_annotation){
        .url = page->url,
        .title = page->title,
        .published = published,
        .start = (int64_t)draft->points,
    };
    put(draft, "([");
    put(draft, *host ? host : "source");
    put(draft, awkward ? "](<" : "](");
    put(draft, page->url);
    put(draft, awkward ? ">))" : "))");
    annotation->end = (int64_t)draft->points;
}

int claims_write(struct arena *arena, struct evidence *evidence, const struct sources *sources,
                 const struct claim *claims, size_t count, struct claims_text *text)
{
    struct draft_text draft = {0};
    const char *last = "";
    size_t begun = 0; /* the first annotation of the last sentence */
    buf_init(&draft.buf, LIMIT_ANSWER_TEXT_BYTES);
    *text = (struct claims_text){.part.begins_message = true};
    text->part.annotations = arena_zalloc(arena, (count + 1) * sizeof *text->part.annotations);
    for (size_t i = 0; text->part.annotations && i < count; i++) {
        struct model_part *part = &text->part;
        const struct evidence_page *page = page_of(arena, evidence, sources, &claims[i]);
        const char *sentence = page ? tidy(arena, claims[i].sentence) : "";
        if (!sentence || !*sentence) {
            text->left_out++;
            continue;
        }
        bool marked = false;
        if (strcmp(sentence, last) != 0) {
            if (!put_sentence(arena, &draft, sentence)) {
                text->cut = true;
                break;
            }
            text->cut |= draft.said > CLAIMS_CHARS;
            last = sentence;
            begun = part->annotation_count;
        }
        for (size_t a = begun; a < part->annotation_count; a++) {
            marked |= part->annotations[a].url == page->url;
        }
        if (!marked) {
            put_marker(&draft, page, sources_get(sources, claims[i].source)->published, part);
        }
        text->kept++;
    }
    text->part.length = draft.buf.length;
    text->part.text = buf_to_arena(&draft.buf, arena);
    return text->part.annotations && text->part.text && !arena_failed(arena) ? OK : ERR_NOMEM;
}
