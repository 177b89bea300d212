/* Shows scripts/train-chooser what the chooser sees, and lets it try models without building the
 * program anew. The lines on standard input are those of `forage extract --batch`.
 *
 *   forage-units units MODEL.txt      writes each page's units to OUT_PATH: a line "COUNT
 * FEATURES", the names of the features, a line of text for each unit, then the features of each as
 * 16-bit numbers forage-units markdown MODEL.txt   writes the page's Markdown, chosen by that model
 *
 * A model without trees leaves everything to the rules. The model's form is that of
 * scripts/model.py. */
#include "core/arena.h"
#include "core/limits.h"
#include "core/status.h"
#include "html/charset.h"
#include "html/choose/model.h"
#include "html/dom.h"
#include "html/embedded.h"
#include "html/extract.h"
#include "html/hidden.h"
#include "html/metadata.h"
#include "html/parse.h"
#include "html/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FEATURE_NAME(name) #name,
static const char *const NAMES[] = {FEATURES(FEATURE_NAME)};

enum { MOST_TREES = 2000, LONGEST_LINE = 8192, NUMBER_SHIFT = 4 };

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "forage-units: %s %s\n", what, which);
    exit(1);
}

/* ---- a model ---- */

static uint8_t feature_named(const char *name)
{
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (strcmp(NAMES[i], name) == 0) {
            return (uint8_t)i;
        }
    }
    fail("no such feature:", name);
    return 0;
}

static void read_tree(struct model_tree *tree, char *line)
{
    int levels = 0, leaves = 0;
    char *rest = NULL;
    char *word = strtok_r(line, " \n", &rest);
    for (; word && strcmp(word, ":") != 0 && levels < MODEL_DEPTH;
         word = strtok_r(NULL, " \n", &rest)) {
        char *threshold = strchr(word, '>');
        if (!threshold) {
            fail("no question:", word);
        }
        *threshold = '\0';
        tree->features[levels] = feature_named(word);
        tree->thresholds[levels++] = (int16_t)strtol(threshold + 1, NULL, 10);
    }
    while ((word = strtok_r(NULL, " \n", &rest)) && leaves < MODEL_LEAVES) {
        tree->leaves[leaves++] = (int16_t)strtol(word, NULL, 10);
    }
    if (levels == 0 || leaves != 1 << levels) {
        fail("no tree:", line);
    }
    for (; levels < MODEL_DEPTH; levels++) {
        tree->features[levels] = tree->features[0];
        tree->thresholds[levels] = INT16_MAX;
    }
}

static struct chooser_model read_model(const char *path)
{
    static struct model_tree trees[MOST_TREES];
    struct chooser_model model = {.trees = trees};
    char line[LONGEST_LINE];
    FILE *file = fopen(path, "re");
    if (!file) {
        fail("cannot read", path);
    }
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        if (strncmp(line, "start ", 6) == 0) {
            model.start = (int32_t)strtol(line + 6, NULL, 10);
        } else if (model.count < MOST_TREES) {
            read_tree(&trees[model.count++], line);
        }
    }
    fclose(file);
    return model;
}

/* ---- the units of a page ---- */

/* The walk of stats.c gave every element that it looked at a number; the body has 0. */
static uint32_t number_of(const lxb_dom_node_t *node)
{
    return (uint32_t)(node_marks(node) >> NUMBER_SHIFT);
}

static void gather_texts(const struct page *page, struct buf *texts)
{
    const struct units *units = page->units;
    bool below = true;
    for (const lxb_dom_node_t *node = page->body; node; node = dom_next(node, page->body, below)) {
        below = node == page->body || number_of(node) != 0;
        uint32_t unit = dom_is_text(node) ? units->of[number_of(node->parent)] : 0;
        size_t length;
        const char *text = unit != 0 ? dom_text(node, &length) : NULL;
        for (size_t i = 0; text && i < length; i++) {
            buf_putc(&texts[unit - 1], (unsigned char)text[i] < 0x20 ? ' ' : text[i]);
        }
        /* Words of two elements side by side are two words only when one starts a new line. */
        if (node->type == LXB_DOM_NODE_TYPE_ELEMENT && below && units->of[number_of(node)] != 0 &&
            dom_is_block(dom_tag(node))) {
            buf_putc(&texts[units->of[number_of(node)] - 1], ' ');
        }
    }
}

