package distill

import (
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindWritten is the kind of the record of a text that a model wrote.
	KindWritten = "written"
	// MaxWritten is the longest such text in bytes, short enough for a reader of many digests.
	MaxWritten = 4096
)

// WrittenTokens is the most tokens of a model's text for a digest: twice the size of a digest without one.
func WrittenTokens(scope graph.ID, label string) int {
	if scope.IsZero() && label == "" {
		return 2 * RootTokens
	}
	return 2 * ClusterTokens
}

// Written is the text of a digest that a model wrote. Unlike a digest it is stored in commits, under the source of the
// digest. Its block is canonical DAG-CBOR, a map of these fields in this order:
//
//	v       1
//	kind    "written"
//	text    string  1 to MaxWritten bytes; lines end with LF, no other control characters
//	graph   bytes   32: the digest of the CID of the described graph, from which purge finds the inputs of the
//	                text; not a link, so that it keeps nothing
//	label   string  of a cluster; absent for a scope's own digest
//	model   string  that wrote it, 1 to 255 bytes
//	rules   list    of the recipe
//	scope   bytes   16: zeros for the root
//	source  bytes   32: of the digest
type Written struct {
	Text   string       `json:"text" shape:"null"`
	Graph  ipld.CID     `json:"-"`
	Label  string       `json:"-"`
	Model  string       `json:"model"`
	Recipe Recipe       `json:"-"`
	Scope  graph.ID     `json:"-"`
	Source Source       `json:"-"`
	Extra  []ipld.Entry `json:"-"` // unknown fields in canonical order
}

// graphPrefix begins the CID of each graph.
var graphPrefix = ipld.Sum(ipld.DagCBOR, nil).Bytes()[:ipld.CIDLen-ipld.DigestLen]

var writtenFields = ipld.FieldNames(new(Written).fields)

func (w *Written) fields(r *ipld.Record) {
	r.Begin(KindWritten, recordVersion, &w.Extra)
	r.String("text", &w.Text)
	digest := w.Graph.Digest()
	r.Fixed("graph", digest[:])
	if r.Reading() {
		w.Graph, _ = ipld.CIDFromBytes(append(slices.Clone(graphPrefix), digest[:]...)) // Validate checks it
	}
	r.OptString("label", &w.Label)
	r.String("model", &w.Model)
	r.Field("rules", w.Recipe.Append, func(d *ipld.Decoder) (err error) {
		w.Recipe, err = DecodeRules(d)
		return err
	})
	r.Fixed("scope", w.Scope[:])
	r.Fixed("source", w.Source[:])
}

// CheckWritten returns a *graph.FieldError unless a text and what wrote it are within their bounds.
func CheckWritten(text, model string) error {
	if err := graph.CheckText("text", text, 1, MaxWritten); err != nil {
		return err
	}
	for line := range strings.SplitSeq(text, "\n") {
		if err := graph.CheckLine("text", line, 0, MaxWritten); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" {
		return graph.Fieldf("text", "must not be empty")
	}
	return graph.CheckLine("model", model, 1, graph.MaxActor)
}

// Validate returns a *graph.FieldError unless w keeps every rule and limit. Only a valid one may be encoded.
func (w *Written) Validate() error {
	if err := CheckWritten(w.Text, w.Model); err != nil {
		return err
	}
	if err := graph.CheckLink("graph", w.Graph, ipld.DagCBOR); err != nil {
		return err
	}
	if len(w.Recipe.Rules) == 0 || len(w.Recipe.Rules) > MaxRules {
		return graph.Fieldf("rules", "%d rules, want 1 to %d", len(w.Recipe.Rules), MaxRules)
	}
	if len(w.Label) > keyDigits || strings.Trim(w.Label, allDigits) != "" {
		return graph.Fieldf("label", "not digits of a cluster")
	}
	return graph.CheckExtra(w.Extra, writtenFields)
}

// Encode returns the block of a valid text.
func (w *Written) Encode() []byte { return ipld.WriteRecord(256+len(w.Text), w.fields) }

// Append writes the rules as a list.
func (r Recipe) Append(b []byte) []byte {
	b = ipld.AppendList(b, len(r.Rules))
	for _, rule := range r.Rules {
		b = ipld.AppendString(b, rule.String())
	}
	return b
}

// DecodeRules reads the list of rules that a record has.
func DecodeRules(d *ipld.Decoder) (Recipe, error) {
	n, err := d.List()
	if err == nil && (n == 0 || n > MaxRules) {
		err = d.Errorf("%d rules, want 1 to %d", n, MaxRules)
	}
	var rules []string
	for i := 0; i < n && err == nil; i++ {
		var s string
		s, err = d.String()
		rules = append(rules, s)
	}
	if err != nil {
		return Recipe{}, err
	}
	return ParseRules(rules)
}

// DecodeWritten reads the block of a text that a model wrote. Its error wraps ipld.ErrInvalid for all that
// Encode cannot have written.
func DecodeWritten(block []byte) (*Written, error) {
	w := new(Written)
	return ipld.ReadRecord(block, w, w.fields, w.Validate)
}

// overlapShare is the divisor of the number of terms that a text must share with its source. A model often uses other
// words, but an apology shares almost none.
const overlapShare = 3

// Overlap reports whether a text describes another one, by their common terms.
func Overlap(said, of string) bool {
	a := text.English
	known, own := map[string]bool{}, map[string]bool{}
	for _, term := range a.Terms(of) {
		known[term] = true
	}
	n := 0
	for _, term := range a.Terms(said) {
		if !own[term] && known[term] {
			n++
		}
		own[term] = true
	}
	return n > 0 && n*overlapShare >= len(own)
}

// Holds reports whether a node is among the inputs of a digest of a graph. scope and label identify the digest.
func Holds(ctx context.Context, r Reader, id, scope graph.ID, label string) (bool, error) {
	v := newView(ctx, r)
	f, _, homes, err := v.place(ctx, id)
	if err != nil || f == nil || f.Hidden {
		return false, err
	}
	sem, err := SemOf(f.Text)
	if err != nil {
		return false, err
	}
	type way struct {
		key Key
		to  []parent
	}
	seen := map[graph.ID]bool{}
	for todo := []way{{makeKey(sem, id), homes}}; len(todo) > 0; {
		w := todo[0]
		todo = todo[1:]
		for _, p := range w.to {
			if p.id == scope && w.key.has(label) {
				return true, nil
			}
			if p.id.IsZero() || seen[p.id] {
				continue
			}
			seen[p.id] = true
			var up way
			if up.key, up.to, err = v.within(p); err != nil {
				return false, err
			}
			todo = append(todo, up)
		}
	}
	return false, nil
}
