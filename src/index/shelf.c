/* Folder, manifest and mapped files of a shelf. */
#include "index/shelf.h"

#include "core/checksum.h"
#include "core/files.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/mapping.h"
#include "core/private.h"
#include "index/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST        "manifest"
#define UNFINISHED      "manifest.new"
#define LOCK            "lock"
#define SEGMENT_FORMAT  "%016llx.seg"
#define SEGMENT_SIZE    21      /* of its name, with the NUL */
#define MADE_FOLDERS    3       /* the last parts of the path, made where they are missing */
#define MOST_TRIES      8       /* to read what somebody is just replacing */
#define BLOCK_BYTES     KIB(64) /* that have a checksum of their own */
#define BLOCKS(length)  (((length) + BLOCK_BYTES - 1) / BLOCK_BYTES)
#define CHECKSUM_BYTES  sizeof(uint64_t)
#define FILE_BYTES(len) ((len) + BLOCKS(len) * CHECKSUM_BYTES)

enum block_state { BLOCK_UNKNOWN, BLOCK_SOUND, BLOCK_DAMAGED };

/* A mapped file, shared by views: the segment's bytes, then the checksum of each block. */
struct shelf_file {
    atomic_size_t users;
    struct manifest_segment is;
    struct mapping *mapping;
    uint64_t end;         /* its last bytes, the checksum of the last block */
    atomic_uchar *states; /* of the blocks: enum block_state */
};

struct mapped_view {
    struct shelf_view base; /* first */
    atomic_size_t users;
    /* Keeps the manifest's inode from being used again, so that it tells manifests apart; NULL:
     * there was none. */
    struct mapping *manifest;
    dev_t device;
    ino_t inode;
    off_t size;
    uint64_t next;
    struct shelf_segment segments[LIMIT_INDEX_SEGMENTS];
};

struct shelf {
    char *folder;
    char *manifest; /* its path */
    unsigned char identity[SHA256_SIZE];
    pthread_mutex_t lock; /* guards the next two */
    struct mapped_view *view;
    bool claimed;
    /* Of whoever claimed it: */
    int folder_fd;
    int lock_fd;
    uint64_t next; /* the number of the next draft */
};

struct shelf_draft {
    const struct shelf *shelf;
    uint64_t number;
    int fd;
    bool kept; /* the manifest names it */
    struct manifest_segment is;
    struct buf checksums;
    size_t used; /* of the block */
    char block[BLOCK_BYTES];
};

/* ---- files ---- */

static void close_quietly(int fd)
{
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
}

static void name_segment(char name[SEGMENT_SIZE], uint64_t number)
{
    snprintf(name, SEGMENT_SIZE, SEGMENT_FORMAT, (unsigned long long)number);
}

static int fail(int error)
{
    errno = error;
    return ERR_IO;
}

/* ---- mapped files ---- */

static void release_file(struct shelf_file *file)
{
    if (file && atomic_fetch_sub(&file->users, 1) == 1) {
        mapping_close(file->mapping);
        free(file->states);
        free(file);
    }
}

static const unsigned char *block_checksums(const struct shelf_file *file)
{
    return mapping_data(file->mapping) + file->is.length;
}

/* Opens a file of the shelf. What is in the place of it and is no file of ours is damage. */
static int open_file(int folder, const char *name, int *fd, struct stat *about)
{
    int status = private_file(folder, name, O_RDONLY, fd, about);
    bool is_other = errno == ELOOP || errno == EPERM || errno == EACCES || errno == ENXIO;
    return status == ERR_IO && is_other ? ERR_INVALID : status;
}

/* The last bytes of the file. */
static uint64_t end_of(const struct shelf_file *file)
{
    uint64_t end;
    size_t last = BLOCKS((size_t)file->is.length) - 1;
    memcpy(&end, block_checksums(file) + last * CHECKSUM_BYTES, sizeof end);
    return end;
}

