/* Who holds the words of a text. */
#include "core/status.h"
#include "index/internal.h"
#include "index/question.h"

#include <string.h>

struct holders_search {
    const struct view *view;
    const struct index_holders_wish *wish;
    struct score_manner manner;
    struct question but;
};

static bool is_wanted(const struct holders_search *asking, const struct question_word *word)
{
    bool wanted = !word->stop && word->holders > 0 && word->holders <= (double)asking->wish->most;
    for (size_t i = 0; i < asking->but.count && wanted; i++) {
        wanted = strcmp(asking->but.words[i].term, word->term) != 0;
    }
    return wanted;
}

static int take_holders(const struct holders_search *asking, size_t number,
                        const struct question_term *term, double weight)
{
    int status = OK;
    for (uint32_t i = 0; term->found.lists && i < asking->view->count; i++) {
        const struct view_part *part = &asking->view->parts[i];
        struct postings_cursor cursor;
        for (postings_start(&cursor, &term->found.lists[i], part->segment.documents);
             cursor.document != NO_DOCUMENT && status == OK; postings_next(&cursor)) {
            if (!view_is_dead(part, cursor.document)) {
                status = asking->wish->take(asking->wish->context, number, weight,
                                            part->segment.ids[cursor.document]);
            }
        }
    }
    return status;
}

static int take_words(const struct holders_search *asking, const struct question *question)
{
    double rarest = score_weight(&asking->manner, 1, false);
    size_t number = 0;
    int status = OK;
    for (size_t i = 0; i < question->count && status == OK; i++) {
        const struct question_word *word = &question->words[i];
        if (!is_wanted(asking, word)) {
            continue;
        }
        double weight = score_weight(&asking->manner, word->holders, false) / rarest;
        for (size_t j = 0; j < word->count && status == OK; j++) {
            status = take_holders(asking, number, &word->terms[j], weight);
        }
        number++;
    }
    return status;
}

int index_holders(const struct index *index, struct arena *arena,
                  const struct index_holders_wish *wish)
{
    struct score_store store = view_store(&index->view);
    struct holders_search asking = {
        .view = &index->view, .wish = wish, .manner = score_manner(&store)};
    struct question question = {0};
    struct word_reader *reader = words_new();
    int status = reader ? OK : ERR_NOMEM;
    if (status == OK && wish->but) {
        status = question_read(&asking.but, asking.view, reader, arena, wish->but);
    }
    if (status == OK) {
        status = question_read(&question, asking.view, reader, arena, wish->text);
    }
    if (status == OK) {
        question_drop_repeated(&question);
        status = question_count(&question, asking.view);
    }
    status = status == OK ? take_words(&asking, &question) : status;
    words_free(reader);
    return status;
}
