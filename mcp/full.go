package mcp

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/operation"
)

// wide names the operations that the full profile adds. Their tools are made from the table: each
// takes the parameters the operation has, but for those of every write, and answers what it answers.
// What cannot be undone, reads files of the machine or asks models is left to the command line.
var wide = []string{
	"branch", "switch", "tag", "merge", "revert", "cherry_pick", "restore", "redo", "op_log",
	"op_restore", "supersede", "contradict", "stale", "retire", "expire", "consolidate", "show", "ls",
	"path", "explore", "related", "suggest", "communities", "sources", "stats", "blame", "replay",
	"status", "verify", "fsck", "cat_file", "profile_list", "profile_show",
}

// hiddenFlags are parameters that a client cannot use: the server says who asks and signs, and what
// is only for people or for measuring.
var hiddenFlags = []string{
	"author", "agent", "task", "time", "key", "sign", "no-sign", "marks", "trace", "stage", "yes",
	"wait", "quiet", "json", "repo",
}

// fullTools are the tools that the full profile adds to the core.
func (s *Server) fullTools() []*tool {
	var list []*tool
	for _, name := range wide {
		op, err := s.operation(name)
		if err != nil || op.Effect == operation.Destroys {
			continue
		}
		list = append(list, made(op))
	}
	return list
}

// made makes a tool of an operation.
func made(op *operation.Operation) *tool {
	t := &tool{
		name: op.Name, title: op.Title, doc: firstSentence(op.Doc, op.Title), operation: op.Name,
		effect: op.Effect, idempotent: op.Idempotent, quoted: true,
		// The page of a write would be another write.
		paged: op.Effect == operation.Reads,
	}
	word := 0
	for _, p := range op.Params {
		if p.Kind == operation.Lines {
			continue
		}
		if p.Flag == "" {
			word++
		}
		if slices.Contains(hiddenFlags, p.Flag) || p.Effect == operation.Destroys {
			continue
		}
		if p.Effect > t.effect {
			t.effect, t.idempotent = p.Effect, false
		}
		to := param{
			name: p.Name, kind: kindOf(p.Kind), enum: p.Enum, required: p.Required, flag: p.Flag,
			doc: brief(p.Doc),
		}
		if p.Flag == "" {
			to.word = word
		}
		t.params = append(t.params, to)
	}
	return t
}

func kindOf(k operation.Kind) kind {
	switch k {
	case operation.Integer:
		return number
	case operation.Number:
		return decimal
	case operation.Boolean:
		return boolean
	case operation.Strings:
		return texts
	}
	return text
}

// firstSentence returns what a text says first: descriptions are read with every call.
func firstSentence(s, otherwise string) string {
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "--", "") // flags are parameters here
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i+1]
	}
	if s == "" {
		return otherwise
	}
	return clipText(s, 300)
}

// brief shortens what the help says of a flag.
func brief(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s, _, _ = strings.Cut(s, " (")
	return clipText(strings.ReplaceAll(s, "--", ""), 100)
}
