package distill

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindDigest is the kind of a digest's record.
	KindDigest = "digest"

	recordVersion = 1

	// MaxMembers and MaxSize are the most entries, and tokens, of a leaf with more than one entry: what
	// a summary can be chosen from well, and little to read again where one of them changes.
	MaxMembers = 32
	MaxSize    = 6000

	maxSentences = 64 // of a digest
)

// ErrInvalid marks a record that Encode cannot have written.
var ErrInvalid = errors.New("invalid digest")

// Kinds of digests.
const (
	Root    = "root"
	Scope   = "scope"
	Cluster = "cluster"
)

// Sentence is a sentence of a digest and where it is from.
type Sentence struct {
	Fact    graph.ID   `json:"fact"`
	Created graph.Time `json:"-"` // of the fact
	Place   int        `json:"-"` // of the sentence in the fact, from 0
	Text    string     `json:"text" shape:"null"`
}

func bySentence(a, b Sentence) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), a.Fact.Compare(b.Fact), cmp.Compare(a.Place, b.Place))
}

// Totals are sums over what is below.
type Totals struct {
	Size   int           // tokens by which leaves are split
	Facts  int           // that are at home there
	Tokens int           // of these
	Until  graph.OptTime // the earliest end of validity
	Scopes int           // entries that are scopes
}

func (t *Totals) add(o Totals) {
	t.Size += o.Size
	t.Facts += o.Facts
	t.Tokens += o.Tokens
	t.Scopes += o.Scopes
	if o.Until.Given && (!t.Until.Given || o.Until.Time < t.Until.Time) {
		t.Until = o.Until
	}
}

// Entry is a fact, or a scope within a scope.
type Entry struct {
	Key Key
	Totals
	Source Source
	Link   ipld.CID // of the scope's digest; undefined for a fact
}

// Kid is a cluster below a digest.
type Kid struct {
	Label string
	Link  ipld.CID
	Totals
	Members int
	Source  Source
	Sem     Sem
}

// Digest is one digest.
type Digest struct {
	Scope   graph.ID // zero for the root
	Name    string   // of a scope that is no node
	Label   string
	At      string // the digits that all entries share: Label, or more
	Sem     Sem
	Source  Source
	Kids    []Kid   // by label; none for a leaf
	Entries []Entry // by key; none above a leaf
	Members int
	Totals
	Text    []Sentence
	Refused int
}

// Kind returns Root, Scope or Cluster.
func (d *Digest) Kind() string { return kindOf(d.Scope, d.Label) }

func kindOf(scope graph.ID, label string) string {
	switch {
	case label != "":
		return Cluster
	case scope.IsZero():
		return Root
	}
	return Scope
}

// Level returns the altitude: 2 for the root, 1 for others.
func (d *Digest) Level() int {
	if d.Kind() == Root {
		return 2
	}
	return 1
}

// ID returns the name of the digest, by which Find finds it.
func (d *Digest) ID() string { return DigestID(d.Scope, d.Label) }

// DigestID returns the name of the digest of a scope, or of a cluster of it: root, a UUID, or one of
// them, a slash and the label.
func DigestID(scope graph.ID, label string) string {
	id := Root
	if !scope.IsZero() {
		id = scope.String()
	}
	if label != "" {
		id += "/" + label
	}
	return id
}

// ParseID reads what DigestID returns.
func ParseID(s string) (scope graph.ID, label string, ok bool) {
	name, label, cluster := strings.Cut(s, "/")
	if cluster && (label == "" || len(label) > keyDigits || strings.Trim(label, allDigits) != "") {
		return scope, "", false
	}
	if name == Root {
		return scope, label, true
	}
	scope, err := graph.ParseID(name)
	return scope, label, err == nil && !scope.IsZero()
}

