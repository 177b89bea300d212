/* What a change makes of what is there. */
#include "memory/rules.h"

#include "call/errors.h"
#include "core/limits.h"
#include "index/fold.h"
#include "memory/time_words.h"
#include "text/json.h"
#include "text/text.h"

#include <string.h>

#define SUMMARY_CHARS 120
#define SUMMARY_BYTES (4 * SUMMARY_CHARS) /* that these have at most */
#define KEY_BYTES     60

/* ---- what is valid ---- */

/* Names of the routes beside the keys: a memory of such a key could not be reached over REST. */
static const char *const RESERVED[] = {"search", "fulltext", "import", "export"};

static int check_text(struct call *call, const char *name, const char *text, size_t most)
{
    size_t length = text ? strlen(text) : 0;
    if (text && length == 0) {
        return call_fail(call, CODE_VALIDATION, "%s is empty; leave it out or give a text", name);
    }
    if (length > most) {
        return call_fail(call, CODE_VALIDATION, "%s has %zu bytes; at most %zu are allowed", name,
                         length, most);
    }
    if (text && !text_is_utf8(text, length)) {
        return call_fail(call, CODE_VALIDATION, "%s is not valid UTF-8", name);
    }
    return OK;
}

static bool is_reserved(const char *key)
{
    bool reserved = false;
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++) {
        reserved |= strcmp(key, RESERVED[i]) == 0;
    }
    return reserved;
}

bool rules_takes_key(const char *key)
{
    return *key && strlen(key) <= LIMIT_MEMORY_KEY_BYTES && !is_reserved(key);
}

static int check_key(struct call *call, const char *name, const char *key)
{
    if (key && is_reserved(key)) {
        return call_fail(call, CODE_VALIDATION,
                         "%s is \"%s\", which is reserved (as are search, fulltext, import and "
                         "export); choose another",
                         name, key);
    }
    return check_text(call, name, key, LIMIT_MEMORY_KEY_BYTES);
}

static int check_metadata(struct call *call, const char *metadata)
{
    if (!metadata) {
        return OK;
    }
    yyjson_val *root =
        yyjson_doc_get_root(json_parse(call_arena(call), metadata, strlen(metadata), NULL));
    if (!yyjson_is_obj(root)) {
        return call_fail(call, CODE_VALIDATION, "metadata is not a JSON object");
    }
    return check_text(call, "metadata", metadata, LIMIT_MEMORY_METADATA_BYTES);
}

static int check_tags(struct call *call, const struct memory_change *change)
{
    if (change->tag_count > LIMIT_MEMORY_TAGS) {
        return call_fail(call, CODE_VALIDATION, "tags has %zu items; at most %u are allowed",
                         change->tag_count, LIMIT_MEMORY_TAGS);
    }
    int status = OK;
    for (size_t i = 0; i < change->tag_count && status == OK; i++) {
        status = check_text(call, "a tag", change->tags[i], LIMIT_MEMORY_KEY_BYTES);
    }
    return status;
}

int rules_check_namespace(struct call *call, const char *name)
{
    int status = check_text(call, "namespace", name, SIZE_MAX); /* characters count, not bytes */
    size_t length = name && status == OK ? text_count(name, strlen(name)) : 0;
    return length > LIMIT_MEMORY_NAMESPACE_CHARS
               ? call_fail(call, CODE_VALIDATION,
                           "namespace has %zu characters; at most %u are allowed", length,
                           LIMIT_MEMORY_NAMESPACE_CHARS)
               : status;
}

int rules_check(struct call *call, const struct memory_change *change, bool adds)
{
    const struct {
        const char *name;
        const char *text;
        size_t most;
    } TEXTS[] = {
        {"text", change->text, LIMIT_MEMORY_TEXT_BYTES},
        {"summary", change->summary, LIMIT_MEMORY_SUMMARY_BYTES},
        {"session", change->session, LIMIT_MEMORY_KEY_BYTES},
        {"role", change->role, LIMIT_MEMORY_KEY_BYTES},
    };
    if (adds && !change->text) {
        return call_fail(call, CODE_VALIDATION, "text is missing: it is what is to be remembered");
    }
    int status = check_key(call, "key", change->key);
    if (status == OK) {
        status = check_key(call, "new_key", change->new_key);
    }
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS && status == OK; i++) {
        status = check_text(call, TEXTS[i].name, TEXTS[i].text, TEXTS[i].most);
    }
    if (status == OK && change->text && text_is_blank(change->text)) {
        return call_fail(call, CODE_VALIDATION,
                         "text is blank: it holds nothing but white space, and could never be "
                         "found");
    }
    if (status == OK) {
        status = check_tags(call, change);
    }
    return status == OK ? check_metadata(call, change->metadata) : status;
}

