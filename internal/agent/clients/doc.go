// Package clients edits the configuration files of MCP clients. It adds and removes an entry that starts a server,
// hooks that call a program, and rules that tell agents how to use the memory. It leaves everything else unchanged,
// byte for byte, comments included.
//
//	client           level    file                                              entry
//	claude-code      user     ~/.claude.json                                    mcpServers.NAME
//	                 project  .mcp.json
//	claude-desktop   user     Claude/claude_desktop_config.json under CONFIG    mcpServers.NAME
//	cursor           user     ~/.cursor/mcp.json                                mcpServers.NAME
//	                 project  .cursor/mcp.json
//	vscode           user     Code/User/mcp.json under CONFIG                   servers.NAME
//	                 project  .vscode/mcp.json
//	codex            user     config.toml under CODEX_HOME, ~/.codex            [mcp_servers.NAME]
//	                 project  .codex/config.toml
//	gemini           user     ~/.gemini/settings.json                           mcpServers.NAME
//	                 project  .gemini/settings.json
//	opencode         user     opencode/opencode.json under XDG_CONFIG_HOME, ~/.config    mcp.NAME
//	                 project  opencode.json
//	continue         user     ~/.continue/mcpServers/mnem.json                  mcpServers.NAME
//	                 project  .continue/mcpServers/mnem.json
//	zed              user     zed/settings.json under XDG_CONFIG_HOME, ~/.config (Windows: Zed under CONFIG)
//	                 project  .zed/settings.json                                context_servers.NAME
//	copilot-cli      user     ~/.copilot/mcp-config.json                        mcpServers.NAME
//	cline            user     cline_mcp_settings.json of the extension, under CONFIG/Code    mcpServers.NAME
//
//	client           level    hooks                                    rules
//	claude-code      user     settings.json under CLAUDE_CONFIG_DIR    skills/mnem/SKILL.md there
//	                 project  .claude/settings.json                    .claude/skills/mnem/SKILL.md
//	cursor           user     ~/.cursor/hooks.json
//	                 project  .cursor/hooks.json                       .cursor/rules/mnem.mdc
//	codex            user     hooks.json under CODEX_HOME              AGENTS.md there, a section
//	                 project  .codex/hooks.json                        AGENTS.md, a section
//	gemini           user     ~/.gemini/settings.json                  ~/.gemini/GEMINI.md, a section
//	                 project  .gemini/settings.json                    GEMINI.md, a section
//	opencode         user     opencode/plugins/mnem.js, a module       opencode/AGENTS.md, a section
//	                 project  .opencode/plugins/mnem.js                AGENTS.md, a section
//	copilot-cli      user     ~/.copilot/hooks/mnem.json               ~/.copilot/copilot-instructions.md, a section
//	cline            user     ~/Documents/Cline/Hooks/UserPromptSubmit, a script    ~/Documents/Cline/Rules/mnem.md
//	continue         user                                              ~/.continue/rules/mnem.md
//	                 project                                           .continue/rules/mnem.md
//	vscode           user                                              ~/.copilot/instructions/mnem.instructions.md
//	                 project                                           .github/instructions/mnem.instructions.md
//	zed              user                                              AGENTS.md next to settings.json, a section
//	                 project                                           AGENTS.md, a section
//
// CONFIG is %AppData% on Windows, ~/Library/Application Support on macOS, else XDG_CONFIG_HOME or ~/.config. Files are
// JSON, with or without comments and trailing commas; Codex's are TOML, and OpenCode runs a module that this package
// writes. Rules are Markdown between two comments. The first comment has a hash of the written text; a text that the
// user has edited since is left alone.
//
// The result of an edit is parsed before it is written: unless it has the old content and the entry, nothing is
// written. A file that cannot be parsed is left alone. Writing replaces the file in one step, based on its latest
// content, and keeps the old file next to it, under its name and Backup.
package clients