// fields names the fields of the record. What t reads of a wrong kind is noted there.
func (d *Digest) fields(r *ipld.Record, t *tuples) {
	r.Begin(KindDigest, recordVersion, nil)
	r.String("at", &d.At)
	sem := binary.BigEndian.AppendUint64(nil, uint64(d.Sem))
	if r.Fixed("sem", sem); r.Reading() {
		d.Sem = Sem(binary.BigEndian.Uint64(sem))
	}
	r.Field("kids", d.appendKids, t.each(len(allDigits), 10, func(v []ipld.Value) {
		k := Kid{
			Label: t.text(v[0]), Link: t.link(v[1]), Source: t.source(v[2]), Sem: t.sem(v[3]),
			Members: t.count(v[4]), Totals: t.totals(v[5:8]),
		}
		k.Until, k.Scopes = t.until(v[8]), t.count(v[9])
		d.Kids = append(d.Kids, k)
	}))
	r.OptString("name", &d.Name)
	count(r, "size", &d.Size)
	r.Field("text", d.appendText, t.each(maxSentences, 4, func(v []ipld.Value) {
		d.Text = append(d.Text, Sentence{
			Fact: t.id(v[0]), Created: graph.Time(v[1].Int()), Place: t.count(v[2]), Text: t.text(v[3]),
		})
	}))
	count(r, "facts", &d.Facts)
	r.String("label", &d.Label)
	r.Fixed("scope", d.Scope[:])
	if r.Has("until", d.Until.Given) {
		r.Int("until", (*int64)(&d.Until.Time))
		if r.Reading() {
			d.Until.Given = true
		}
	}
	count(r, "scopes", &d.Scopes)
	r.Fixed("source", d.Source[:])
	count(r, "tokens", &d.Tokens)
	r.Field("entries", d.appendEntries, t.each(MaxMembers, 7, func(v []ipld.Value) {
		e := Entry{Key: Key(t.bytes(v[0], len(Key{}))), Totals: t.totals(v[1:4]), Source: t.source(v[4])}
		e.Until = t.until(v[5])
		if v[6].Kind() != ipld.Null {
			e.Link, e.Scopes = t.link(v[6]), 1
		}
		d.Entries = append(d.Entries, e)
	}))
	count(r, "members", &d.Members)
	if r.Has("refused", d.Refused > 0) {
		count(r, "refused", &d.Refused)
	}
}

// count is a number of 0 to graph.MaxCount.
func count(r *ipld.Record, key string, n *int) { ipld.Number(r, key, n, 0, graph.MaxCount) }

// Encode returns the block of a digest.
func (d *Digest) Encode() []byte {
	return ipld.WriteRecord(512+128*(len(d.Kids)+len(d.Entries)), func(r *ipld.Record) { d.fields(r, new(tuples)) })
}

func (d *Digest) appendKids(b []byte) []byte {
	b = ipld.AppendList(b, len(d.Kids))
	for _, k := range d.Kids {
		b = ipld.AppendList(b, 10)
		b = ipld.AppendLink(ipld.AppendString(b, k.Label), k.Link)
		b = ipld.AppendBytes(b, k.Source[:])
		b = ipld.AppendBytes(b, binary.BigEndian.AppendUint64(nil, uint64(k.Sem)))
		b = appendTotals(ipld.AppendInt(b, int64(k.Members)), k.Totals)
		b = ipld.AppendInt(appendUntil(b, k.Until), int64(k.Scopes))
	}
	return b
}

func (d *Digest) appendText(b []byte) []byte {
	b = ipld.AppendList(b, len(d.Text))
	for _, s := range d.Text {
		b = ipld.AppendBytes(ipld.AppendList(b, 4), s.Fact[:])
		b = ipld.AppendInt(ipld.AppendInt(b, int64(s.Created)), int64(s.Place))
		b = ipld.AppendString(b, s.Text)
	}
	return b
}

