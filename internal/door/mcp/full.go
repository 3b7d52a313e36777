package mcp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// wide names the operations that the full profile adds, each with the parameters that its tool takes,
// with spaces between, and no other: a parameter that an operation gets later is not offered until it
// is named here. topic=query offers one of them under the name that it has elsewhere. The list omits parameters that the
// server decides (who asks, when, whether it is signed), and parameters for measuring. What cannot be undone, reads files
// of the machine or asks models is left to the command line.
var wide = []struct{ name, params string }{
	{"branch", "delete expect force move name rev"},
	{"switch", "create detach expect force name rev"},
	{"tag", "allow_secret delete expect force message name rev"},
	{"merge", "abort continue drop list no_ff require_signed resolve rev take " + applying},
	{"revert", "rev " + applying},
	{"cherry_pick", "rev " + applying},
	{"restore", "nodes rev " + marking},
	{"op_log", "limit"},
	{"op_restore", "expect op"},
	{"pin", "allow_secret branch dry_run expect message nodes remove"},
	{"consolidate", "accept at keep kind limit now picks reject " + marking},
	{"embed_cues", "after at limit missing type"},
	{"ls", "after all at edges include limit now sort sources type where"},
	{"map", "at budget by depth scope since text write"},
	{"blame", "at field node"},
	{"session_replay", "record"},
	{"status", ""},
	{"key_verify", "all limit rev strict"},
	{"fsck", "full"},
	{"config_profile", "at name"},
}

// What several operations take: marks on nodes, and the changes of other commits.
const (
	marking  = "allow_secret branch dry_run expect message reason"
	applying = "allow_secret branch conflicts dry_run expect message"
)

// broader adds what the list of the core has no room for: the altitude of a search, and other ways to explore.
func broader(list []*tool) []*tool {
	for _, t := range list {
		switch t.name {
		case "undo":
			t.params = append(t.params, param{name: "redo", kind: boolean, flag: "redo", doc: "take back the last undo instead"})
		case "explore":
			t.params = append(t.params,
				param{name: "tags", kind: boolean, flag: "tags", doc: "suggest tags for the text"},
				param{name: "communities", kind: boolean, flag: "communities", doc: "of connected nodes; or of the node"},
				param{name: "edge", kind: texts, flag: "edge", doc: "follow only these"})
			t.params[0].required = false
			t.fields = append(slices.Clone(t.fields), field{name: "tags", list: true}, field{name: "communities", list: true})
		case "retrieve":
			t.params = append(t.params, param{
				name: "altitude", kind: text, flag: "altitude", enum: []string{"entity", "scope", "root", "auto"},
				doc: "scope: digests where much fits; root: an overview first",
			})
			t.fields = append(slices.Clone(t.fields), field{name: "digests"})
		}
	}
	return list
}

func (s *Server) fullTools() []*tool {
	var list []*tool
	for _, w := range wide {
		op, err := s.operation(w.name)
		if err != nil || op.Effect == operation.Destroys {
			continue
		}
		list = append(list, made(op, strings.Fields(w.params)))
	}
	return list
}

func made(op *operation.Operation, params []string) *tool {
	t := &tool{
		name: op.Name, title: op.Title, doc: firstSentence(op.Doc, op.Title), operation: op.Name,
		effect: op.Effect, idempotent: op.Idempotent, quoted: true,
		paged: op.Effect == operation.Reads,
	}
	word := 0
	called := make(map[string]string, len(params))
	for _, name := range params {
		name, as, _ := strings.Cut(name, "=")
		called[name] = cmp.Or(as, name)
	}
	for _, p := range op.Params {
		if p.Kind == operation.Lines {
			continue
		}
		if p.Flag == "" {
			word++
		}
		if called[p.Name] == "" || p.Effect == operation.Destroys {
			continue
		}
		if p.Effect > t.effect {
			t.effect, t.idempotent = p.Effect, false
		}
		to := param{
			name: called[p.Name], kind: kindOf(p.Kind), enum: p.Enum, required: p.Required, flag: p.Flag,
			doc: brief(p.Doc),
		}
		if p.Flag == "" {
			to.word = word
		}
		t.params = append(t.params, to)
	}
	return t
}

func kindOf(k operation.ParamKind) kind {
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

func brief(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s, _, _ = strings.Cut(s, " (")
	return clipText(strings.ReplaceAll(s, "--", ""), 100)
}