/* OK; ERR_INVALID when it is not what the manifest names; as of open_file() and mapping_open(). */
static int map_file(int folder, const struct manifest_segment *segment, struct shelf_file **out)
{
    char name[SEGMENT_SIZE];
    struct stat about;
    int fd;
    name_segment(name, segment->number);
    int status = open_file(folder, name, &fd, &about);
    if (status != OK) {
        return status == ERR_NOTFOUND ? ERR_INVALID : status;
    }
    struct shelf_file *file = calloc(1, sizeof *file);
    atomic_uchar *states = calloc(BLOCKS((size_t)segment->length), sizeof *states);
    size_t bytes = FILE_BYTES((size_t)segment->length);
    status = !file || !states                             ? ERR_NOMEM
             : (uint64_t)about.st_size != (uint64_t)bytes ? ERR_INVALID
                                                          : OK;
    if (status == OK) {
        file->is = *segment;
        status = mapping_open(fd, bytes, &file->mapping);
    }
    close_quietly(fd);
    if (status != OK) {
        free(states);
        free(file);
        return status;
    }
    file->states = states;
    atomic_store(&file->users, 1);
    size_t sums = bytes - (size_t)segment->length;
    if (checksum(block_checksums(file), sums) != segment->checksum) {
        release_file(file);
        return ERR_INVALID;
    }
    file->end = end_of(file);
    *out = file;
    return OK;
}

/* A file that was cut within a page reads as zeros there, without a fault: its end says so. */
static bool is_whole(const struct shelf_file *file)
{
    return end_of(file) == file->end && !mapping_damaged(file->mapping);
}

static bool is_block_sound(const struct shelf_file *file, size_t block)
{
    unsigned char state = atomic_load_explicit(&file->states[block], memory_order_acquire);
    if (state == BLOCK_UNKNOWN) {
        uint64_t expected;
        size_t start = block * BLOCK_BYTES;
        size_t left = (size_t)file->is.length - start;
        memcpy(&expected, block_checksums(file) + block * CHECKSUM_BYTES, sizeof expected);
        state = checksum(mapping_data(file->mapping) + start,
                         left < BLOCK_BYTES ? left : BLOCK_BYTES) == expected
                    ? BLOCK_SOUND
                    : BLOCK_DAMAGED;
        atomic_store_explicit(&file->states[block], state, memory_order_release);
    }
    return state == BLOCK_SOUND;
}

bool shelf_sound(const struct shelf_segment *segment, size_t offset, size_t length)
{
    if (offset > segment->length || length > segment->length - offset) {
        return false;
    }
    bool sound = true;
    size_t end = BLOCKS(offset + length);
    for (size_t i = offset / BLOCK_BYTES; length > 0 && i < end && sound; i++) {
        sound = is_block_sound(segment->file, i);
    }
    return sound && is_whole(segment->file);
}

/* ---- views ---- */

/* An empty one; it has one user. */
static struct mapped_view *view_new(void)
{
    struct mapped_view *view = calloc(1, sizeof *view);
    if (view) {
        atomic_store(&view->users, 1);
        view->base.segments = view->segments;
    }
    return view;
}

static void release_view(struct mapped_view *view)
{
    if (view && atomic_fetch_sub(&view->users, 1) == 1) {
        for (size_t i = 0; i < view->base.count; i++) {
            release_file(view->segments[i].file);
        }
        mapping_close(view->manifest);
        free(view);
    }
}

/* The file of a segment as the last view has it; NULL when it has not, or it is damaged. */
static struct shelf_file *known_file(const struct mapped_view *last,
                                     const struct manifest_segment *segment)
{
    for (size_t i = 0; i < last->base.count; i++) {
        struct shelf_file *file = last->segments[i].file;
        if (file->is.number == segment->number && file->is.length == segment->length &&
            file->is.checksum == segment->checksum && is_whole(file)) {
            atomic_fetch_add(&file->users, 1);
            return file;
        }
    }
    return NULL;
}

static int take_segments(int folder, const struct manifest *manifest,
                         const struct mapped_view *last, struct mapped_view *view)
{
    int status = OK;
    view->base.seen = manifest->seen;
    view->base.gap = manifest->gap;
    view->base.witness = manifest->witness;
    view->next = manifest->next;
    for (size_t i = 0; i < manifest->count && status == OK; i++) {
        const struct manifest_segment *segment = &manifest->segments[i];
        struct shelf_file *file = known_file(last, segment);
        status = file ? OK : map_file(folder, segment, &file);
        if (status == OK) {
            view->segments[view->base.count++] = (struct shelf_segment){
                .number = segment->number,
                .data = mapping_data(file->mapping),
                .length = (size_t)segment->length,
                .file = file,
            };
        }
    }
    return status;
}

