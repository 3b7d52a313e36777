package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// ErrSecret marks errors about what looks like a credential in what was to be written.
var ErrSecret = errors.New("looks like a credential")

const (
	// BulkChanges is how many changes a write may have before credentials in it are reported and no
	// longer refused: what is taken over from elsewhere is not stopped by one line of it.
	BulkChanges = 1000
	// maxSecrets is how many findings a report lists, and maxIncoming how many items of a merge are
	// looked at.
	maxSecrets  = 100
	maxIncoming = 10_000
)

// SecretOptions say what becomes of credentials in what is written. The zero value refuses them.
type SecretOptions struct {
	Allow  []string // ids of rules of package guard whose findings are written, and not reported
	Strict bool     // refuse in writes of more than BulkChanges changes too

	all bool // nothing is refused: it was let through before
}

// SecretFinding is what looks like a credential in one field of what was written.
type SecretFinding struct {
	Rule  string // of package guard
	Field string // as in "node.summary"; "message" of a commit
	File  string // of the change line, "" for none
	Line  int    // likewise, 0 for none
	Item  string // the item it is in, or the CID of a block, where no line is known
}

// Where says where it is, in words.
func (f SecretFinding) Where() string {
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

// SecretReport lists what looks like credentials in what was written.
type SecretReport struct {
	Findings []SecretFinding // the first maxSecrets of them, in order
	More     int             // that are not listed
	Unread   int             // items of a merge that were not looked at
}

func (r *SecretReport) add(list ...SecretFinding) {
	room := min(maxSecrets-len(r.Findings), len(list))
	r.Findings = append(r.Findings, list[:room]...)
	r.More += len(list) - room
}

// SecretError is returned where something that is to be written looks like a credential, and nothing
// was written. errors.Is(err, ErrSecret) holds. A *graph.LineError around it names the line.
type SecretError struct {
	Field string   // where the first one is
	Rules []string // that found any in the whole write, in order: allowing them all lets it through
	Bulk  bool     // whether it was refused for SecretOptions.Strict alone
}

func (e *SecretError) Error() string {
	return fmt.Sprintf("%s: %v (%s): nothing was written", e.Field, ErrSecret, strings.Join(e.Rules, ", "))
}

// Is reports whether target is ErrSecret.
func (e *SecretError) Is(target error) bool { return target == ErrSecret }

// Refuse returns a *SecretError where places have a credential that is to be refused, nil else.
func (o SecretOptions) Refuse(places []guard.Place) error {
	l := secretLog{opt: o}
	l.note(nil, places)
	return l.refusal()
}

// secretLog gathers what looks like credentials in one write.
type secretLog struct {
	opt     SecretOptions
	report  SecretReport
	first   *graph.Change // with the first that is to be refused; nil for a text beside the changes
	refused *SecretError  // nil for none
}

// note takes what was found in a change, nil for another text of the write.
func (l *secretLog) note(c *graph.Change, places []guard.Place) {
	for _, p := range places {
		if slices.Contains(l.opt.Allow, p.Rule) {
			continue
		}
		f := SecretFinding{Rule: p.Rule, Field: p.Field}
		if c != nil {
			f.File, f.Line = c.File, c.Line
		}
		l.report.add(f)
		if p.Level != guard.Refuses || l.opt.all {
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

// texts looks at what a commit says of itself.
func (l *secretLog) texts(by Stamp, message string) {
	l.note(nil, guard.Text("message", message))
	l.note(nil, guard.Text("author", by.Author))
	l.note(nil, guard.Text("agent", by.Agent))
	l.note(nil, guard.Text("task", by.Task))
}

// refusal returns the error about the first that is to be refused.
func (l *secretLog) refusal() error {
	switch {
	case l.refused == nil:
		return nil
	case l.first == nil:
		return l.refused
	}
	return l.first.At(l.refused)
}

// verdict is refusal for a write of so many changes.
func (l *secretLog) verdict(changes int) error {
	if changes > BulkChanges && l.first != nil {
		if !l.opt.Strict {
			return nil
		}
		l.refused.Bulk = true
	}
	return l.refusal()
}

// wrote takes what looks like credentials in a record that the operation writes, but for what is in the one that
// it goes on from, which old reads; nil for none. Warnings are not listed: verbs that list them look themselves.
func (t *tx) wrote(block []byte, old func() ([]byte, error)) error {
	places := guard.Record(block)
	if len(places) > 0 && old != nil {
		before, err := old()
		if err != nil {
			return err
		}
		places = guard.Without(block, before)
	}
	t.secrets.note(nil, places)
	return nil
}

// unsaid returns an error where a record that the operation writes, or the name of a ref that was not there, has a
// credential that is to be refused.
func (t *tx) unsaid(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(t.edits)) {
		if t.edits[name] == nil || t.restores {
			continue
		}
		if err := t.named(ctx, name); err != nil {
			return err
		}
		ref, err := decodeSide(name, t.edits[name])
		if err == nil && ref.Symbolic != "" { // which need not be there
			err = t.named(ctx, ref.Symbolic)
		}
		if err != nil {
			return err
		}
	}
	return t.secrets.refusal()
}

// saysNone returns an error where the record of the operation itself has a credential that is to be refused.
func (t *tx) saysNone(op []byte) error {
	if err := t.wrote(op, nil); err != nil {
		return err
	}
	return t.secrets.refusal()
}

// named takes what looks like a credential in the name of a ref that was not there.
func (t *tx) named(ctx context.Context, name graph.RefName) error {
	text := string(name)
	if t.foreign { // what others named keeps its name: what is named here is where it came from
		text, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, graph.Imported), graph.Remotes), "/")
	}
	what, _ := name.Split()
	if what == graph.Conflicts { // it is made of the name of a branch
		return nil
	}
	places := guard.Text(refWords[what], text)
	if len(places) == 0 {
		return nil
	}
	_, there, err := t.view.stored(ctx, name)
	if err == nil && !there {
		t.secrets.note(nil, places)
	}
	return err
}

