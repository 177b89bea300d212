/* Looking at the clients of this machine. */
#include "setup/survey.h"

#include "core/limits.h"
#include "core/status.h"
#include "setup/files.h"
#include "setup/plan.h"

#include <stdio.h>
#include <string.h>

static void look_at_file(struct arena *arena, const struct client *client, const struct buf *text,
                         struct setup_state *state)
{
    struct document_problem problem;
    struct plan_file file = {client, "forage", text->data ? text->data : "", text->length};
    int status = plan_look(arena, &file, state->command, sizeof state->command, &problem);
    state->configured = status == OK;
    if (status == ERR_INVALID || status == ERR_UNSUPPORTED) {
        snprintf(state->problem, sizeof state->problem, "line %zu, column %zu: %s", problem.line,
                 problem.column, problem.text);
    }
}

static int look_at(const struct client *client, struct setup_state *state)
{
    struct buf text;
    struct arena *arena = arena_new(4 * LIMIT_SETUP_FILE_BYTES);
    if (!arena) {
        return ERR_NOMEM;
    }
    *state = (struct setup_state){.id = client->id, .title = client->title};
    state->found = client_is_found(client);
    buf_init(&text, LIMIT_SETUP_FILE_BYTES);
    int status = client_path(client, SCOPE_USER, state->path);
    if (status == OK) {
        status = files_read(state->path, &text, state->problem, sizeof state->problem);
    }
    if (status == OK) {
        look_at_file(arena, client, &text, state);
    }
    bool no_memory = arena_failed(arena) || status == ERR_NOMEM;
    buf_done(&text);
    arena_free(arena);
    return no_memory ? ERR_NOMEM : OK;
}

int setup_survey(struct setup_state states[SETUP_MOST_CLIENTS])
{
    _Static_assert(SETUP_MOST_CLIENTS >= 9, "room for every client");
    for (size_t i = 0; i < CLIENT_COUNT; i++) {
        int status = look_at(&CLIENTS[i], &states[i]);
        if (status != OK) {
            return status;
        }
    }
    return (int)CLIENT_COUNT;
}