/* ---- what is made where nothing was given ---- */

/* Where the first sentence ends, at a full stop and the like before a space or at a line's end, or
 * `most`, where it is longer. */
static size_t sentence_length(const char *text, size_t most)
{
    for (size_t i = 0; i < most && text[i]; i++) {
        char next = text[i + 1];
        switch (text[i]) {
        case '\n':
            return i;
        case '.':
        case '!':
        case '?':
            if (next == ' ' || next == '\n' || next == '\0') {
                return i + 1;
            }
            break;
        case '\xE3':
        case '\xEF':
            if (strncmp(text + i, "\xE3\x80\x82", 3) == 0 ||
                strncmp(text + i, "\xEF\xBC\x81", 3) == 0 ||
                strncmp(text + i, "\xEF\xBC\x9F", 3) == 0) {
                return i + 3;
            }
            break;
        default:
            break;
        }
    }
    return strnlen(text, most);
}

/* The first sentence of a text, cut at a word where it is long. */
static const char *make_summary(struct arena *arena, const char *text)
{
    while (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r') {
        text++;
    }
    size_t length = sentence_length(text, SUMMARY_BYTES + 1);
    size_t most = text_prefix(text, length, SUMMARY_CHARS);
    if (most >= length) {
        return arena_strndup(arena, text, length);
    }
    size_t cut = most;
    while (cut > most / 2 && text[cut] != ' ') {
        cut--;
    }
    cut = text[cut] == ' ' ? cut : most;
    return arena_printf(arena, "%.*s\xE2\x80\xA6", (int)cut, text);
}

/* A key from a summary: its words, joined by hyphens; with a number behind from the second try on.
 */
static const char *make_key(struct arena *arena, const char *summary, unsigned int attempt)
{
    char key[KEY_BYTES + 8];
    size_t length = 0;
    bool gap = false;
    const char *at = summary;
    const char *end = summary + strlen(summary);
    while (at < end && length < KEY_BYTES) {
        const char *start = at;
        if (fold_class(text_next(&at, end)) == FOLD_GAP) {
            gap = length > 0;
            continue;
        }
        struct fold_text folded;
        fold_case(&folded, start, (size_t)(at - start));
        if (length + gap + folded.length > KEY_BYTES) {
            break;
        }
        if (gap) {
            key[length++] = '-';
        }
        memcpy(key + length, folded.data, folded.length);
        length += folded.length;
        gap = false;
    }
    const char *base = length > 0 ? key : "memory";
    length = length > 0 ? length : strlen(base);
    return attempt == 0 ? arena_strndup(arena, base, length)
                        : arena_printf(arena, "%.*s-%u", (int)length, base, attempt + 1);
}

/* ---- parts ---- */

static bool is_dead(const struct rules_work *work, const struct store_row *row)
{
    return row->memory.expires_ms > 0 && row->memory.expires_ms <= work->now_ms;
}

/* The row of a key. What has expired is as good as absent, and its place may be taken. */
static int find(const struct rules_work *work, const char *key, struct store_row *row, bool *dead)
{
    int status = store_get(work->db, work->arena, work->space->id, key, row);
    *dead = status == OK && is_dead(work, row);
    return status;
}

static int find_alive(const struct rules_work *work, const char *key, struct store_row *row)
{
    bool dead;
    int status = find(work, key, row, &dead);
    if (status == ERR_NOTFOUND || dead) {
        return call_fail(work->call, CODE_NOT_FOUND,
                         "there is no memory of this key in the namespace; memory_get without a "
                         "key lists what there is");
    }
    return status;
}

