package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/guard"
)

// ErrSecret marks errors about apparent credentials in the data to write.
var ErrSecret = errors.New("looks like a credential")

const (
	// BulkChanges is the number of changes above which a write only reports credentials instead of refusing them:
	// one line should not stop an import.
	BulkChanges = 1000
	// maxSecrets is how many findings a report lists, and maxIncoming how many items of a merge are checked.
	maxSecrets  = 100
	maxIncoming = 10_000
)

// SecretOptions say how credentials in written data are handled. The zero value refuses them.
type SecretOptions struct {
	Allow  []string // ids of rules of package guard whose findings are accepted and not reported
	Strict bool     // refuse in writes of more than BulkChanges changes, too

	All bool // refuse nothing: it was accepted before
}

// SecretFinding is an apparent credential in one field of the written data.
type SecretFinding struct {
	Rule  string `json:"rule"`              // of package guard
	Field string `json:"field"`             // as in "node.summary"; "message" of a commit
	File  string `json:"file" shape:"null"` // of the change line, "" for none
	Line  int    `json:"line" shape:"null"` // likewise, 0 for none
	Item  string `json:"item" shape:"null"` // the item it is in, or the CID of a block, if no line is known
}

// At formats the place of the finding.
func (f SecretFinding) At() string {
	switch {
	case f.Line > 0 && f.File != "":
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Field)
	case f.Line > 0:
		return fmt.Sprintf("line %d: %s", f.Line, f.Field)
	case f.Item != "":
		return f.Item + ": " + f.Field
	}
	return f.Field
}

// SecretReport lists apparent credentials in the written data.
type SecretReport struct {
	Findings []SecretFinding // the first maxSecrets of them, in order
	More     int             // number not listed
	Unread   int             // items of a merge that were not checked
}

// Add lists findings, up to maxSecrets in total, and counts the rest in More.
func (r *SecretReport) Add(list ...SecretFinding) {
	room := min(maxSecrets-len(r.Findings), len(list))
	r.Findings = append(r.Findings, list[:room]...)
	r.More += len(list) - room
}

// SecretError is returned if data to write contains an apparent credential; nothing was written. errors.Is(err,
// ErrSecret) holds. A *graph.LineError around it names the line.
type SecretError struct {
	Field string   // field of the first finding
	Rules []string // with findings in the whole write, in order: allowing all of them accepts it
	Bulk  bool     // whether it was refused only because of SecretOptions.Strict
}

// Error names the field and the rules, but never the credential.
func (e *SecretError) Error() string {
	return fmt.Sprintf("%s: %v (%s): nothing was written", e.Field, ErrSecret, strings.Join(e.Rules, ", "))
}

// Is reports whether target is ErrSecret.
func (e *SecretError) Is(target error) bool { return target == ErrSecret }

// Refuse returns a *SecretError if places contain a credential to refuse, or else nil.
func (o SecretOptions) Refuse(places []guard.Place) error {
	l := SecretLog{Opt: o}
	l.Note(nil, places)
	return l.Refusal()
}

// SecretLog collects apparent credentials in one write.
type SecretLog struct {
	Opt     SecretOptions
	Report  SecretReport
	first   *graph.Change // the change with the first finding to refuse; nil for a text outside of the changes
	refused *SecretError  // nil for none
}

// Note records findings in a change, or in another text of the write if c is nil.
func (l *SecretLog) Note(c *graph.Change, places []guard.Place) {
	for _, p := range places {
		if slices.Contains(l.Opt.Allow, p.Rule) {
			continue
		}
		f := SecretFinding{Rule: p.Rule, Field: p.Field}
		if c != nil {
			f.File, f.Line = c.File, c.Line
		}
		l.Report.Add(f)
		if p.Level != guard.Refuses || l.Opt.All {
			continue
		}
		if l.refused == nil {
			l.first, l.refused = c, &SecretError{Field: p.Field}
		}
		if !slices.Contains(l.refused.Rules, p.Rule) {
			l.refused.Rules = append(l.refused.Rules, p.Rule)
		}
	}
}