static void print_units(const struct page *page, FILE *out)
{
    const struct units *units = page->units;
    struct buf *texts = calloc(units->count + 1, sizeof *texts);
    if (!texts) {
        fail("no memory", "");
    }
    for (uint32_t i = 0; i < units->count; i++) {
        buf_init(&texts[i], MIB(8));
    }
    gather_texts(page, texts);
    fprintf(out, "%u %d\n", units->count, FEATURE_COUNT);
    for (int i = 0; i < FEATURE_COUNT; i++) {
        fprintf(out, "%s%c", NAMES[i], i + 1 < FEATURE_COUNT ? ' ' : '\n');
    }
    for (uint32_t i = 0; i < units->count; i++) {
        fwrite(texts[i].data ? texts[i].data : "", 1, texts[i].length, out);
        fputc('\n', out);
        buf_done(&texts[i]);
    }
    free(texts);
    for (uint32_t i = 0; i < units->count; i++) {
        for (int feature = 0; feature < FEATURE_COUNT; feature++) {
            fwrite(unit_feature(units, i, (enum feature)feature), sizeof(int16_t), 1, out);
        }
    }
}

static int show_units(struct arena *arena, const struct extract_input *input, FILE *out)
{
    struct charset_text text;
    struct charset_hints hints = {.url = input->url};
    int status = charset_decode(arena, input->bytes, input->length, &hints, &text);
    struct page page = {.arena = arena,
                        .url = input->url && *input->url ? input->url : NULL,
                        .model = input->model,
                        .learning = true};
    status = status == OK ? parse_html(&page, text.bytes, text.length) : status;
    if (status != OK) {
        return status;
    }
    stream_settle(&page);
    hidden_mark(&page);
    jsonld_read(&page);
    metadata_read(&page);
    status = choose_content(&page);
    if (status == OK) {
        print_units(&page, out);
    }
    parse_done(&page);
    return status;
}

/* ---- lines ---- */

static long long processor_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void read_whole(const char *path, struct buf *bytes)
{
    FILE *file = fopen(path, "re");
    char piece[65536];
    size_t got;
    buf_init(bytes, LIMIT_PAGE_INPUT_BYTES);
    while (file && (got = fread(piece, 1, sizeof piece, file)) > 0) {
        buf_append(bytes, piece, got);
    }
    if (!file) {
        fail("cannot read", path);
    }
    fclose(file);
}

static void handle_line(char *line, bool units, const struct chooser_model *model)
{
    char *url = strchr(line, '\t');
    char *path = url ? strchr(url + 1, '\t') : NULL;
    if (!path) {
        fail("no line of the protocol:", line);
    }
    *url++ = *path++ = '\0';
    path[strcspn(path, "\r\n")] = '\0';
    struct buf bytes;
    read_whole(line, &bytes);
    struct arena *arena = arena_new(LIMIT_PAGE_SCRATCH_BYTES);
    FILE *out = fopen(path, "we");
    if (!arena || !out) {
        fail("cannot write", path);
    }
    struct extract_input input = {
        .bytes = bytes.data ? bytes.data : "", .length = bytes.length, .url = url, .model = model};
    struct extract_result result;
    long long start = processor_microseconds();
    if (units) {
        if (show_units(arena, &input, out) != OK) {
            fputs("0 0\n\n", out);
        }
    } else if (extract_page(arena, &input, &result) == OK) {
        fwrite(result.markdown, 1, result.length, out);
    }
    long long spent = processor_microseconds() - start;
    if (fclose(out) != 0) {
        fail("cannot write", path);
    }
    printf("%s\t%lld\n", line, spent);
    fflush(stdout);
    arena_free(arena);
    buf_done(&bytes);
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fail("usage: forage-units units|markdown", "MODEL.txt");
    }
    bool units = strcmp(arguments[1], "units") == 0;
    struct chooser_model model = read_model(arguments[2]);
    char line[LONGEST_LINE];
    while (fgets(line, sizeof line, stdin)) {
        handle_line(line, units, &model);
    }
    return 0;
}