static int check_version(const struct rules_work *work, const struct memory_change *change,
                         int64_t version)
{
    if (change->if_version == 0 || change->if_version == version) {
        return OK;
    }
    call_fail(work->call, CODE_CONFLICT,
              "the memory is at version %lld, not at %lld: read it again and decide",
              (long long)version, (long long)change->if_version);
    call_fail_details(
        work->call, arena_printf(call_arena(work->call), "{\"version\":%lld}", (long long)version));
    return ERR_FAILED;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same(const struct memory *a, const struct memory *b)
{
    bool tags = a->tag_count == b->tag_count;
    for (size_t i = 0; tags && i < a->tag_count; i++) {
        tags = strcmp(a->tags[i], b->tags[i]) == 0;
    }
    return tags && same_text(a->summary, b->summary) && same_text(a->text, b->text) &&
           same_text(a->metadata, b->metadata) && same_text(a->session, b->session) &&
           same_text(a->role, b->role) && a->place == b->place && a->created_ms == b->created_ms &&
           a->expires_ms == b->expires_ms;
}

static void answer(struct memory_result *result, enum memory_outcome outcome,
                   const struct memory *memory)
{
    *result = (struct memory_result){
        .outcome = outcome,
        .key = memory->key,
        .summary = memory->summary,
        .version = memory->version,
        .created_ms = memory->created_ms,
        .updated_ms = memory->updated_ms,
    };
}

/* The digest of the text that a change gives. No text has the digest that a damaged one gets. */
static void take_digest(const struct memory_change *change, struct store_row *row)
{
    if (change->damaged) {
        memset(row->digest, 0, sizeof row->digest);
    } else if (change->text) {
        store_digest(change->text, row->digest);
    }
}

/* A rename makes no other text, and what is damaged is no version to go back to: the earlier ones
 * stay as they are. What takes the place of a memory that has expired takes nothing over from it.
 */
static int versions_to_keep(const struct rules_work *work, const struct store_row *old,
                            enum memory_outcome outcome)
{
    if (!old || work->versions == 0) {
        return outcome == MEMORY_RENAMED ? STORE_ALL_VERSIONS : 0;
    }
    struct store_row marked = *old;
    store_mark(work->arena, &marked);
    return outcome == MEMORY_RENAMED || marked.memory.damage ? STORE_ALL_VERSIONS : work->versions;
}

/* A change that makes what there is smaller is welcome however much there is. */
static int check_quota(const struct rules_work *work, int64_t before)
{
    int64_t bytes = work->space->bytes;
    if (work->quota == 0 || bytes <= work->quota || bytes <= before) {
        return OK;
    }
    call_fail(work->call, CODE_QUOTA,
              "%s take %lld bytes, earlier versions counted, and would take %lld with this; %lld "
              "are allowed (FORAGE_MEMORY_QUOTA): delete memories that are no longer needed, which "
              "takes their earlier versions along, or store less; the operator can allow more, or "
              "keep fewer versions (FORAGE_MEMORY_VERSIONS)",
              work->shared ? "all shared namespaces together" : "your memories", (long long)before,
              (long long)bytes, (long long)work->quota);
    call_fail_details(work->call,
                      arena_printf(call_arena(work->call),
                                   "{\"used_bytes\":%lld,\"wanted_bytes\":%lld,"
                                   "\"quota_bytes\":%lld}",
                                   (long long)before, (long long)bytes, (long long)work->quota));
    return ERR_FAILED;
}

/* Writes the row unless it says what is there already. A row whose text the change did not give has
 * the digest of the old one, so that a damaged text stays what it is; one that says the same as a
 * damaged one says it anew, and has another digest. */
static int write(const struct rules_work *work, struct store_row *row, const struct store_row *old,
                 enum memory_outcome outcome, struct memory_result *result)
{
    if (old && same(&row->memory, &old->memory) && same_text(row->memory.key, old->memory.key) &&
        memcmp(row->digest, old->digest, sizeof row->digest) == 0 &&
        row->unreadable_tags == old->unreadable_tags) {
        answer(result, MEMORY_UNCHANGED, &old->memory);
        return OK;
    }
    row->memory.updated_ms = work->now_ms;
    row->memory.version = old ? old->memory.version + 1 : 1;
    int versions = versions_to_keep(work, old, outcome);
    /* What is kept need not leave the disk; the key of before, and what is one too many, must. */
    *work->overwrites |= row->id != 0 && (versions <= 0 || old->memory.version > versions ||
                                          !same_text(row->memory.key, old->memory.key));
    int64_t before = work->space->bytes;
    int status = store_put(work->db, work->space, row, versions);
    if (status == OK) {
        status = check_quota(work, before);
    }
    answer(result, outcome, &row->memory);
    if (old && outcome != MEMORY_RENAMED) {
        result->replaced_version = old->memory.version;
        result->replaced_ms = old->memory.updated_ms;
    }
    return status;
}

static int remove_row(const struct rules_work *work, const struct store_row *row)
{
    *work->overwrites = true;
    return store_remove(work->db, work->space, row);
}

/* Where a memory stands in its session. */
static int choose_place(const struct rules_work *work, const struct memory_change *change,
                        const struct store_row *old, struct memory *memory)
{
    if (!memory->session) {
        memory->place = -1;
        return OK;
    }
    if (change->place >= 0) {
        memory->place = change->place;
        return OK;
    }
    if (old && same_text(old->memory.session, memory->session)) {
        memory->place = old->memory.place;
        return OK;
    }
    int64_t last = -1;
    int status = store_last_place(work->db, work->space->id, memory->session, &last);
    memory->place = last + 1;
    return status;
}

/* What would be gone at once is a mistake: nobody could ever read it. */
static int check_expiry(const struct rules_work *work, int64_t expires_ms)
{
    char text[TIME_WORDS_ISO_SIZE];
    return expires_ms > 0 && expires_ms <= work->now_ms
               ? call_fail(work->call, CODE_VALIDATION,
                           "expires_at is %s, which is past: the memory would be gone at once; "
                           "give a later time, or \"never\"",
                           time_words_iso(expires_ms, text))
               : OK;
}

/* One that was not given stays as it is. */
static int64_t expiry_after(const struct memory_change *change, int64_t before_ms)
{
    return change->expires_ms > 0 ? change->expires_ms : change->expires_ms < 0 ? 0 : before_ms;
}

/* ---- adding ---- */

/* A key that nobody has, from the summary. */
static int choose_key(const struct rules_work *work, struct memory *memory)
{
    int status = OK;
    for (unsigned int attempt = 0; status != ERR_NOTFOUND; attempt++) {
        struct store_row taken;
        memory->key = make_key(work->arena, memory->summary, attempt);
        if (!memory->key) {
            return ERR_NOMEM;
        }
        status = is_reserved(memory->key)
                     ? OK
                     : store_get(work->db, work->arena, work->space->id, memory->key, &taken);
        if (status != OK && status != ERR_NOTFOUND) {
            return status;
        }
    }
    return OK;
}

/* Without a key the same text is not stored twice. */
static int find_duplicate(const struct rules_work *work, const struct memory_change *change,
                          struct store_row *row, bool *duplicate)
{
    unsigned char digest[SHA256_SIZE];
    store_digest(change->text, digest);
    int status = store_by_digest(work->db, work->arena, work->space->id, digest, work->now_ms, row);
    if (status == OK) {
        store_mark(work->arena, row);
    }
    *duplicate = status == OK && !row->memory.damage; /* the text that a damaged one had is lost */
    return status == ERR_NOTFOUND ? OK : status;
}

static bool has_tag(const struct memory *memory, const char *tag)
{
    bool has = false;
    for (size_t i = 0; i < memory->tag_count; i++) {
        has = has || strcmp(memory->tags[i], tag) == 0;
    }
    return has;
}

/* The tags that are there, then the new ones. */
static int merge_tags(const struct rules_work *work, const struct memory_change *change,
                      struct memory *memory)
{
    const char **tags =
        arena_alloc(work->arena, (memory->tag_count + change->tag_count + 1) * sizeof *tags);
    size_t count = memory->tag_count;
    if (!tags) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        tags[i] = memory->tags[i];
    }
    for (size_t i = 0; i < change->tag_count; i++) {
        if (!has_tag(memory, change->tags[i])) {
            tags[count++] = change->tags[i];
        }
    }
    memory->tags = tags;
    memory->tag_count = count;
    return OK;
}

