/* The table of clients, and where their files are on this machine. */
#include "setup/clients.h"

#include "core/files.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct client CLIENTS[] = {
    {
        .id = "claude-code",
        .title = "Claude Code",
        .format = CLIENT_JSON,
        .user = {"~/.claude.json", "~/.claude.json", "%USERPROFILE%\\.claude.json"},
        .project = ".mcp.json",
        .moved_by = "CLAUDE_CONFIG_DIR",
        .moved_file = ".claude.json",
        .servers = "mcpServers",
        .type_stdio = "stdio",
        .type_http = "http",
        .url_member = "url",
        .reference = REFERENCE_DEFAULTED,
        .program = "claude",
        .signs = {".claude", ".claude.json"},
        .then = "Start a new session; `claude mcp list` shows forage as connected.",
        .trouble = "`claude mcp get forage` says what it starts; `claude --debug` and `/mcp` in a "
                   "session show what went wrong.",
        .more = "Its own command writes the same: `claude mcp add forage --scope user --env "
                "FORAGE_TOOLS=ready -- forage mcp --context claude-code`. A server of a project "
                "(`--scope project`) is used once "
                "you approve it.",
    },
    {
        .id = "claude-desktop",
        .title = "Claude Desktop",
        .format = CLIENT_JSON,
        .user = {"~/.config/Claude/claude_desktop_config.json",
                 "~/Library/Application Support/Claude/claude_desktop_config.json",
                 "%APPDATA%\\Claude\\claude_desktop_config.json"},
        .servers = "mcpServers",
        .reference = REFERENCE_NONE,
        .absolute = true,
        .signs = {".config/Claude", "Library/Application Support/Claude"},
        .then = "Quit Claude Desktop and start it again; Settings, Developer shows forage as "
                "running.",
        .trouble = "Settings, Developer, Open Logs Folder: mcp-server-forage.log has forage's own "
                   "words, mcp.log those of the connection.",
        .more = "It knows neither your shell's PATH nor its variables, so the path is whole, and "
                "keys belong into ~/.config/forage/forage.env, which forage reads itself. Servers "
                "by URL are added in Settings, Connectors, not in this file.",
    },
    {
        .id = "cursor",
        .title = "Cursor",
        .format = CLIENT_JSONC,
        .user = {"~/.cursor/mcp.json", "~/.cursor/mcp.json", "%USERPROFILE%\\.cursor\\mcp.json"},
        .project = ".cursor/mcp.json",
        .servers = "mcpServers",
        .url_member = "url",
        .reference = REFERENCE_ENV,
        .program = "cursor",
        .signs = {".cursor", ".config/Cursor", "Library/Application Support/Cursor"},
        .then = "Cursor notices the file by itself; Cursor Settings, MCP shows forage with its "
                "tools. Switch it on there the first time.",
        .trouble = "The Output panel (View, Output) has a channel of MCP logs.",
    },
    {
        .id = "vscode",
        .title = "VS Code (Copilot)",
        .format = CLIENT_JSONC,
        .user = {"~/.config/Code/User/mcp.json", "~/Library/Application Support/Code/User/mcp.json",
                 "%APPDATA%\\Code\\User\\mcp.json"},
        .project = ".vscode/mcp.json",
        .servers = "servers",
        .type_stdio = "stdio",
        .type_http = "http",
        .url_member = "url",
        .reference = REFERENCE_ENV,
        .program = "code",
        .signs = {".config/Code", "Library/Application Support/Code", ".vscode"},
        .then = "Run `MCP: List Servers` from the Command Palette and start forage; agent mode "
                "then has its tools.",
        .trouble = "`MCP: List Servers`, forage, Show Output.",
        .more = "Keys are taken from the environment that VS Code was started with. Another "
                "profile than the default one has its own file: `MCP: Open User Configuration` "
                "opens it.",
    },
    {
        .id = "codex",
        .title = "Codex",
        .format = CLIENT_TOML,
        .user = {"~/.codex/config.toml", "~/.codex/config.toml",
                 "%USERPROFILE%\\.codex\\config.toml"},
        .project = ".codex/config.toml",
        .moved_by = "CODEX_HOME",
        .moved_file = "config.toml",
        .servers = "mcp_servers",
        .url_member = "url",
        .reference = REFERENCE_NAMED,
        .program = "codex",
        .signs = {".codex"},
        .then = "Start a new session; `/mcp` in it shows forage with its tools.",
        .trouble = "`codex mcp get forage` says what it starts; what went wrong is in "
                   "~/.codex/log.",
        .more = "Keys are taken from the environment that Codex was started with; it hands on only "
                "those that `env_vars` names. The file of a project counts where Codex trusts the "
                "project.",
    },
    {
        .id = "gemini-cli",
        .title = "Gemini CLI",
        .format = CLIENT_JSONC,
        .user = {"~/.gemini/settings.json", "~/.gemini/settings.json",
                 "%USERPROFILE%\\.gemini\\settings.json"},
        .project = ".gemini/settings.json",
        .moved_by = "GEMINI_CLI_HOME",
        .moved_file = ".gemini/settings.json",
        .servers = "mcpServers",
        .url_member = "httpUrl",
        .reference = REFERENCE_DOLLAR,
        .program = "gemini",
        .signs = {".gemini"},
        .then = "Start a new session; `gemini mcp list` shows forage as connected.",
        .trouble = "`/mcp` in a session lists the tools; `gemini --debug` shows what went wrong.",
        .more = "It hands on only the keys that `env` names.",
    },
    {
        .id = "windsurf",
        .title = "Windsurf",
        .format = CLIENT_JSON,
        .user = {"~/.codeium/windsurf/mcp_config.json", "~/.codeium/windsurf/mcp_config.json",
                 "%USERPROFILE%\\.codeium\\windsurf\\mcp_config.json"},
        .servers = "mcpServers",
        .url_member = "serverUrl",
        .reference = REFERENCE_ENV,
        .program = "windsurf",
        .signs = {".codeium/windsurf", ".config/Windsurf", "Library/Application Support/Windsurf"},
        .then =
            "Press Refresh in Cascade's list of MCP servers; forage shows there with its tools.",
        .trouble = "The list of MCP servers shows the error; Windsurf's log (Output, Windsurf) has "
                   "the rest.",
    },
    {
        .id = "zed",
        .title = "Zed",
        .format = CLIENT_JSONC,
        .user = {"~/.config/zed/settings.json", "~/.config/zed/settings.json",
                 "%APPDATA%\\Zed\\settings.json"},
        .project = ".zed/settings.json",
        .servers = "context_servers",
        .url_member = "url",
        .reference = REFERENCE_INHERITED,
        .program = "zed",
        .signs = {".config/zed", ".local/share/zed"},
        .then = "Zed notices the file by itself; the settings of the Agent Panel show a green dot "
                "beside forage.",
        .trouble = "The Command Palette: `zed: open log`.",
        .more = "forage gets the environment that Zed was started with, keys included.",
    },
    {
        .id = "cline",
        .title = "Cline",
        .format = CLIENT_JSON,
        .user = {"~/.cline/data/settings/cline_mcp_settings.json",
                 "~/.cline/data/settings/cline_mcp_settings.json",
                 "%USERPROFILE%\\.cline\\data\\settings\\cline_mcp_settings.json"},
        .older = {"~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
                  "cline_mcp_settings.json",
                  "~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/"
                  "settings/cline_mcp_settings.json",
                  "%APPDATA%\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\"
                  "cline_mcp_settings.json"},
        .servers = "mcpServers",
        .type_http = "streamableHttp",
        .url_member = "url",
        .reference = REFERENCE_ENV,
        .program = "cline",
        .signs = {".cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev",
                  "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev"},
        .then = "Cline notices the file by itself; its list of MCP servers shows forage with a "
                "green dot.",
        .trouble = "The list of MCP servers shows the error; the Output panel of the editor has a "
                   "channel for Cline.",
    },
};

