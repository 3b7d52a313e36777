package evaluate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Form is how the nodes of change files come into a repository.
type Form string

// The forms.
const (
	FormLines    Form = ""         // as the change lines say
	FormMarkdown Form = "markdown" // each as a file of its own, with the summary for its heading
	FormChatGPT  Form = "chatgpt"  // those with a speaker as the messages of one export
)

// Forms returns the names of all forms but that of the lines.
func Forms() []Form { return []Form{FormMarkdown, FormChatGPT} }

// formed maps nodes of a change file to the nodes made of them.
type formed struct {
	key   map[string]string // of the node, by that of what was made of it
	nodes map[graph.ID]bool
}

func newFormed() *formed {
	return &formed{key: make(map[string]string), nodes: make(map[graph.ID]bool)}
}

// add notes that something of the key made was made of a node.
func (f *formed) add(made, key string) {
	f.key[made] = key
	f.nodes[graph.NodeID(key)] = true
}

// rename puts the nodes of the change file in the place of what was made of them: of several parts of one
// the first, since each is found once.
func (f *formed) rename(a *retrieve.Answer) {
	seen := make(map[string]bool)
	for i := range a.Items {
		it := &a.Items[i]
		made, _, _ := strings.Cut(it.Key, "#") // a chunk's key begins with that of its document
		if key := f.key[made]; key != "" && !seen[key] {
			seen[key] = true
			it.Key, it.ID = key, graph.NodeID(key)
		}
	}
}

// form makes changes of the nodes of a change file as if they had come in another form. Edges are left out:
// neither form has those.
func form(
	ctx context.Context, rp *core.Repo, as Form, lines state.Changes,
) (list []graph.Change, of *formed, err error) {
	var nodes []*graph.NodeChange
	for change, err := range lines {
		if err != nil {
			return nil, nil, err
		}
		if n := change.Node; n != nil {
			if n.Key == "" {
				return nil, nil, graph.Fieldf("key", "a node without one cannot become a part of %s", as)
			}
			nodes = append(nodes, n)
		}
	}
	if as == FormMarkdown {
		return markdown(ctx, rp, nodes)
	}
	return chatGPT(nodes)
}

// noKey is asked for where a text holds a credential.
func noKey() ([]byte, error) { return make([]byte, 32), nil }

// markdown makes a file of each node.
func markdown(
	ctx context.Context, rp *core.Repo, nodes []*graph.NodeChange,
) ([]graph.Change, *formed, error) {
	redact := &ingest.Redactor{Key: noKey}
	files := make([]*ingest.File, len(nodes))
	keys := make(map[string]string, len(nodes))
	for i, n := range nodes {
		name := fmt.Sprintf("%06d.md", i+1)
		keys[name] = n.Key
		text := summary(n)
		if body := content(n); body != "" {
			text = "# " + strings.Join(strings.Fields(text), " ") + "\n\n" + body
		}
		var err error
		if files[i], err = ingest.Read(ingest.Path{Name: name}, parse.Markdown, []byte(text), nil, redact); err != nil {
			return nil, nil, fmt.Errorf("%s as a file: %w", n.Key, err)
		}
	}
	snap, err := rp.At(ctx, ipld.CID{}) // of what was there before: nothing
	if err != nil {
		return nil, nil, err
	}
	cat, err := ingest.Open(ctx, snap, []string{""})
	if err != nil {
		return nil, nil, err
	}
	plan, err := cat.Plan(ctx, &ingest.Input{
		Files: files, Gone: func(ingest.Path) bool { return false }, Sums: redact,
	})
	if err != nil {
		return nil, nil, err
	}
	of := newFormed()
	for _, c := range plan.Changes {
		if c.Node != nil && c.Node.Type == ingest.TypeDocument {
			of.add(c.Node.Key, keys[*c.Node.Summary]) // which is its path
		}
	}
	return plan.Changes, of, nil
}

// talk is one conversation of an export of ChatGPT.
type talk struct {
	ID      string              `json:"id"`
	Title   string              `json:"title"`
	Current string              `json:"current_node"`
	Mapping map[string]*message `json:"mapping"`
}

type message struct {
	Parent   string         `json:"parent"`
	Children []string       `json:"children"`
	Message  map[string]any `json:"message"`
}

// chatGPT makes an export of the nodes with a speaker. Those of one SESSION:TURN are a conversation, whose
// title is the summary of the node SESSION.
func chatGPT(nodes []*graph.NodeChange) ([]graph.Change, *formed, error) {
	titles, first := make(map[string]string), make(map[string]string)
	at := make(map[string]*talk)
	var talks []*talk
	taker := &ingest.Taker{
		Format: string(FormChatGPT), Redact: &ingest.Redactor{Key: noKey}, Seen: make(map[graph.ID]bool),
	}
	of := newFormed()
	for _, n := range nodes {
		titles[n.Key] = summary(n)
		said, ok := ipld.FindEntry(n.Props, "speaker")
		if !ok || said.Kind() != ipld.String {
			continue
		}
		session := n.Key[:max(0, strings.LastIndexByte(n.Key, ':'))]
		t := at[session]
		if t == nil {
			t = &talk{ID: cmp.Or(session, "talk"), Mapping: make(map[string]*message)}
			talks, at[session], first[session] = append(talks, t), t, said.Text()
			of.add(taker.SessionKey(t.ID), session)
		}
		role := "assistant"
		if said.Text() == first[session] {
			role = "user"
		}
		if before := t.Mapping[t.Current]; before != nil {
			before.Children = []string{n.Key}
		}
		t.Mapping[n.Key] = &message{Parent: t.Current, Message: map[string]any{
			"id": n.Key, "create_time": seconds(n.Created),
			"author":  map[string]string{"role": role, "name": said.Text()},
			"content": map[string]any{"content_type": "text", "parts": []string{summary(n) + content(n)}},
		}}
		t.Current = n.Key
		of.add(taker.TurnKey(t.ID+"/"+n.Key), n.Key)
	}
	if len(talks) == 0 {
		return nil, nil, graph.Fieldf("speaker", "no node has this property: nothing is a conversation")
	}
	for session, t := range at {
		t.Title = titles[session]
	}
	export, err := json.Marshal(talks)
	if err != nil {
		return nil, nil, err
	}
	var changes []graph.Change
	taker.Yield = func(c graph.Change) error { changes = append(changes, c); return nil }
	err = chats.Read(taker.Format, "", bytes.NewReader(export), taker)
	if err == nil && taker.Taken.Damaged > 0 {
		err = fmt.Errorf("as an export: %s", strings.Join(taker.Taken.Places, ", "))
	}
	return changes, of, err
}

// seconds is a time as exports have it, nil for none.
func seconds(t graph.OptTime) any {
	if !t.Given {
		return nil
	}
	return json.RawMessage(fmt.Sprintf("%d.%06d", t.Time/1e6, t.Time%1e6))
}

func summary(n *graph.NodeChange) string {
	if n.Summary == nil {
		return ""
	}
	return *n.Summary
}

// content is the whole content of a node.
func content(n *graph.NodeChange) string {
	if n.Content == nil {
		return ""
	}
	text := []byte(n.Content.Text)
	for _, c := range n.Chunks {
		text = slices.Concat(text, c.Data)
	}
	return string(text)
}

// changesOf yields a list of changes.
func changesOf(list []graph.Change) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}
