/* `forage config`: what is in force, and the documents that come from the table of variables. */
#include "config/config.h"
#include "cli/cli.h"
#include "config/config_docs.h"
#include "core/limits.h"

int command_config(const struct arguments *arguments)
{
    bool json = option_given(arguments, "--json");
    bool markdown = option_given(arguments, "--markdown");
    bool example = option_given(arguments, "--env-example");
    bool manual = option_given(arguments, "--man");
    int code = EXIT_OK;
    if (json + markdown + example + manual > 1) {
        return usage_error("--json, --markdown, --env-example and --man exclude each other");
    }
    struct buf text;
    buf_init(&text, MIB(1));
    if (markdown) {
        config_write_markdown(&text);
    } else if (example) {
        config_write_env_example(&text);
    } else if (manual) {
        config_write_manual(&text);
    } else {
        code = load_configuration();
        if (code == EXIT_OK) {
            config_write_effective(&text, json);
        }
    }
    return code == EXIT_OK ? print_buf(&text, WORDS_OURS) : code;
}
