/* Jupyter notebooks: the texts as they are, code in fences with its language, and of what the code
 * gave the parts that are text. Versions 3 and 4 of the format. */
#include "loaders/bodies.h"

#include <string.h>

/* A text, or a list of its lines. */
static void put_text(struct buf *out, yyjson_val *value)
{
    size_t index, max;
    yyjson_val *line;
    if (yyjson_is_str(value)) {
        buf_append(out, yyjson_get_str(value), yyjson_get_len(value));
    }
    yyjson_arr_foreach(value, index, max, line)
    {
        if (yyjson_is_str(line)) {
            buf_append(out, yyjson_get_str(line), yyjson_get_len(line));
        }
    }
}

/* Without the sequences that colour a terminal. */
static void drop_escapes(struct buf *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->length; i++) {
        if (text->data[i] != 0x1B) {
            text->data[kept++] = text->data[i];
            continue;
        }
        i += text->data[i + 1] == '[';
        while (i + 1 < text->length && strchr("0123456789;?", text->data[i + 1])) {
            i++;
        }
        i += i + 1 < text->length;
    }
    if (text->data) {
        text->length = kept;
        text->data[kept] = '\0';
    }
}

static void put_fenced(struct buf *out, const char *language, yyjson_val *value)
{
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    put_text(&text, value);
    drop_escapes(&text);
    if (text.length) {
        compose_fenced(out, language, text.data, text.length);
        buf_putc(out, '\n');
    }
    buf_done(&text);
}

static void put_markdown(struct buf *out, yyjson_val *value)
{
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    put_text(&text, value);
    if (text.length) {
        compose_markdown(out, text.data, text.length, 0, NULL);
        buf_putc(out, '\n');
    }
    buf_done(&text);
}

/* ---- what code gave ---- */

/* The best of the forms of one result. In version 3 they are members of the output itself. */
static int put_result(struct arena *arena, struct buf *out, yyjson_val *forms)
{
    yyjson_val *markdown = yyjson_obj_get(forms, "text/markdown");
    yyjson_val *plain = yyjson_obj_get(forms, "text/plain");
    yyjson_val *html = yyjson_obj_get(forms, "text/html");
    plain = plain ? plain : yyjson_obj_get(forms, "text");
    html = html ? html : yyjson_obj_get(forms, "html");
    if (markdown) {
        put_markdown(out, markdown);
    } else if (plain) {
        put_fenced(out, "text", plain);
    } else if (html) {
        struct buf text;
        buf_init(&text, LIMIT_DOCUMENT_BYTES);
        put_text(&text, html);
        int status = compose_html(arena, out, text.data, NULL);
        buf_putc(out, '\n');
        buf_done(&text);
        return status;
    }
    return OK;
}

static int put_output(struct arena *arena, struct buf *out, yyjson_val *output)
{
    const char *type = json_string(output, "output_type");
    if (type && strcmp(type, "error") == 0) {
        const char *name = json_string(output, "ename");
        const char *value = json_string(output, "evalue");
        const char *words =
            arena_printf(arena, "%s: %s", name ? name : "Error", value ? value : "");
        if (!words) {
            return ERR_NOMEM;
        }
        compose_fenced(out, "text", words, strlen(words));
        buf_putc(out, '\n');
        return OK;
    }
    yyjson_val *data = yyjson_obj_get(output, "data");
    return put_result(arena, out, data ? data : output);
}

/* ---- cells ---- */

static int put_cell(struct arena *arena, struct buf *out, yyjson_val *cell, const char *language)
{
    const char *type = json_string(cell, "cell_type");
    const char *own = json_string(cell, "language");
    yyjson_val *source = yyjson_obj_get(cell, "source");
    source = source ? source : yyjson_obj_get(cell, "input");
    size_t index, max;
    yyjson_val *output;
    int status = OK;
    if (type && strcmp(type, "code") == 0) {
        put_fenced(out, own ? own : language, source);
        yyjson_arr_foreach(yyjson_obj_get(cell, "outputs"), index, max, output)
        {
            status = status == OK ? put_output(arena, out, output) : status;
        }
    } else if (type && strcmp(type, "raw") == 0) {
        put_fenced(out, "", source);
    } else if (type && strcmp(type, "heading") == 0) {
        yyjson_val *level = yyjson_obj_get(cell, "level");
        int64_t depth = yyjson_is_int(level) ? yyjson_get_sint(level) : 1;
        buf_append(out, "######", (size_t)(depth < 1 ? 1 : depth > 6 ? 6 : depth));
        buf_putc(out, ' ');
        put_markdown(out, source);
    } else {
        put_markdown(out, source);
    }
    return status;
}

static int put_cells(struct arena *arena, struct buf *out, yyjson_val *cells, const char *language)
{
    size_t index, max;
    yyjson_val *cell;
    int status = OK;
    yyjson_arr_foreach(cells, index, max, cell)
    {
        status = status == OK ? put_cell(arena, out, cell, language) : status;
    }
    return status;
}

/* The language of the code, as fences name it: one word. */
static const char *language_of(yyjson_val *root)
{
    yyjson_val *metadata = yyjson_obj_get(root, "metadata");
    const char *name = json_string(yyjson_obj_get(metadata, "language_info"), "name");
    name = name ? name : json_string(yyjson_obj_get(metadata, "kernelspec"), "language");
    return name && !strpbrk(name, " \t\r\n`") ? name : "";
}

int notebook_write(struct arena *arena, const char *text, size_t length, struct document *document)
{
    struct json_problem problem;
    struct buf out;
    yyjson_doc *parsed =
        memmem(text, length, "\"nbformat\"", 10) ? json_parse(arena, text, length, &problem) : NULL;
    yyjson_val *root = parsed ? yyjson_doc_get_root(parsed) : NULL;
    yyjson_val *cells = yyjson_obj_get(root, "cells");
    yyjson_val *sheets = yyjson_obj_get(root, "worksheets");
    if (!yyjson_obj_get(root, "nbformat") || !(yyjson_is_arr(cells) || yyjson_is_arr(sheets))) {
        return arena_failed(arena) ? ERR_NOMEM : ERR_NOTFOUND;
    }
    size_t index, max;
    yyjson_val *sheet;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = document->loader = "notebook";
    document->title = json_string(yyjson_obj_get(root, "metadata"), "title");
    int status = put_cells(arena, &out, cells, language_of(root));
    yyjson_arr_foreach(sheets, index, max, sheet)
    {
        status = status == OK
                     ? put_cells(arena, &out, yyjson_obj_get(sheet, "cells"), language_of(root))
                     : status;
    }
    if (status != OK) {
        buf_done(&out);
        return status;
    }
    if (out.length == 0) {
        buf_puts(&out, "_The notebook is empty._\n");
    }
    return compose_done(arena, &out, document);
}
