/* The model of meanings as a program for bench/model:
 *
 *   bench-embed MODEL < TEXTS > VECTORS
 *
 * A text ends in a NUL; its vector is that of a passage. What it took goes to standard error as
 * JSON: milliseconds of processor time to open the model, and for each text; its memory in MB. */
#include "meaning/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    struct embedding_model *model = NULL;
    struct model_work *work = model_work_new();
    char problem[512] = "bench-embed MODEL";
    double start = now_ms();
    if (argc != 2 || !work || model_open(argv[1], &model, problem, sizeof problem) != OK) {
        fprintf(stderr, "%s\n", problem);
        return EXIT_FAILURE;
    }
    double opened = now_ms();
    double spent = 0;
    size_t count = 0;
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getdelim(&text, &room, '\0', stdin)) > 0) {
        float vector[MODEL_DIMENSIONS];
        double before = now_ms();
        if (model_embed(model, work, MODEL_PASSAGE, text, strlen(text), vector) != OK) {
            return EXIT_FAILURE;
        }
        spent += now_ms() - before;
        count++;
        fwrite(vector, sizeof *vector, MODEL_DIMENSIONS, stdout);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "{\"kernels\": \"%s\", \"start\": %.3f, \"each\": %.3f, \"memory\": %ld}\n",
            model_kernels(), opened - start, count ? spent / (double)count : 0,
            usage.ru_maxrss / 1024);
    free(text);
    model_work_free(work);
    model_free(model);
    return EXIT_SUCCESS;
}
