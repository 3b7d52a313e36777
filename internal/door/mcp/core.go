package mcp

import "github.com/mnem-project/mnem/internal/verb/operation"

// The core tools. Every client reads all of this before its first call: each word has to be worth
// its tokens, and a test counts them.

var (
	atParam     = param{name: "at", kind: text, flag: "at", doc: "commit, branch or tag"}
	branchParam = param{name: "branch", kind: text, flag: "branch", doc: "not the current one"}
	limitParam  = param{name: "limit", kind: number, min: 1, max: 1000, flag: "limit"}
	queryParam  = param{name: "query", kind: text, required: true, word: 1, doc: "question or words"}
	alsoParam   = param{name: "also", kind: texts, flag: "also",
		doc: "2 to 4 other wordings: synonyms, words the answer may have, other languages"}
	zoneParam = param{name: "zone", kind: text, flag: "zone", doc: "of days, as Asia/Tokyo"}
	typeParam = param{name: "type", kind: texts, flag: "type", doc: "only these"}
)

func readTools() []*tool { return append(askTools(), historyTools()...) }

func askTools() []*tool {
	return []*tool{
		{
			name: "retrieve", title: "Search memory", operation: "retrieve",
			doc: "Find memories by words, names or filters, best first; without query the newest.",
			params: []param{
				{name: "query", kind: text, word: 1, doc: queryParam.doc}, alsoParam, limitParam, typeParam,
				{name: "where", kind: texts, flag: "where",
					doc: "team = \"infra\", in.mentions >= 3; stats has names with schema"}, zoneParam, atParam,
			},
			fields: answerFields, paged: true, quoted: true, run: ranked,
		},
		{
			name: "recall", title: "Recall for a question", operation: "recall", ready: true,
			doc: "Answer a question, or test a statement, from memory. verdict known: rely on it and cite; " +
				"unsure: say what is missing; unknown: not in memory. Use before you answer or act.",
			params: []param{queryParam, alsoParam, limitParam, typeParam, zoneParam, atParam},
			fields: answerFields, paged: true, quoted: true, run: ranked,
		},
		{
			name: "show", title: "Read one memory", operation: "show",
			doc: "A node with all its fields, or one; or a commit.",
			params: []param{
				{name: "name", kind: text, required: true, word: 1, doc: "key, id, exact title or commit"},
				{name: "field", kind: text, flag: "field", doc: "summary, props.NAME…"},
				{name: "include", kind: texts, flag: "include",
					doc: "hidden: forgotten, superseded, expired, retired"},
				atParam,
			},
			fields: members("id key type summary context props created updated validFrom validTo sources mark media content " +
				"value"),
			paged: true, quoted: true, run: shown,
		},
		{
			name: "explore", title: "Follow links", operation: "explore",
			doc: "What surrounds a node or a topic, each with why.",
			params: []param{
				{name: "query", kind: text, required: true, word: 1, doc: "key, id, title, or words"},
				{name: "to", kind: text, flag: "to", doc: "node: the path to it"},
				{name: "depth", kind: number, min: 1, max: 8, flag: "depth", doc: "by edges alone"},
				typeParam, atParam,
			},
			fields: []field{
				{name: "node", typ: "object"},
				{name: "nodes", items: []string{"id", "key", "type", "summary", "hops", "why"}}, {name: "cut"},
			},
			paged: true, quoted: true, run: explore,
		},
		{
			name: "stats", title: "What there is", operation: "stats",
			doc: "How much memory holds; with schema the types, properties and edge types to ask for.",
			params: []param{
				{name: "schema", kind: boolean, flag: "schema", doc: "names, not sizes"}, limitParam, atParam,
			},
			fields: append(members("nodes edges marks embeddings agents more_node_types more_properties more_edge_types index store"),
				field{name: "node_types", list: true}, field{name: "properties", list: true}, field{name: "edge_types", list: true}),
			paged: true, quoted: true,
		},
	}
}

func historyTools() []*tool {
	return []*tool{
		{
			name: "diff", title: "Compare commits", operation: "diff",
			doc: "What changed between two revisions, field by field.",
			params: []param{
				{name: "from", kind: text, word: 1, doc: "HEAD~1"},
				{name: "to", kind: text, word: 2, doc: "HEAD"}, typeParam,
				{name: "stat", kind: boolean, flag: "stat", doc: "numbers only"},
			},
			fields: []field{
				{name: "from"}, {name: "to"}, {name: "title"}, {name: "counts", typ: "object"},
				{name: "nodes", items: []string{"id", "key", "type", "change", "fields"}},
				{name: "edges", items: []string{"type", "src", "src_key", "dst", "dst_key", "key", "change",
					"fields"}},
				{name: "node_types", list: true}, {name: "edge_types", list: true},
			},
			paged: true, quoted: true, run: diff,
		},
		{
			name: "log", title: "List commits", operation: "log",
			doc: "Commits, newest first: who changed what, when and why.",
			params: []param{
				{name: "node", kind: text, word: 1, doc: "only those that touched it"}, limitParam,
				{name: "since", kind: text, flag: "since", doc: "date or RFC 3339 time"}, atParam,
			},
			fields: []field{{name: "commits", items: []string{"commit", "author", "agent", "task", "time",
				"message", "title", "nodes", "edges"}}},
			paged: true, quoted: true, run: log,
		},
	}
}

