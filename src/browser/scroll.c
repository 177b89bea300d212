/* Lists that grow when they are scrolled, and those that show only the rows in sight.
 *
 * The page is scrolled to its end. If that has added text, this is repeated until it adds none or
 * there is enough. If a list has replaced its rows by others, it is gone through from its
 * beginning, in steps of less than a screen, and its rows are gathered (reading.js). */
#include "browser/view.h"
#include "core/clock.h"
#include "core/limits.h"

#define LEAST_GROWTH 8 /* letters */

static const char GOES_ON[] = "The page goes on when it is scrolled; this is as much of it as was "
                              "asked for. A larger max_chars, or start, brings more.";
static const char TOOK_TOO_LONG[] = "The page goes on when it is scrolled; there was no time for "
                                    "more of it.";

/* What reading.js says to something that is a number or true. */
static int ask(struct page_view *view, const char *what, size_t *number)
{
    struct browser_message answer;
    yyjson_val *value;
    int status = view_read(view, what, TIME_BROWSER_BUSY_MS, &answer, &value);
    *number = yyjson_is_bool(value) ? yyjson_get_bool(value) : (size_t)yyjson_get_num(value);
    message_free(&answer);
    return status;
}

static int gather_rows(struct page_view *view, int64_t end_ms)
{
    size_t goes_on = 1;
    size_t letters = 0;
    int status = OK;
    while (status == OK && goes_on && !view->page->unfinished) {
        status = view_rest(view);
        if (status == OK) {
            status = ask(view, "step()", &goes_on);
        }
        if (status == OK) {
            status = ask(view, "gathered()", &letters);
        }
        if (goes_on && letters >= view->most_letters) {
            view->page->unfinished = GOES_ON;
        } else if (goes_on && clock_now_ms() >= end_ms) {
            view->page->unfinished = TOOK_TOO_LONG;
        }
    }
    return status;
}

int view_scroll(struct page_view *view)
{
    int64_t end_ms = clock_now_ms() + TIME_PAGE_SCROLL_MS;
    int status = OK;
    while (status == OK && !view->page->unfinished && view->most_letters) {
        size_t before = view->letters;
        size_t moved = 0;
        size_t is_virtual = 0;
        status = ask(view, "toEnd()", &moved);
        if (status == OK && moved) {
            status = view_rest(view);
        }
        if (status == OK && moved) {
            status = ask(view, "findVirtual()", &is_virtual);
        }
        if (status == OK && is_virtual) {
            return gather_rows(view, end_ms);
        }
        if (!moved || view->letters < before + LEAST_GROWTH) {
            break;
        }
        if (view->letters >= view->most_letters) {
            view->page->unfinished = GOES_ON;
        } else if (clock_now_ms() >= end_ms) {
            view->page->unfinished = TOOK_TOO_LONG;
        }
    }
    return status;
}
