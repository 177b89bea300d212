/* Fuzzes the files of an index. Whatever a manifest says: it is refused, or written again it is the
 * same bytes. Whatever lies in the folder: a reader refuses it or sees sound segments, and a writer
 * that finds it goes on. */
#include "core/checksum.h"
#include "fuzz.h"
#include "index/manifest.h"
#include "index/shelf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_SEGMENT "0000000000000001.seg"

static char folder[] = "/tmp/fuzz_shelf.XXXXXX";
static bool has_folder;
static const unsigned char IDENTITY[SHA256_SIZE] = "the fuzzer's own";

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_shelf: %s\n", what);
        abort();
    }
}

static void remove_one(const char *name)
{
    char path[sizeof folder + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static void remove_all(void)
{
    remove_one("manifest");
    remove_one("lock");
    remove_one(FIRST_SEGMENT);
    rmdir(folder);
}

static void put(const char *name, const void *data, size_t size)
{
    char path[sizeof folder + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no temporary file");
    close(fd);
}

/* The data with its own checksum behind it, as a manifest ends. */
static unsigned char *seal(const uint8_t *data, size_t size)
{
    unsigned char *sealed = malloc(size + 8);
    require(sealed != NULL, "no memory");
    memcpy(sealed, size ? data : (const uint8_t *)"", size);
    uint64_t sum = checksum(data, size);
    for (int i = 0; i < 8; i++) {
        sealed[size + (size_t)i] = (unsigned char)(sum >> 8 * i);
    }
    return sealed;
}

static void read_manifest(const unsigned char *data, size_t size)
{
    struct manifest manifest;
    struct buf again;
    if (manifest_read(data, size, &manifest) == OK) {
        buf_init(&again, LIMIT_INDEX_MANIFEST_BYTES);
        require(manifest_write(&manifest, &again) == OK && again.length == size &&
                    memcmp(again.data, data, size) == 0,
                "a manifest that reads as another");
        buf_done(&again);
    }
}

static void look(struct shelf *shelf)
{
    int status = shelf_refresh(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    require(status == OK || view->count == 0, "a view of what was refused");
    for (size_t i = 0; i < view->count; i++) {
        (void)shelf_sound(&view->segments[i], 0, view->segments[i].length);
    }
    shelf_release(view);
}

/* Adds a segment and throws it away. */
static void change(struct shelf *shelf, const uint8_t *data, size_t size)
{
    bool thrown_away;
    struct shelf_draft *draft = NULL;
    require(shelf_claim(shelf, &thrown_away) == OK, "no claim");
    require(shelf_reset(shelf) == OK && shelf_draft_begin(shelf, &draft) == OK &&
                shelf_draft_write(draft, "x", 1) == OK &&
                shelf_draft_write(draft, data, size) == OK,
            "no draft");
    struct shelf_change added = {.seen = 1, .drafts = &draft, .draft_count = 1};
    require(shelf_change(shelf, &added) == OK, "not added");
    draft = shelf_draft_free(draft);
    struct shelf_view *view = shelf_hold(shelf);
    require(view->count == 1 && view->segments[0].length == size + 1 &&
                memcmp(view->segments[0].data + 1, data, size) == 0 &&
                shelf_sound(&view->segments[0], 0, size + 1),
            "another segment");
    shelf_release(view);
    require(shelf_reset(shelf) == OK, "not removed");
    shelf_unclaim(shelf);
}

FUZZ_TARGET(shelf)
{
    static const uint8_t NOTHING[1];
    data = size ? data : NOTHING;
    if (!has_folder) {
        require(mkdtemp(folder) != NULL, "no temporary folder");
        has_folder = true;
        atexit(remove_all);
    }
    unsigned char *sealed = seal(data, size);
    read_manifest(data, size);
    read_manifest(sealed, size + 8);
    put("manifest", sealed, size + 8);
    put(FIRST_SEGMENT, "x\1\2\3\4\5\6\7\10", 9);
    struct shelf *shelf = shelf_new(folder, IDENTITY);
    require(shelf != NULL, "no memory");
    look(shelf);
    change(shelf, data, size);
    shelf_free(shelf);
    free(sealed);
    return 0;
}
