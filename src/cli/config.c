/* `forage config`: what is in force, and the documents that come from the table of variables. */
#include "config/config.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "config/config_docs.h"

int command_config(const struct arguments *arguments)
{
    struct arguments rest = *arguments;
    bool json = take_flag(&rest, "--json");
    bool markdown = take_flag(&rest, "--markdown");
    bool example = take_flag(&rest, "--env-example");
    int code = refuse_rest(&rest);
    if (code != EXIT_OK) {
        return code;
    }
    if (json + markdown + example > 1) {
        return usage_error("--json, --markdown and --env-example exclude each other");
    }
    struct buf text;
    buf_init(&text, MIB(1));
    if (markdown) {
        config_write_markdown(&text);
    } else if (example) {
        config_write_env_example(&text);
    } else {
        code = load_configuration();
        if (code == EXIT_OK) {
            config_write_effective(&text, json);
        }
    }
    if (code == EXIT_OK) {
        code = print_buf(&text);
    }
    buf_done(&text);
    return code;
}