// Texts checks a commit's message, author, agent and task.
func (l *SecretLog) Texts(by Stamp, message string) {
	l.Note(nil, guard.Text("message", message))
	l.Note(nil, guard.Text("author", by.Author))
	l.Note(nil, guard.Text("agent", by.Agent))
	l.Note(nil, guard.Text("task", by.Task))
}

// Refusal returns a *SecretError about the first finding to refuse, at its line if it is in a change, nil
// if there is none.
func (l *SecretLog) Refusal() error {
	switch {
	case l.refused == nil:
		return nil
	case l.first == nil:
		return l.refused
	}
	return l.first.At(l.refused)
}

// Verdict is Refusal for a write of the given number of changes: if it has more than BulkChanges, a finding in a
// change refuses it only if Strict is set.
func (l *SecretLog) Verdict(changes int) error {
	if changes > BulkChanges && l.first != nil {
		if !l.Opt.Strict {
			return nil
		}
		l.refused.Bulk = true
	}
	return l.Refusal()
}

// RefWords are the names for refs of a namespace in errors.
var RefWords = map[string]string{
	graph.Heads: "branch", graph.Tags: "tag", graph.Sessions: "session", graph.Stages: "stage",
	graph.Remotes: "remote", graph.Imported: "import", "": "ref",
}

// KindDigest is the kind that Item takes for an entry of the tree of digests.
const KindDigest = "digest"

// IncomingLog collects apparent credentials in the data that a merge brings in.
type IncomingLog struct {
	SecretLog
	Get   store.Getter
	read  int
	Dense map[string]bool // models with an embedding without terms: all of that model's embeddings have none
}

// Item checks one item of a tree.
func (l *IncomingLog) Item(ctx context.Context, kind string, key, item []byte) error {
	name, model := fmt.Sprintf("%x", key), "" // the source of a digest
	switch {
	case kind == graph.KindEmbedding:
		id, of, err := graph.ParseEmbeddingKey(key)
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
		if name, model = id.String(), of; l.Dense[model] {
			return nil
		}
	case kind != KindDigest:
		name = graph.ID(key[len(key)-graph.IDLen:]).String()
	}
	if l.read++; l.read > maxIncoming {
		l.Report.Unread++
		return nil
	}
	c, err := LinkItem(item)
	if err != nil {
		return err
	}
	block, err := l.Get.Get(ctx, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil
	}
	if err != nil {
		return err
	}
	places, err := recordPlaces(ctx, l.Get, kind, block)
	if err != nil {
		return err
	}
	if kind == graph.KindEmbedding && len(places) == 0 {
		e, err := graph.DecodeEmbedding(block)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", c, store.ErrCorrupt, err)
		}
		l.Dense[model] = e.DType != graph.Sparse
	}
	l.NoteAt(kind+" "+name, places)
	return nil
}

// NoteAt records findings in something other than a change.
func (l *SecretLog) NoteAt(item string, places []guard.Place) {
	for _, p := range places {
		if !slices.Contains(l.Opt.Allow, p.Rule) {
			l.Report.Add(SecretFinding{Rule: p.Rule, Field: p.Field, Item: item})
		}
	}
}

// recordPlaces returns apparent credentials in a record that a tree links to, including a node's content.
func recordPlaces(ctx context.Context, get store.Getter, kind string, block []byte) ([]guard.Place, error) {
	places := guard.Record(block)
	if kind != graph.KindNode {
		return places, nil
	}
	n, err := graph.DecodeNode(block)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	if n.Content == nil || len(n.Content.Chunks) == 0 {
		return places, nil
	}
	text, err := ContentText(ctx, get, n.Content)
	return append(places, guard.Text("node.content", text)...), err
}

// BlockPlaces returns apparent credentials in an imported block. Chunks of content are checked separately.
func BlockPlaces(as Role, data []byte) []guard.Place {
	if as == RoleRaw {
		return guard.Text("text", string(data))
	}
	return guard.Record(data)
}
