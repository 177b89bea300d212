/* The model that turns a text into a vector: texts that mean the same have vectors that point the
 * same way. It is a transformer of the BERT family with int8 weights, in one file of our own format
 * (meaning/model_file.h), which is mapped and only read: many threads may use one model, and all
 * processes share its memory.
 *
 *   struct embedding_model *model;
 *   struct model_work *work;
 *   if (model_open(path, &model, problem, sizeof problem) == OK && (work = model_work_new())) {
 *       float vector[MODEL_DIMENSIONS];
 *       status = model_embed(model, work, MODEL_QUERY, text, length, vector);
 *   }
 */
#ifndef FORAGE_MEANING_MODEL_H
#define FORAGE_MEANING_MODEL_H

#include "core/limits.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Of every vector; that of a narrower model ends in zeros. */
#define MODEL_DIMENSIONS LIMIT_MODEL_WIDTH

struct embedding_model;
struct model_work;

/* A text that is kept, or what is asked: the model was trained to tell them apart. */
enum model_side { MODEL_PASSAGE, MODEL_QUERY };

#define MODEL_NAME_SIZE 64
#define MODEL_FILE      "e5-small-v2-int8.model" /* as packages call it */

/* The file of the model: what FORAGE_EMBEDDINGS_FILE names, there or not; or the first that is in
 * one of the folders where packages put it. False: there is none. */
bool model_find(char *path, size_t size);
/* The command that installs it, by the way in which the program came here. */
const char *model_install(void);
/* Writes the name of the model in a file without opening it; false: it is none. */
bool model_peek(const char *path, char name[MODEL_NAME_SIZE]);

/* OK, ERR_NOTFOUND, ERR_INVALID (damaged, or of another version), ERR_IO, ERR_LIMIT, ERR_NOMEM;
 * `problem` says why. */
MUST_CHECK int model_open(const char *path, struct embedding_model **model, char *problem,
                          size_t size);
/* The same of a file in memory, which must stay; its address is a multiple of 64. */
MUST_CHECK int model_read(const void *data, size_t length, struct embedding_model **model,
                          char *problem, size_t size);
/* Returns NULL. */
struct embedding_model *model_free(struct embedding_model *model);

/* What goes with a vector: those of two names cannot be compared. */
const char *model_name(const struct embedding_model *model);
/* The kind of processor that every model computes for. */
const char *model_kernels(void);

/* The memory that one thread at a time computes in; it grows with the longest text, to 12 MB. */
struct model_work *model_work_new(void);
struct model_work *model_work_free(struct model_work *work);

/* Writes the vector of a text, of length 1, MODEL_DIMENSIONS numbers. What is beyond the model's
 * number of tokens, some 350 words, does not count. OK; ERR_NOMEM; ERR_IO when the file was damaged
 * since it was opened; ERR_INVALID when its numbers make no sense. */
MUST_CHECK int model_embed(const struct embedding_model *model, struct model_work *work,
                           enum model_side side, const char *text, size_t length, float *vector);

#endif