/* The members that are there, with the new ones in the place of those of their names. */
static int merge_metadata(const struct rules_work *work, const char *given, struct memory *memory)
{
    struct arena *arena = work->arena;
    size_t index, max, length;
    yyjson_val *key, *value;
    if (!given || !memory->metadata) {
        memory->metadata = given ? given : memory->metadata;
        return OK;
    }
    yyjson_val *old =
        yyjson_doc_get_root(json_parse(arena, memory->metadata, strlen(memory->metadata), NULL));
    yyjson_val *fresh = yyjson_doc_get_root(json_parse(arena, given, strlen(given), NULL));
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *merged = json_copy(doc, old);
    bool differs = false;
    yyjson_obj_foreach(fresh, index, max, key, value)
    {
        yyjson_val *there = yyjson_obj_getn(old, yyjson_get_str(key), yyjson_get_len(key));
        if (there && yyjson_equals(there, value)) {
            continue;
        }
        differs = true;
        if (there) {
            yyjson_mut_obj_replace(merged, json_copy(doc, key), json_copy(doc, value));
        } else {
            yyjson_mut_obj_add(merged, json_copy(doc, key), json_copy(doc, value));
        }
    }
    memory->metadata = differs ? json_text(arena, merged, &length) : memory->metadata;
    return memory->metadata && !arena_failed(arena) ? OK : ERR_NOMEM;
}