/* From a copy, which does not change while it is read. */
static int take_manifest(int folder, struct mapped_view *view, struct manifest *manifest)
{
    struct stat about;
    int fd;
    int status = open_file(folder, MANIFEST, &fd, &about);
    if (status != OK) {
        return status;
    }
    view->device = about.st_dev;
    view->inode = about.st_ino;
    view->size = about.st_size;
    if (about.st_size <= 0 || (uint64_t)about.st_size > LIMIT_INDEX_MANIFEST_BYTES) {
        status = ERR_INVALID;
    } else {
        status = mapping_open(fd, (size_t)about.st_size, &view->manifest);
    }
    close_quietly(fd);
    if (status != OK) {
        return status;
    }
    unsigned char bytes[LIMIT_INDEX_MANIFEST_BYTES];
    memcpy(bytes, mapping_data(view->manifest), (size_t)about.st_size);
    return mapping_damaged(view->manifest) ? ERR_INVALID
                                           : manifest_read(bytes, (size_t)about.st_size, manifest);
}

/* The view of what the folder holds now. */
static int load(const struct shelf *shelf, struct mapped_view **out)
{
    int folder;
    struct manifest manifest;
    int status = private_folder(shelf->folder, &folder);
    if (status != OK) {
        return status;
    }
    struct mapped_view *view = view_new();
    status = view ? take_manifest(folder, view, &manifest) : ERR_NOMEM;
    if (status == OK && memcmp(manifest.identity, shelf->identity, SHA256_SIZE) != 0) {
        status = ERR_INVALID;
    }
    if (status == OK) {
        status = take_segments(folder, &manifest, shelf->view, view);
    }
    close_quietly(folder);
    if (status != OK) {
        release_view(view);
        return status;
    }
    *out = view;
    return OK;
}

/* Whether the view is of this manifest. */
static bool is_of(const struct mapped_view *view, const struct stat *manifest)
{
    return view->manifest && view->device == manifest->st_dev && view->inode == manifest->st_ino &&
           view->size == manifest->st_size && !mapping_damaged(view->manifest);
}

/* Loads it; again when another manifest came meanwhile, whose writer removed what this one named.
 * With the lock. */
static int refresh(struct shelf *shelf)
{
    struct stat before;
    struct stat after;
    struct mapped_view *view = NULL;
    int status = ERR_INVALID;
    for (int i = 0; i < MOST_TRIES && status == ERR_INVALID; i++) {
        if (lstat(shelf->manifest, &before) != 0) {
            return errno == ENOENT ? ERR_NOTFOUND : ERR_IO;
        }
        if (is_of(shelf->view, &before)) {
            return OK;
        }
        status = load(shelf, &view);
        if (status == ERR_INVALID && lstat(shelf->manifest, &after) == 0 &&
            before.st_ino == after.st_ino && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
            before.st_mtim.tv_nsec == after.st_mtim.tv_nsec) {
            return status;
        }
    }
    if (status == OK) {
        release_view(shelf->view);
        shelf->view = view;
    }
    return status;
}

int shelf_refresh(struct shelf *shelf)
{
    pthread_mutex_lock(&shelf->lock);
    int status = refresh(shelf);
    pthread_mutex_unlock(&shelf->lock);
    return status;
}

static struct mapped_view *hold(struct shelf *shelf)
{
    pthread_mutex_lock(&shelf->lock);
    struct mapped_view *view = shelf->view;
    atomic_fetch_add(&view->users, 1);
    pthread_mutex_unlock(&shelf->lock);
    return view;
}

struct shelf_view *shelf_hold(struct shelf *shelf)
{
    return &hold(shelf)->base;
}

void shelf_release(struct shelf_view *view)
{
    release_view((struct mapped_view *)view);
}

/* ---- the writer's claim ---- */

static bool is_named(const struct mapped_view *view, uint64_t number)
{
    bool named = false;
    for (size_t i = 0; i < view->base.count; i++) {
        named = named || view->segments[i].number == number;
    }
    return named;
}