const size_t CLIENT_COUNT = sizeof CLIENTS / sizeof *CLIENTS;

const struct client *client_find(const char *id)
{
    for (size_t i = 0; i < CLIENT_COUNT; i++) {
        if (strcmp(CLIENTS[i].id, id) == 0) {
            return &CLIENTS[i];
        }
    }
    return NULL;
}

/* ---- paths ---- */

static int finish(int written)
{
    return written < 0 ? ERR_IO : written < CLIENT_MOST_PATH ? OK : ERR_LIMIT;
}

/* "~/..." with the home, or the folder for configuration, in its place. */
static int expand(const char *written, char path[CLIENT_MOST_PATH])
{
    static const char CONFIG[] = "~/.config/";
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    size_t length = sizeof CONFIG - 1;
    if (config && *config == '/' && strncmp(written, CONFIG, length) == 0) {
        return finish(snprintf(path, CLIENT_MOST_PATH, "%s/%s", config, written + length));
    }
    if (!home || *home != '/') {
        return ERR_IO;
    }
    return finish(snprintf(path, CLIENT_MOST_PATH, "%s/%s", home, written + strlen("~/")));
}

static bool exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

static int project_path(const struct client *client, char path[CLIENT_MOST_PATH])
{
    char folder[CLIENT_MOST_PATH];
    if (!client->project) {
        return ERR_NOTFOUND;
    }
    if (!getcwd(folder, sizeof folder)) {
        return ERR_IO;
    }
    return finish(snprintf(path, CLIENT_MOST_PATH, "%s/%s", folder, client->project));
}