/* Nothing that came with a text that is there already is lost: its tags, metadata and expiry go to
 * the memory that has the text. */
static int merge(const struct rules_work *work, const struct memory_change *change,
                 const struct store_row *old, struct memory_result *result)
{
    struct store_row row = *old;
    struct memory *memory = &row.memory;
    int status = merge_tags(work, change, memory);
    status = status == OK ? merge_metadata(work, change->metadata, memory) : status;
    if (status != OK) {
        return status;
    }
    memory->expires_ms = expiry_after(change, memory->expires_ms);
    const struct memory_change whole = {
        .tags = memory->tags, .tag_count = memory->tag_count, .metadata = memory->metadata};
    unsigned merged =
        (memory->tag_count != old->memory.tag_count ? MEMORY_MERGED_TAGS : 0u) |
        (same_text(memory->metadata, old->memory.metadata) ? 0u : MEMORY_MERGED_METADATA) |
        (memory->expires_ms != old->memory.expires_ms ? MEMORY_MERGED_EXPIRY : 0u);
    if (merged == 0) {
        answer(result, MEMORY_DUPLICATE, &old->memory);
        return OK;
    }
    status = rules_check(work->call, &whole, false); /* both together may be too much */
    status = status == OK ? write(work, &row, old, MEMORY_DUPLICATE, result) : status;
    result->merged = merged;
    return status;
}

int rules_add(const struct rules_work *work, const struct memory_change *change,
              struct memory_result *result)
{
    struct store_row old;
    bool there = false;
    bool dead = false;
    bool duplicate = false;
    int status = check_expiry(work, change->expires_ms);
    if (status != OK) {
        return status;
    }
    if (change->key) {
        status = find(work, change->key, &old, &dead);
        there = status == OK;
        status = status == ERR_NOTFOUND ? OK : status;
    } else {
        status = find_duplicate(work, change, &old, &duplicate);
    }
    if (status == OK && change->if_version != 0) {
        status = check_version(work, change, there && !dead ? old.memory.version : 0);
    }
    if (status != OK || duplicate) {
        return status == OK ? merge(work, change, &old, result) : status;
    }
    bool replaces = there && !dead;
    struct arena *arena = work->arena;
    struct store_row row = {.id = there ? old.id : 0, .space = work->space->id};
    row.memory = (struct memory){
        .key = change->key,
        .text = change->text,
        .summary = change->summary ? change->summary : make_summary(arena, change->text),
        .tags = change->tags,
        .tag_count = change->tag_count,
        .metadata = change->metadata,
        .session = change->session,
        .role = change->role,
        .created_ms = change->created_ms != 0 ? change->created_ms
                      : replaces              ? old.memory.created_ms
                                              : work->now_ms,
        .expires_ms = change->expires_ms > 0 ? change->expires_ms : 0,
    };
    if (!row.memory.summary) {
        return ERR_NOMEM;
    }
    take_digest(change, &row);
    status = choose_place(work, change, replaces ? &old : NULL, &row.memory);
    if (status == OK && !row.memory.key) {
        status = choose_key(work, &row.memory);
    }
    return status != OK ? status
                        : write(work, &row, replaces ? &old : NULL,
                                replaces ? MEMORY_REPLACED : MEMORY_ADDED, result);
}