static bool is_leftover(const char *name, const struct mapped_view *view)
{
    char again[SEGMENT_SIZE];
    uint64_t number = strtoull(name, NULL, 16);
    name_segment(again, number);
    return strcmp(name, UNFINISHED) == 0 || (strcmp(name, again) == 0 && !is_named(view, number));
}

static bool remove_entry(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0 ||
           errno == ENOENT;
}

/* What is on the disk and not in the view. What cannot be removed stays: a writer that it is in the
 * way of fails then. */
static void remove_leftovers(const struct shelf *shelf, const struct mapped_view *view)
{
    int fd = openat(shelf->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    if (!listing) {
        close_quietly(fd);
        return;
    }
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (is_leftover(entry->d_name, view)) {
            (void)remove_entry(shelf->folder_fd, entry->d_name);
        }
    }
    closedir(listing);
}

/* An empty view whose numbers nobody has used: a reader may still have an older manifest. */
static int begin_again(struct shelf *shelf)
{
    struct mapped_view *view = view_new();
    int status = view ? id_random(&view->next, sizeof view->next) : ERR_NOMEM;
    if (status != OK) {
        release_view(view);
        return status;
    }
    view->next = view->next >> 2 | 1;
    if (!remove_entry(shelf->folder_fd, MANIFEST)) {
        release_view(view);
        return ERR_IO;
    }
    pthread_mutex_lock(&shelf->lock);
    release_view(shelf->view);
    shelf->view = view;
    pthread_mutex_unlock(&shelf->lock);
    return OK;
}

/* OK; ERR_BUSY; ERR_IO, also when the file was replaced meanwhile. */
static int take_lock(int folder, int *fd)
{
    struct stat about;
    struct stat there;
    int status = private_file(folder, LOCK, O_RDWR | O_CREAT, fd, &about);
    if (status != OK) {
        return status;
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        status = errno == EWOULDBLOCK ? ERR_BUSY : ERR_IO;
    } else if (!private_hand_over(folder, *fd) ||
               fstatat(folder, LOCK, &there, AT_SYMLINK_NOFOLLOW) != 0) {
        status = ERR_IO;
    } else if (there.st_ino != about.st_ino) {
        status = fail(ESTALE);
    }
    if (status != OK) {
        close_quietly(*fd);
        *fd = -1;
    }
    return status;
}

static int open_for_writing(struct shelf *shelf)
{
    int status = private_folder_make(shelf->folder, MADE_FOLDERS);
    if (status == OK) {
        status = private_folder(shelf->folder, &shelf->folder_fd);
    }
    if (status == OK) {
        status = take_lock(shelf->folder_fd, &shelf->lock_fd);
    }
    return status == ERR_NOTFOUND ? ERR_IO : status;
}

/* From what is there now. */
static void tidy(struct shelf *shelf)
{
    struct mapped_view *view = hold(shelf);
    remove_leftovers(shelf, view);
    shelf->next = view->next;
    release_view(view);
}

int shelf_claim(struct shelf *shelf, bool *thrown_away)
{
    *thrown_away = false;
    pthread_mutex_lock(&shelf->lock);
    bool busy = shelf->claimed;
    shelf->claimed = true;
    pthread_mutex_unlock(&shelf->lock);
    if (busy) {
        return ERR_BUSY;
    }
    int status = open_for_writing(shelf);
    if (status == OK) {
        status = shelf_refresh(shelf);
        *thrown_away = status == ERR_INVALID;
        status = status == ERR_INVALID || status == ERR_NOTFOUND ? begin_again(shelf) : status;
    }
    if (status != OK) {
        shelf_unclaim(shelf);
        return status;
    }
    tidy(shelf);
    return OK;
}

void shelf_unclaim(struct shelf *shelf)
{
    close_quietly(shelf->lock_fd);
    close_quietly(shelf->folder_fd);
    shelf->lock_fd = shelf->folder_fd = -1;
    pthread_mutex_lock(&shelf->lock);
    shelf->claimed = false;
    pthread_mutex_unlock(&shelf->lock);
}

