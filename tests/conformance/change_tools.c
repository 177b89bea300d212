/* Tools that change a list, as far as those who listen for changes can tell. */
#include "fixture.h"

static struct mcp *told;

void change_tools_use(struct mcp *mcp)
{
    told = mcp;
}

static int run_tool_change(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    mcp_list_changed(told, MCP_LIST_TOOLS);
    return reply_text(call, reply, "The listeners were told that the tools have changed.");
}

static int run_prompt_change(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    mcp_list_changed(told, MCP_LIST_PROMPTS);
    return reply_text(call, reply, "The listeners were told that the prompts have changed.");
}

static const struct tool TOOLS[] = {
    {DEFINITION("test_trigger_tool_change", "Tells listeners that the tools have changed.", SLOW,
                NO_ARGUMENTS),
     run_tool_change, NULL},
    {DEFINITION("test_trigger_prompt_change", "Tells listeners that the prompts have changed.",
                SLOW, NO_ARGUMENTS),
     run_prompt_change, NULL},
};

int add_change_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
