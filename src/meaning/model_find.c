/* Where the file of the model is. */
#include "config/config.h"
#include "config/places.h"
#include "core/files.h"
#include "meaning/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    const char *named = config_text("FORAGE_MODEL");
    if (named && *named) {
        int length = snprintf(path, size, "%s", named);
        return length > 0 && (size_t)length < size;
    }
    return own_file("share/forage/models", MODEL_FILE, path, size) || is_in_data(path, size) ||
           is_there(path, size, "/usr/share/forage/models");
}
