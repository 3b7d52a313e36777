package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/ipld"
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
		if p.Level != guard.Refuses {
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
	l := secretLog{opt: opt}
	read := 0
	for _, part := range []struct {
		kind     string
		from, to *prolly.Map
		places   func(context.Context, store.Getter, ipld.CID) ([]guard.Place, error)
	}{
		{"node", from.nodes, to.nodes, nodePlaces}, {"edge", from.edges, to.edges, edgePlaces},
		{"mark", from.marks, to.marks, markPlaces},
		{"digest", from.digests, to.digests, textPlaces},
	} {
		for d, err := range prolly.Diff(ctx, part.from, part.to) {
			if err != nil {
				return l.report, fmt.Errorf("compare %ss: %w", part.kind, err)
			}
			if d.New == nil {
				continue
			}
			if read++; read > maxIncoming {
				l.report.Unread++
				continue
			}
			c, err := linkItem(d.New)
			if err != nil {
				return l.report, err
			}
			places, err := part.places(ctx, t.stage, c)
			if errors.Is(err, store.ErrRedacted) {
				continue
			}
			if err != nil {
				return l.report, fmt.Errorf("read %s: %w", part.kind, err)
			}
			name := fmt.Sprintf("%x", d.Key) // the source of a digest
			if part.to != to.digests {
				name = graph.ID(d.Key[len(d.Key)-graph.IDLen:]).String()
			}
			l.noteAt(part.kind+" "+name, places)
		}
	}
	return l.report, nil
}

// noteAt takes what was found in something that is not a change.
func (l *secretLog) noteAt(item string, places []guard.Place) {
	for _, p := range places {
		if !slices.Contains(l.opt.Allow, p.Rule) {
			l.report.add(SecretFinding{Rule: p.Rule, Field: p.Field, Item: item})
		}
	}
}

func nodePlaces(ctx context.Context, get store.Getter, c ipld.CID) ([]guard.Place, error) {
	n, err := commit.ReadNode(ctx, get, c)
	if err != nil {
		return nil, err
	}
	places := guard.Node(n)
	if n.Content == nil || len(n.Content.Chunks) == 0 {
		return places, nil
	}
	text, err := contentText(ctx, get, n.Content)
	return append(places, guard.Text("node.content", text)...), err
}

func edgePlaces(ctx context.Context, get store.Getter, c ipld.CID) ([]guard.Place, error) {
	e, err := commit.ReadEdge(ctx, get, c)
	if err != nil {
		return nil, err
	}
	return guard.Edge(e), nil
}

func markPlaces(ctx context.Context, get store.Getter, c ipld.CID) ([]guard.Place, error) {
	m, err := commit.ReadMark(ctx, get, c)
	if err != nil {
		return nil, err
	}
	return guard.Text("mark.reason", m.Reason), nil
}

func textPlaces(ctx context.Context, get store.Getter, c ipld.CID) ([]guard.Place, error) {
	w, err := readText(ctx, get, ipld.AppendLink(nil, c))
	if err != nil {
		return nil, err
	}
	return textPlacesOf(w), nil
}

func textPlacesOf(w *distill.Written) []guard.Place {
	return append(guard.Text("digest.text", w.Text), guard.Text("digest.model", w.Model)...)
}

// blockPlaces returns what looks like credentials in a block that is imported as something. Chunks of
// content are looked at one by one.
func blockPlaces(as role, data []byte) []guard.Place {
	switch as {
	case roleNode:
		if n, err := graph.DecodeNode(data); err == nil {
			return guard.Node(n)
		}
	case roleEdge:
		if e, err := graph.DecodeEdge(data); err == nil {
			return guard.Edge(e)
		}
	case roleMark:
		if m, err := graph.DecodeMark(data); err == nil {
			return guard.Text("mark.reason", m.Reason)
		}
	case roleCommit:
		if c, err := commit.DecodeCommit(data); err == nil {
			return guard.Text("commit.message", c.Message.Text) // or a raw block of its own
		}
	case roleWritten:
		if w, err := distill.DecodeWritten(data); err == nil {
			return textPlacesOf(w)
		}
	case roleRaw:
		return guard.Text("text", string(data))
	}
	return nil
}
