/* What the files of `forage memory` share: memory.c (the tools, for people) and memory_files.c
 * (import, export, check and backup). */
#ifndef FORAGE_CLI_MEMORY_H
#define FORAGE_CLI_MEMORY_H

#include "cli/cli.h"

/* One run of the command. */
struct memory_command {
    struct app *app;
    struct call *call;
    const struct arguments *arguments;
    const char *space; /* --namespace, or NULL */
    bool json;
};

/* Says what the call failed with; EXIT_FAILED. */
int memory_command_failed(struct memory_command *command, int status);
/* Shows how far something is, where a person can see it; `total` 0: unknown. Fits
 * call_hooks.progress. */
void memory_command_bar(void *context, double done, double total, const char *message);

int memory_command_import(struct memory_command *command);
int memory_command_export(struct memory_command *command);
int memory_command_check(struct memory_command *command);
int memory_command_backup(struct memory_command *command);

#endif
