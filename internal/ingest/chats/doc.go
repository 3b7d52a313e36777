// Package chats reads conversations and memories that other programs wrote: bytes become sessions and turns,
// or things, statements and relations, one at a time. It sees no repository, no file and no clock.
//
//	claude-code     JSON Lines of Claude Code, ~/.claude/projects/…/SESSION.jsonl
//	codex           JSON Lines of Codex, ~/.codex/sessions/…/rollout-….jsonl, of both forms
//	gemini          a session of Gemini CLI, ~/.gemini/tmp/…/chats/session-….json or .jsonl
//	chatgpt         conversations.json of an export of ChatGPT
//	claude          conversations.json of an export of Claude
//	server-memory   JSON Lines of the MCP server memory: entities and relations
//	mem0            what get_all of mem0 answers, or a list of its memories
//
// What people and models said is kept, with its time and who said it, and of calls of tools one line each.
// What tools answered, thoughts of models, and what programs put into the conversation are not, and are
// counted as skipped. What is damaged is skipped, counted and named by its place; the rest is read.
package chats