func (d *Digest) appendEntries(b []byte) []byte {
	b = ipld.AppendList(b, len(d.Entries))
	for _, e := range d.Entries {
		b = appendTotals(ipld.AppendBytes(ipld.AppendList(b, 7), e.Key[:]), e.Totals)
		b = appendUntil(ipld.AppendBytes(b, e.Source[:]), e.Until)
		if e.Link.Defined() {
			b = ipld.AppendLink(b, e.Link)
		} else {
			b = ipld.AppendNull(b)
		}
	}
	return b
}

func appendTotals(b []byte, t Totals) []byte {
	b = ipld.AppendInt(b, int64(t.Size))
	return ipld.AppendInt(ipld.AppendInt(b, int64(t.Facts)), int64(t.Tokens))
}

func appendUntil(b []byte, t graph.OptTime) []byte {
	if t.Given {
		return ipld.AppendInt(b, int64(t.Time))
	}
	return ipld.AppendNull(b)
}

// DecodeDigest reads the block of a digest. Its error wraps ErrInvalid.
func DecodeDigest(block []byte) (*Digest, error) {
	d, t := new(Digest), new(tuples)
	_, err := ipld.ReadRecord(block, d, func(r *ipld.Record) { d.fields(r, t) }, nil)
	if err == nil && (t.bad || !slices.Equal(d.Encode(), block)) {
		err = errors.New("not in the form of a digest")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return d, nil
}

// tuples reads values that must be of a kind.
type tuples struct{ bad bool }

func (r *tuples) is(v ipld.Value, k ipld.Kind) bool {
	ok := v.Kind() == k
	r.bad = r.bad || !ok
	return ok
}

func (r *tuples) list(v ipld.Value, most int) []ipld.Value {
	if !r.is(v, ipld.List) || len(v.List()) > most {
		r.bad = true
		return nil
	}
	return v.List()
}

// each returns a function that reads a list of at most most lists of n values.
func (r *tuples) each(most, n int, read func([]ipld.Value)) func(*ipld.Decoder) error {
	return func(d *ipld.Decoder) error {
		v, err := d.Value()
		if err != nil {
			return err
		}
		for _, item := range r.list(v, most) {
			if t := r.tuple(item, n); t != nil {
				read(t)
			}
		}
		return nil
	}
}

func (r *tuples) tuple(v ipld.Value, n int) []ipld.Value {
	t := r.list(v, n)
	if len(t) != n {
		r.bad = true
		return nil
	}
	return t
}

func (r *tuples) text(v ipld.Value) string {
	if !r.is(v, ipld.String) {
		return ""
	}
	return v.Text()
}

func (r *tuples) count(v ipld.Value) int {
	if !r.is(v, ipld.Int) || v.Int() < 0 || v.Int() > graph.MaxCount {
		r.bad = true
		return 0
	}
	return int(v.Int())
}

func (r *tuples) bytes(v ipld.Value, n int) []byte {
	if !r.is(v, ipld.Bytes) || len(v.Data()) != n {
		r.bad = true
		return make([]byte, n)
	}
	return v.Data()
}

func (r *tuples) id(v ipld.Value) graph.ID   { return graph.ID(r.bytes(v, graph.IDLen)) }
func (r *tuples) source(v ipld.Value) Source { return Source(r.bytes(v, len(Source{}))) }
func (r *tuples) sem(v ipld.Value) Sem       { return Sem(binary.BigEndian.Uint64(r.bytes(v, 8))) }
func (r *tuples) totals(t []ipld.Value) Totals {
	return Totals{Size: r.count(t[0]), Facts: r.count(t[1]), Tokens: r.count(t[2])}
}

func (r *tuples) link(v ipld.Value) ipld.CID {
	if !r.is(v, ipld.Link) || v.Link().Codec() != ipld.DagCBOR {
		r.bad = true
		return ipld.CID{}
	}
	return v.Link()
}

func (r *tuples) until(v ipld.Value) graph.OptTime {
	if v.Kind() == ipld.Null || !r.is(v, ipld.Int) {
		return graph.OptTime{}
	}
	return graph.At(graph.Time(v.Int()))
}