// refWords are what errors call refs of a namespace.
var refWords = map[string]string{
	graph.Heads: "branch", graph.Tags: "tag", graph.Sessions: "session", graph.Stages: "stage",
	graph.Remotes: "remote", graph.Imported: "import", "": "ref",
}

// checkTexts returns what looks like credentials in what a write says of itself, and an error where
// that is refused.
func checkTexts(by Stamp, message string) (SecretReport, error) {
	l := secretLog{opt: by.Secrets}
	l.texts(by, message)
	return l.report, l.refusal()
}

// incoming reports what looks like credentials in what a merge brings into a state. It refuses
// nothing: what is merged keeps its bytes.
func (t *tx) incoming(ctx context.Context, from, to *state, opt SecretOptions) (SecretReport, error) {
	in := incomingLog{secretLog: secretLog{opt: opt}, get: t.stage, dense: make(map[string]bool)}
	for _, part := range []struct {
		kind     string
		from, to *prolly.Map
	}{
		{graph.KindNode, from.nodes, to.nodes}, {graph.KindEdge, from.edges, to.edges},
		{graph.KindMark, from.marks, to.marks}, {kindDigest, from.digests, to.digests},
		{graph.KindEmbedding, from.vectors, to.vectors},
	} {
		for d, err := range prolly.Diff(ctx, part.from, part.to) {
			if err != nil {
				return in.report, fmt.Errorf("compare %ss: %w", part.kind, err)
			}
			if d.New == nil {
				continue
			}
			if err := in.item(ctx, part.kind, d.Key, d.New); err != nil {
				return in.report, fmt.Errorf("read %s: %w", part.kind, err)
			}
		}
	}
	return in.report, nil
}

const kindDigest = "digest"

// incomingLog gathers what looks like credentials in what a merge brings.
type incomingLog struct {
	secretLog
	get   store.Getter
	read  int
	dense map[string]bool // models of which an embedding has no terms: the others have none either
}

// item takes what is in one item of a tree.
func (l *incomingLog) item(ctx context.Context, kind string, key, item []byte) error {
	name, model := fmt.Sprintf("%x", key), "" // the source of a digest
	switch {
	case kind == graph.KindEmbedding:
		id, of, err := graph.ParseEmbeddingKey(key)
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
		if name, model = id.String(), of; l.dense[model] {
			return nil
		}
	case kind != kindDigest:
		name = graph.ID(key[len(key)-graph.IDLen:]).String()
	}
	if l.read++; l.read > maxIncoming {
		l.report.Unread++
		return nil
	}
	c, err := linkItem(item)
	if err != nil {
		return err
	}
	block, err := l.get.Get(ctx, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil
	}
	if err != nil {
		return err
	}
	places, err := recordPlaces(ctx, l.get, kind, block)
	if err != nil {
		return err
	}
	if kind == graph.KindEmbedding && len(places) == 0 {
		e, err := graph.DecodeEmbedding(block)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", c, store.ErrCorrupt, err)
		}
		l.dense[model] = e.DType != graph.Sparse
	}
	l.noteAt(kind+" "+name, places)
	return nil
}

// noteAt takes what was found in something that is not a change.
func (l *secretLog) noteAt(item string, places []guard.Place) {
	for _, p := range places {
		if !slices.Contains(l.opt.Allow, p.Rule) {
			l.report.add(SecretFinding{Rule: p.Rule, Field: p.Field, Item: item})
		}
	}
}

// recordPlaces returns what looks like credentials in a record that a tree links to, with the content of a node.
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
	text, err := contentText(ctx, get, n.Content)
	return append(places, guard.Text("node.content", text)...), err
}

// blockPlaces returns what looks like credentials in a block that is imported as something. Chunks of
// content are looked at one by one.
func blockPlaces(as role, data []byte) []guard.Place {
	if as == roleRaw {
		return guard.Text("text", string(data))
	}
	return guard.Record(data)
}
