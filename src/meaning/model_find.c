/* Where the file of the model is. */
#include "config/config.h"
#include "config/places.h"
#include "core/files.h"
#include "meaning/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* From the folder that holds the program's. npm puts packages beside each other, or those that a
 * package needs into a folder of it. */
static const char *const FOLDERS[] = {
    "share/forage/models",
    "../forage-model-e5-small/share/forage/models",
    "../../../forage-model-e5-small/share/forage/models",
};

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
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        if (own_file(FOLDERS[i], MODEL_FILE, path, size)) {
            return true;
        }
    }
    return is_in_data(path, size) || is_there(path, size, "/usr/share/forage/models");
}