int client_path(const struct client *client, enum client_scope scope, char path[CLIENT_MOST_PATH])
{
    char older[CLIENT_MOST_PATH];
    const char *moved = client->moved_by ? getenv(client->moved_by) : NULL;
    if (scope == SCOPE_PROJECT) {
        return project_path(client, path);
    }
    if (moved && *moved == '/') {
        return finish(snprintf(path, CLIENT_MOST_PATH, "%s/%s", moved, client->moved_file));
    }
    int status = expand(client->user[PLATFORM_LINUX], path);
    if (status == OK && client->older[PLATFORM_LINUX] && !exists(path) &&
        expand(client->older[PLATFORM_LINUX], older) == OK && exists(older)) {
        return finish(snprintf(path, CLIENT_MOST_PATH, "%s", older));
    }
    return status;
}

/* ---- is it here? ---- */

bool client_is_found(const struct client *client)
{
    char path[CLIENT_MOST_PATH];
    if (client_path(client, SCOPE_USER, path) == OK && exists(path)) {
        return true;
    }
    for (size_t i = 0; i < sizeof client->signs / sizeof *client->signs && client->signs[i]; i++) {
        char sign[CLIENT_MOST_PATH];
        snprintf(sign, sizeof sign, "~/%s", client->signs[i]);
        if (expand(sign, path) == OK && exists(path)) {
            return true;
        }
    }
    return client->program && find_on_path(client->program, path, sizeof path);
}

/* ---- references ---- */

bool client_reference(const struct client *client, const char *name, char *text, size_t size)
{
    static const char *const FORMS[][2] = {
        [REFERENCE_DEFAULTED] = {"${", ":-}"},
        [REFERENCE_DOLLAR] = {"${", "}"},
        [REFERENCE_ENV] = {"${env:", "}"},
    };
    if (client->reference > REFERENCE_ENV) {
        return false;
    }
    const char *const *form = FORMS[client->reference];
    int written = snprintf(text, size, "%s%s%s", form[0], name, form[1]);
    return written > 0 && (size_t)written < size;
}