int shelf_reset(struct shelf *shelf)
{
    int status = begin_again(shelf);
    if (status == OK) {
        tidy(shelf);
    }
    return status;
}

/* ---- drafts ---- */

static int flush_block(struct shelf_draft *draft)
{
    uint64_t sum = checksum(draft->block, draft->used);
    buf_append(&draft->checksums, &sum, sizeof sum);
    int status = buf_error(&draft->checksums);
    if (status == OK) {
        status = write_all(draft->fd, draft->block, draft->used);
    }
    draft->used = 0;
    return status;
}

int shelf_draft_begin(struct shelf *shelf, struct shelf_draft **out)
{
    char name[SEGMENT_SIZE];
    struct shelf_draft *draft = calloc(1, sizeof *draft);
    if (!draft) {
        return ERR_NOMEM;
    }
    draft->number = shelf->next++;
    draft->shelf = shelf;
    buf_init(&draft->checksums, BLOCKS(LIMIT_INDEX_SEGMENT_BYTES) * CHECKSUM_BYTES);
    name_segment(name, draft->number);
    int status = private_file_new(shelf->folder_fd, name, &draft->fd);
    if (status != OK) {
        free(draft);
        return status;
    }
    *out = draft;
    return OK;
}

int shelf_draft_write(struct shelf_draft *draft, const void *data, size_t length)
{
    const char *bytes = data;
    int status = length > LIMIT_INDEX_SEGMENT_BYTES - draft->is.length ? ERR_LIMIT : OK;
    while (length > 0 && status == OK) {
        size_t part = BLOCK_BYTES - draft->used < length ? BLOCK_BYTES - draft->used : length;
        memcpy(draft->block + draft->used, bytes, part);
        draft->used += part;
        draft->is.length += part;
        bytes += part;
        length -= part;
        status = draft->used == BLOCK_BYTES ? flush_block(draft) : OK;
    }
    return status;
}

struct shelf_draft *shelf_draft_free(struct shelf_draft *draft)
{
    if (draft) {
        char name[SEGMENT_SIZE];
        name_segment(name, draft->number);
        close_quietly(draft->fd);
        if (!draft->kept) {
            int error = errno;
            unlinkat(draft->shelf->folder_fd, name, 0);
            errno = error;
        }
        buf_done(&draft->checksums);
        free(draft);
    }
    return NULL;
}

/* Everything of it goes to the disk. */
static int finish_draft(struct shelf_draft *draft)
{
    int status = draft->is.length == 0 ? ERR_INVALID : OK;
    if (status == OK && draft->used > 0) {
        status = flush_block(draft);
    }
    if (status == OK) {
        status = write_all(draft->fd, draft->checksums.data, draft->checksums.length);
    }
    if (status == OK && fsync(draft->fd) != 0) {
        status = ERR_IO;
    }
    if (status == OK) {
        draft->is.number = draft->number;
        draft->is.checksum = checksum(draft->checksums.data, draft->checksums.length);
    }
    return status;
}

/* ---- changing what is there ---- */

static bool is_gone(const struct shelf_change *change, uint64_t number)
{
    bool gone = false;
    for (size_t i = 0; i < change->gone_count; i++) {
        gone = gone || change->gone[i] == number;
    }
    return gone;
}

static int append(struct manifest *manifest, const struct manifest_segment *segment)
{
    if (manifest->count == LIMIT_INDEX_SEGMENTS) {
        return ERR_LIMIT;
    }
    manifest->segments[manifest->count++] = *segment;
    return OK;
}

/* The segments in their new order. */
static int arrange(const struct mapped_view *view, const struct shelf_change *change,
                   struct manifest *manifest)
{
    size_t gone = 0;
    int status = OK;
    for (size_t i = 0; i < view->base.count && status == OK; i++) {
        const struct manifest_segment *segment = &view->segments[i].file->is;
        if (is_gone(change, segment->number)) {
            gone++;
        } else {
            status = append(manifest, segment);
        }
    }
    for (size_t i = 0; i < change->draft_count && status == OK; i++) {
        status = append(manifest, &change->drafts[i]->is);
    }
    return status == OK && gone != change->gone_count ? ERR_INVALID : status;
}

