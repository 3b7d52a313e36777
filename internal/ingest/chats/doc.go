// Package chats reads conversations and memories that other programs wrote: bytes become sessions and turns,
// or things, statements and relations, one at a time. It sees no repository, no file and no clock.
//
//	claude-code     JSON Lines of Claude Code, ~/.claude/projects/…/SESSION.jsonl
//	codex           JSON Lines of Codex, ~/.codex/sessions/…/rollout-….jsonl, of both forms
//	gemini          a session of Gemini CLI, ~/.gemini/tmp/…/chats/session-….json or .jsonl
//	chatgpt         conversations.json of an export of ChatGPT, its archive, or one conversation
//	claude          the same of Claude
//	opencode        a session as OpenCode exports it, or its database
//	cursor          JSON Lines of an agent of Cursor, ~/.cursor/projects/…/agent-transcripts/…/SESSION.jsonl, or the
//	                database of its chats, state.vscdb
//	copilot         a chat of VS Code, …/chatSessions/SESSION.json, or .jsonl, a log of changes of it
//	copilot-cli     events of Copilot CLI, ~/.copilot/session-state/SESSION/events.jsonl
//	cline           ui_messages.json of a task of Cline, messages.json of a session
//	server-memory   JSON Lines of the MCP server memory: entities and relations
//	mem0            what get_all of mem0 answers, or a list of its memories
//
// What people and models said is kept, with its time and who said it, and of calls of tools one line each. Everything
// else is left out and told to the handler by its kind: the record types of each format are in formats.txt and
// in docs/reference/importers.md. What is damaged, or in no table, is told with its place, and the rest is read.
package chats
