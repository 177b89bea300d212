/* Where the file of the model is. */
#include "config/config.h"
#include "config/places.h"
#include "core/files.h"
#include "meaning/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKAGE "forage-model-e5-small"

/* From the folder that holds the program's. npm puts packages beside each other, or those that a
 * package needs into a folder of it. */
static const char *const FOLDERS[] = {
    "share/forage/models",
    "../" PACKAGE "/share/forage/models",
    "../../../" PACKAGE "/share/forage/models",
};

/* Parts of the program's path that tell who brought it, and what brings the model the same way. */
static const struct {
    const char *part, *command;
} WAYS[] = {
    {"/_npx/", "npx -y -p forage-mcp -p " PACKAGE " forage-mcp"},
    {"/lib/node_modules/", "npm install -g " PACKAGE},
    {"/node_modules/", "npm install " PACKAGE},
    {"/uv/tools/", "uv tool install forage-mcp --with " PACKAGE},
    {"/uv/archive-v", "uvx --with " PACKAGE " forage-mcp"},
    {"/uv/environments-v", "uvx --with " PACKAGE " forage-mcp"},
    {"/pipx/", "pipx inject forage-mcp " PACKAGE},
};

const char *model_install(void)
{
    char program[OWN_PATH_SIZE];
    char unused[OWN_PATH_SIZE];
    if (!own_program(program, sizeof program)) {
        program[0] = '\0';
    }
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        if (strstr(program, WAYS[i].part)) {
            return WAYS[i].command;
        }
    }
    if (strncmp(program, "/usr/bin/", strlen("/usr/bin/")) == 0) {
        return "sudo apt install ./" PACKAGE "_*_all.deb";
    }
    if (own_file("packaging/model", "about", unused, sizeof unused)) {
        return "make model";
    }
    return own_file(".", "pyvenv.cfg", unused, sizeof unused)
               ? "pip install " PACKAGE
               : "tar -xzf " PACKAGE "-*.tar.gz --strip-components=1 -C "
                 "\"$(dirname \"$(readlink -f \"$(command -v forage)\")\")/..\"";
}

static bool is_there(char *path, size_t size, const char *folder)
{
    int length = snprintf(path, size, "%s/" MODEL_FILE, folder);
    return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

static bool is_in_data(char *path, size_t size)
{
    int made;
    char models[OWN_PATH_SIZE];
    char *data = places_data_name(&made);
    int length = data ? snprintf(models, sizeof models, "%s/models", data) : -1;
    free(data);
    return length > 0 && (size_t)length < sizeof models && is_there(path, size, models);
}

bool model_find(char *path, size_t size)
{
    const char *named = config_text("FORAGE_EMBEDDINGS_FILE");
    if (named && *named) {
        int length = snprintf(path, size, "%s", named);
        return length > 0 && (size_t)length < size;
    }
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        if (own_file(FOLDERS[i], MODEL_FILE, path, size)) {
            return true;
        }
    }
    return is_in_data(path, size) || is_there(path, size, "/usr/share/forage/models");
}