/* ---- changing ---- */

/* Gives the row the key that the change asks for, unless another memory has it. */
static int take_key(const struct rules_work *work, const struct memory_change *change,
                    struct store_row *row)
{
    struct store_row taken;
    bool dead = false;
    if (!change->new_key || strcmp(change->key, change->new_key) == 0) {
        return OK;
    }
    int status = find(work, change->new_key, &taken, &dead);
    if (status == OK && !dead) {
        return call_fail(work->call, CODE_CONFLICT,
                         "new_key is the key of another memory; delete or rename that one first");
    }
    if (status == OK) {
        status = remove_row(work, &taken);
    }
    row->memory.key = change->new_key;
    return status == ERR_NOTFOUND ? OK : status;
}

/* What an update starts from: the memory as it is, or the earlier version that is to come back. */
static int find_base(const struct rules_work *work, const struct memory_change *change,
                     const struct store_row *old, struct store_row *base)
{
    *base = *old;
    if (change->version == 0 || change->version == old->memory.version) {
        return OK;
    }
    int status = store_version(work->db, work->arena, old, change->version, base);
    if (status == ERR_NOTFOUND) {
        return rules_fail_version(work->call, change->version);
    }
    struct store_row marked = *base;
    if (status == OK) {
        store_mark(work->arena, &marked);
    }
    return status == OK && marked.memory.damage && !change->text
               ? call_fail(work->call, CODE_CONFLICT,
                           "version %lld is damaged: %s; read it, and give what is right as text",
                           (long long)change->version, marked.memory.damage)
               : status;
}

int rules_fail_version(struct call *call, int64_t version)
{
    return call_fail(call, CODE_NOT_FOUND,
                     "version %lld of this memory is not kept; memory_get with version 0 lists "
                     "those that are",
                     (long long)version);
}

int rules_update(const struct rules_work *work, const struct memory_change *change,
                 struct memory_result *result)
{
    struct store_row old;
    struct arena *arena = work->arena;
    int status = find_alive(work, change->key, &old);
    if (status == OK) {
        status = check_version(work, change, old.memory.version);
    }
    if (status != OK) {
        return status;
    }
    struct store_row base;
    status = find_base(work, change, &old, &base);
    if (status != OK) {
        return status;
    }
    struct store_row row = base;
    struct memory *memory = &row.memory;
    const char *made = make_summary(arena, memory->text);
    memory->text = change->text ? change->text : memory->text;
    take_digest(change, &row);
    if (change->summary) {
        memory->summary = change->summary;
    } else if (change->text && same_text(memory->summary, made)) {
        memory->summary = make_summary(arena, change->text); /* it was made, so it follows */
    }
    if (change->set_tags) {
        row.unreadable_tags = NULL;
        memory->tags = change->tags;
        memory->tag_count = change->tag_count;
    }
    memory->metadata = change->metadata ? change->metadata : memory->metadata;
    memory->session = change->session ? change->session : memory->session;
    memory->role = change->role ? change->role : memory->role;
    memory->created_ms = change->created_ms != 0 ? change->created_ms : memory->created_ms;
    memory->expires_ms = expiry_after(change, memory->expires_ms);
    if (!memory->summary) {
        return ERR_NOMEM;
    }
    status = check_expiry(work, memory->expires_ms);
    if (status == OK) {
        status = choose_place(work, change, &base, memory);
    }
    if (status == OK) {
        status = take_key(work, change, &row);
    }
    bool only_key =
        same(memory, &old.memory) && memcmp(row.digest, old.digest, sizeof row.digest) == 0;
    enum memory_outcome outcome = only_key ? MEMORY_RENAMED : MEMORY_UPDATED;
    return status == OK ? write(work, &row, &old, outcome, result) : status;
}

int rules_delete(const struct rules_work *work, const char *key, bool *deleted)
{
    struct store_row row;
    bool dead = false;
    int status = find(work, key, &row, &dead);
    *deleted = status == OK && !dead;
    if (status == OK) {
        status = remove_row(work, &row);
    }
    return status == ERR_NOTFOUND ? OK : status;
}
