/* docs/doctor.md: what is looked at, from the table of checks. */
#include "doctor/doctor.h"

static const char HEAD[] =
    "# forage doctor\n"
    "\n"
    "<!-- Made by `forage doctor --markdown`; change src/doctor/ instead. -->\n"
    "\n"
    "`forage doctor` looks at this machine and says what works, what is missing and what is\n"
    "broken, each with the one command that mends it. It takes a second or two, at most twelve,\n"
    "changes nothing, and sends nothing anywhere.\n"
    "\n"
    "```sh\n"
    "forage doctor            # everything that can be seen from here\n"
    "forage doctor --online   # and ask every service that has a key whether it accepts it\n"
    "forage doctor --json     # for programs\n"
    "```\n"
    "\n"
    "```text\n"
    "Web search: works\n"
    "  ok       order: Serper\n"
    "  ok       Serper: SERPER_API_KEY is set (environment)\n"
    "  missing  Tavily: TAVILY_API_KEY is not set\n"
    "           $ export TAVILY_API_KEY=YOUR-KEY\n"
    "```\n"
    "\n"
    "| state | what it means |\n"
    "|---|---|\n"
    "| `ok` | works |\n"
    "| `missing` | not there, and nothing that was set up needs it |\n"
    "| `warning` | works, but somebody should look at it |\n"
    "| `broken` | set up, or needed, and does not work |\n"
    "| `unused` | does not matter with these settings |\n"
    "\n"
    "The exit code is 0 when nothing is broken and 1 when something is; 2 is for wrong\n"
    "arguments. A group works when nothing in it is broken, everything that it needs is there\n"
    "and, for web search, there is one provider. A key is never printed.\n";

static const char TAIL[] =
    "\n"
    "## As JSON\n"
    "\n"
    "```json\n"
    "{\n"
    "  \"version\": \"0.8.0\",\n"
    "  \"online\": false,\n"
    "  \"ok\": true,\n"
    "  \"groups\": [\n"
    "    {\n"
    "      \"id\": \"search\",\n"
    "      \"title\": \"Web search\",\n"
    "      \"state\": \"works\",\n"
    "      \"checks\": [\n"
    "        {\n"
    "          \"id\": \"search.serper\",\n"
    "          \"title\": \"Serper\",\n"
    "          \"state\": \"missing\",\n"
    "          \"text\": \"SERPER_API_KEY is not set\",\n"
    "          \"mend\": \"export SERPER_API_KEY=YOUR-KEY\"\n"
    "        }\n"
    "      ]\n"
    "    }\n"
    "  ]\n"
    "}\n"
    "```\n"
    "\n"
    "`ok` is false when something is broken. A group's `state` is `works`, `not set up` or\n"
    "`broken`; `mend` is null where there is nothing to mend. Groups and checks come in this\n"
    "order and keep their ids; new ones may be added, and texts may change. When the settings\n"
    "themselves are refused, `program.settings` is the only check.\n";

void doctor_write_markdown(struct buf *out)
{
    buf_puts(out, HEAD);
    for (int group = 0; group < DOCTOR_GROUPS; group++) {
        buf_printf(out, "\n## %s\n\n| check | what is looked at |\n|---|---|\n",
                   doctor_group_title((enum doctor_group)group));
        for (size_t i = 0; i < doctor_check_count(NULL); i++) {
            if ((int)doctor_check_group(i) == group) {
                buf_printf(out, "| `%s` | %s |\n", doctor_check_id(i), doctor_check_about(i));
            }
        }
    }
    buf_puts(out, TAIL);
}