var answerFields = append(members("commit intent verdict because missing dropped warnings"),
	field{name: "items", items: []string{"id", "key", "type", "band", "rank", "score", "tokens", "rendered"}})

// sessionTool tells of sessions; one that writes starts and ends them too.
func sessionTool(actions []string) *tool {
	t := &tool{
		name: "session", title: "Recorded sessions", operation: "session_list",
		doc: "What was retrieved, by session",
		params: []param{
			{name: "action", kind: text, required: true, enum: actions, doc: "what to do"},
			{name: "name", kind: text, doc: "of the session"},
		},
		fields: append(members("session commit"), field{name: "items", list: true}),
		effect: operation.Reads, paged: true, quoted: true, run: session,
	}
	if len(actions) > len(sessionReads) {
		t.effect, t.additive = operation.Writes, true
		t.doc += "; start one, end it, advance it to HEAD"
	}
	t.doc += "."
	return t
}

// allowSecretParam lets through what was refused as a credential and is none.
var allowSecretParam = param{name: "allow_secret", kind: texts, flag: "allow-secret",
	doc: "rules refused wrongly"}

// writeTools change the memory, each in one commit or operation that undo takes back.
func writeTools() []*tool {
	return []*tool{
		{
			name: "remember", title: "Remember a fact", operation: "remember", ready: true,
			doc: "Keep one thing that is so, in words that stand alone. Nothing is overwritten: if it " +
				"replaces an earlier memory, make the call that the answer ends with.",
			params: []param{
				{name: "text", kind: text, required: true, word: 1, doc: "the fact"},
				{name: "cues", kind: texts, flag: "cue",
					doc: "4 to 8 short phrases somebody may search by that text lacks: synonyms, topics, other languages"},
				{name: "type", kind: text, flag: "type",
					doc: "fact (default), decision, preference, insight, event, task…"},
				{name: "tags", kind: texts, flag: "tag", doc: "topics"},
				{name: "entities", kind: texts, flag: "entity", doc: "names in it"},
				{name: "importance", kind: number, min: 1, max: 5, flag: "importance", doc: "default 3"},
				{name: "about", kind: text, flag: "about", doc: "key of the subject"},
				{name: "property", kind: text, flag: "property",
					doc: "of the subject, one value: replaces the old one"},
				{name: "supersedes", kind: texts, flag: "supersedes", doc: "nodes it replaces"},
				{name: "source", kind: texts, flag: "source", doc: "file:PATH"},
				allowSecretParam, branchParam,
			},
			fields: append(members("id action commit repository superseded settle warnings"),
				field{name: "similar", items: []string{"id", "summary", "similarity", "differs", "suggest"}},
				field{name: "nearest", items: []string{"id", "date", "text"}}),
			effect: operation.Writes, additive: true, quoted: true, run: remember,
		},
		{
			name: "commit", title: "Commit nodes and edges", operation: "commit",
			doc: "Write nodes, edges and removals in one commit, all or nothing. Edges may name nodes of " +
				"the same call by key. An existing key updates the fields given.",
			params: []param{
				{name: "message", kind: text, required: true, flag: "message", doc: "its subject"},
				{name: "nodes", kind: objects,
					doc: "{key or id, type, summary, props?, content?, cues?, unset?: [\"props.x\"]}"},
				{name: "edges", kind: objects, doc: "{type, src, dst, props?}; src, dst: keys or ids"},
				{name: "remove", kind: objects, doc: "{node: key} or {edge: {type, src, dst}}"},
				allowSecretParam, branchParam,
				{name: "expect", kind: text, flag: "expect", doc: "commit the branch must be at"},
			},
			fields: append(members("commit branch duplicates unchanged no_change"),
				field{name: "nodes", typ: "object"}, field{name: "edges", typ: "object"}),
			effect: operation.Writes, run: commit,
		},
		{
			name: "forget", title: "Hide memories", operation: "forget",
			doc: "Hide nodes from every later retrieval. Older commits keep them; undo brings them back.",
			params: []param{
				{name: "nodes", kind: texts, required: true, word: 1, doc: "keys, ids or exact titles"},
				{name: "reason", kind: text, flag: "reason", doc: "why"}, allowSecretParam, branchParam,
			},
			fields: members("commit marked already no_change"),
			effect: operation.Writes, idempotent: true,
		},
		{
			name: "mark", title: "Say that a memory is replaced", operation: "mark",
			doc: "Mark nodes as superseded by a newer one, different from it (not replaced), contradicted, stale or retired.",
			params: []param{
				{name: "kind", kind: text, required: true, flag: "kind",
					enum: []string{"superseded", "different", "contradicted", "stale", "retired"}, doc: "what they are"},
				{name: "nodes", kind: texts, required: true, flag: "nodes", doc: "keys or ids"},
				{name: "by", kind: text, flag: "by", doc: "what replaces or contradicts them"},
			},
			fields: members("commit marked"),
			effect: operation.Writes, idempotent: true,
		},
		{
			name: "undo", title: "Take back a change", operation: "undo",
			doc: "Take back your newest commit; again, the one before.",
			params: []param{
				{name: "op", kind: text, word: 1, doc: "another operation, by number"},
				{name: "any", kind: boolean, doc: "also by other agents"},
			},
			fields: members("undone op refs"),
			effect: operation.Writes, run: undo,
		},
	}
}