static int plan(const struct shelf *shelf, const struct mapped_view *view,
                const struct shelf_change *change, struct manifest *manifest)
{
    uint64_t bytes = 0;
    memcpy(manifest->identity, shelf->identity, SHA256_SIZE);
    manifest->count = 0;
    manifest->seen = change->seen;
    manifest->gap = change->gap;
    manifest->witness = change->witness;
    manifest->next = shelf->next;
    int status = change->seen < 0 ? ERR_INVALID : arrange(view, change, manifest);
    for (size_t i = 0; i < manifest->count; i++) {
        bytes += manifest->segments[i].length;
    }
    return status == OK && bytes > LIMIT_INDEX_BYTES ? ERR_LIMIT : status;
}

/* Puts the manifest in the place of the old one. */
static int replace_manifest(const struct shelf *shelf, const struct manifest *manifest)
{
    struct buf bytes;
    int fd = -1;
    buf_init(&bytes, LIMIT_INDEX_MANIFEST_BYTES);
    int status = manifest_write(manifest, &bytes);
    if (status != OK) {
        buf_done(&bytes);
        return status;
    }
    status = private_file_new(shelf->folder_fd, UNFINISHED, &fd);
    bool made = status == OK;
    if (status == OK) {
        status = write_all(fd, bytes.data, bytes.length);
    }
    if (status == OK && fsync(fd) != 0) {
        status = ERR_IO;
    }
    close_quietly(fd);
    if (status == OK && renameat(shelf->folder_fd, UNFINISHED, shelf->folder_fd, MANIFEST) != 0) {
        status = ERR_IO;
    }
    if (status != OK && made) {
        int error = errno;
        unlinkat(shelf->folder_fd, UNFINISHED, 0);
        errno = error;
    }
    buf_done(&bytes);
    return status;
}

static void unlink_gone(const struct shelf *shelf, const struct shelf_change *change)
{
    char name[SEGMENT_SIZE];
    for (size_t i = 0; i < change->gone_count; i++) {
        name_segment(name, change->gone[i]);
        unlinkat(shelf->folder_fd, name, 0); /* or the next writer does */
    }
}

int shelf_change(struct shelf *shelf, const struct shelf_change *change)
{
    struct manifest manifest;
    struct mapped_view *view = hold(shelf);
    int status = OK;
    for (size_t i = 0; i < change->draft_count && status == OK; i++) {
        status = finish_draft(change->drafts[i]);
    }
    if (status == OK) {
        status = plan(shelf, view, change, &manifest);
    }
    if (status == OK) {
        status = replace_manifest(shelf, &manifest);
    }
    release_view(view);
    if (status != OK) {
        return status;
    }
    for (size_t i = 0; i < change->draft_count; i++) {
        change->drafts[i]->kept = true;
    }
    bool stays = fsync(shelf->folder_fd) == 0;
    int error = errno;
    status = shelf_refresh(shelf);
    if (!stays) {
        return fail(error);
    }
    if (status == OK) {
        unlink_gone(shelf, change);
    }
    return status == ERR_NOTFOUND ? fail(ENOENT) : status;
}

/* ---- its life ---- */

struct shelf *shelf_new(const char *folder, const unsigned char identity[SHA256_SIZE])
{
    struct shelf *shelf = calloc(1, sizeof *shelf);
    if (!shelf) {
        return NULL;
    }
    size_t size = strlen(folder) + sizeof "/" MANIFEST;
    pthread_mutex_init(&shelf->lock, NULL);
    memcpy(shelf->identity, identity, SHA256_SIZE);
    shelf->folder_fd = shelf->lock_fd = -1;
    shelf->folder = strdup(folder);
    shelf->manifest = malloc(size);
    shelf->view = view_new();
    if (!shelf->folder || !shelf->manifest || !shelf->view) {
        return shelf_free(shelf);
    }
    snprintf(shelf->manifest, size, "%s/" MANIFEST, folder);
    return shelf;
}

struct shelf *shelf_free(struct shelf *shelf)
{
    if (shelf) {
        release_view(shelf->view);
        pthread_mutex_destroy(&shelf->lock);
        free(shelf->folder);
        free(shelf->manifest);
        free(shelf);
    }
    return NULL;
}
