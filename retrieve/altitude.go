package retrieve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

// Altitude says from how far up an answer is: clause 29.6.
type Altitude string

// The altitudes there are.
const (
	AltitudeEntity Altitude = "entity" // facts alone
	AltitudeScope  Altitude = "scope"  // digests of scopes and clusters in place of facts that do not fit
	AltitudeRoot   Altitude = "root"   // the digest of the whole before these
	AltitudeAuto   Altitude = "auto"   // as scope where the text asks broadly, else as entity
)

// Altitudes are all of them.
func Altitudes() []Altitude {
	return []Altitude{AltitudeEntity, AltitudeScope, AltitudeRoot, AltitudeAuto}
}

// Constants of altitudes in ranking version 2: clause 29.6.
const (
	maxGrouped  = 64 // candidates whose digests are looked at
	maxDigests  = 3  // of scopes and clusters in an answer
	maxQuoted   = 20 // candidates that digests may tell of though they are not to be shown
	digestShare = 2  // part of the budget that all digests may take

	digestAnswers = fixed.One / 2     // of the question that the text of a digest accounts for, to be an answer
	digestMaybe   = fixed.One * 3 / 8 // the same, to be one that may be
)

// broad are the phrases by which a text asks broadly, folded to lower case, with spaces for what is
// neither a letter nor a digit of ASCII.
var broad = []string{
	" what do we know ", " what do you know ", " what is known ", " what s known ", " overview ", " summarize ",
	" summarise ", " summary of ", " sum up ", " tell me about ", " tell us about ", " everything about ",
	" all about ", " what is going on ", " what s going on ", " big picture ", " main points ", " in general ",
	" state of ", " status of ", " brief me ", " catch me up ", " background on ", " history of ",
}

// Digested is the ability of a Graph whose digests are known.
type Digested interface {
	// Digests returns the digests that a node is in, the nearest first and that of the whole last; none
	// for a node that is in none.
	Digests(ctx context.Context, id graph.ID) ([]*Digest, error)
	// Sentences returns how many sentences a fact has that digests may quote.
	Sentences(ctx context.Context, id graph.ID) (int, error)
	// RootDigest returns the digest of the whole, nil for a graph without facts.
	RootDigest(ctx context.Context) (*Digest, error)
}

// Digest is what is said of a scope, a cluster or the whole.
type Digest struct {
	Name      string // clause 29.4
	Shown     string // in place of Name: with the key of its scope, "" for none
	Root      bool
	Facts     int // below
	Source    [sha256.Size]byte
	Sentences []DigestSentence
	Written   string // by Model in place of the sentences, "" for none
	Model     string
}

// DigestSentence is a sentence of a digest.
type DigestSentence struct {
	Fact graph.ID // that it is from
	Text string   // one line
}

// DigestItem is a digest in an answer.
type DigestItem struct {
	Name     string
	Source   [sha256.Size]byte
	Facts    int        // below
	Covers   []graph.ID // nodes that it tells of and that are no items for that, ascending
	Found    int        // of the nodes looked at, how many are below it
	Score    int64      // how much of the question its text accounts for, in units of 2^-16
	Band     Band       // by that
	Tokens   int        // of Rendered
	Rendered string     // lines, each with its line end
}

// foldBroad returns the beginning of a text in the form of the phrases.
func foldBroad(s string) string {
	s = text.FirstScalars(s, maxBroad)
	words := strings.FieldsFunc(lowerASCII(s), func(c rune) bool {
		return c < 0x80 && !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	return " " + strings.Join(words, " ") + " "
}

// asksBroadly reports whether a text asks for much.
func asksBroadly(s string) bool {
	line := foldBroad(s)
	return slices.ContainsFunc(broad, func(p string) bool { return strings.Contains(line, p) })
}

// subject returns what a text asks about: it without the phrases by which it asks broadly.
func subject(s string) string {
	line := foldBroad(s)
	for _, p := range broad {
		line = strings.ReplaceAll(line, p, " ")
	}
	return line
}

// maxBroad is how much of a text says how broadly it asks, in scalars.
const maxBroad = 4096

// rankedDigest is a digest that may be in the answer.
type rankedDigest struct {
	*Digest
	known int64        // how much of the question its text accounts for
	below []*candidate // of those that are looked at
}

// band is that of a digest by how much of the question its text accounts for.
func (d *rankedDigest) band() Band {
	switch {
	case d.known >= digestAnswers:
		return BandAnswer
	case d.known >= digestMaybe:
		return BandMaybe
	}
	return BandRest
}

// digests puts the digests into the answer that the altitude asks for, and returns the candidates that are
// packed as items: those that no digest covers.
func (p *packer) digests(ctx context.Context, found []*candidate) ([]*candidate, error) {
	g, ok := p.g.(Digested)
	at := p.req.Altitude
	if at == AltitudeEntity || !ok || at == AltitudeAuto && !asksBroadly(p.req.Text) {
		return found, nil
	}
	q, err := p.newQuoter(ctx, g, found)
	if err != nil {
		return nil, err
	}
	fits := at != AltitudeAuto
	if fits {
		if fits, err = p.allFit(ctx, found); err != nil {
			return nil, err
		}
	}
	var list []*rankedDigest
	if !fits {
		if list, err = q.ranked(ctx, p.found[:min(maxGrouped, len(p.found))]); err != nil {
			return nil, err
		}
	}
	if at == AltitudeRoot || at == AltitudeAuto && (q.unsaid() || len(p.found) == 0) {
		root, err := g.RootDigest(ctx)
		if err != nil {
			return nil, err
		}
		if root != nil {
			if _, err := q.put(ctx, &rankedDigest{Digest: root, known: q.known(root)}); err != nil {
				return nil, err
			}
		}
	}
	for n := 0; n < maxDigests && len(list) > 0; list = list[1:] {
		put, err := q.put(ctx, list[0])
		if err != nil {
			return nil, err
		}
		if put {
			n++
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(c *candidate) bool { return q.covered[c.id] }), nil
}

// quoter chooses digests for one answer, and what is printed of them.
type quoter struct {
	*packer
	from     Digested
	asked    *wording // what the text asks for
	analyser *text.Analyzer
	shown    map[graph.ID]bool // candidates that are to be items where no digest covers them
	best     map[graph.ID]bool // of which digests may tell where they are not
	counts   map[graph.ID]int  // sentences of facts
	covered  map[graph.ID]bool
	room     int // tokens left for digests
}

func (p *packer) newQuoter(ctx context.Context, g Digested, found []*candidate) (*quoter, error) {
	q := &quoter{
		packer: p, from: g, shown: map[graph.ID]bool{}, best: map[graph.ID]bool{}, counts: map[graph.ID]int{},
		covered: map[graph.ID]bool{}, room: *p.req.Budget / digestShare,
	}
	for _, c := range found {
		q.shown[c.id] = true
	}
	for _, c := range p.found[:min(maxQuoted, len(p.found))] {
		q.best[c.id] = true
	}
	var err error
	if q.asked, err = p.wording(ctx, TextQuery{Text: subject(p.req.Text)}); err != nil {
		return nil, err
	}
	q.analyser, err = text.New(Language)
	return q, err
}

// unsaid reports whether the text asks broadly for nothing that the memory has a term of.
func (q *quoter) unsaid() bool {
	return !slices.ContainsFunc(q.asked.own, func(t TermWeight) bool { return t.Weight > 0 })
}

// known returns how much of the question the text of a digest accounts for.
func (q *quoter) known(d *Digest) int64 {
	said := d.Written
	if said == "" {
		parts := make([]string, len(d.Sentences))
		for i, s := range d.Sentences {
			parts[i] = s.Text
		}
		said = strings.Join(parts, " ")
	}
	has := map[string]bool{}
	for _, term := range q.analyser.Terms(said) {
		has[term] = true
	}
	row := make([]int64, 0, len(q.asked.own)+len(q.asked.kin))
	add := func(term string) {
		n := int64(0)
		if has[term] {
			n = 1
		}
		row = append(row, n)
	}
	for _, t := range q.asked.own {
		add(t.Term)
	}
	for _, t := range q.asked.kin {
		add(t.Term)
	}
	return q.asked.accounted(row, q.row.kinKnown)
}

// ranked returns the digests above candidates, the root's aside, by how much of the question their texts
// account for; of equal ones by their first candidate, and the nearest first.
func (q *quoter) ranked(ctx context.Context, looked []*candidate) ([]*rankedDigest, error) {
	var out []*rankedDigest
	at := map[string]*rankedDigest{}
	for _, c := range looked {
		above, err := q.from.Digests(ctx, c.id)
		if err != nil {
			return nil, err
		}
		for _, d := range above {
			if d.Root {
				continue
			}
			one := at[d.Name]
			if one == nil {
				one = &rankedDigest{Digest: d, known: q.known(d)}
				at[d.Name], out = one, append(out, one)
			}
			one.below = append(one.below, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *rankedDigest) int { return cmp.Compare(b.known, a.known) })
	return out, nil
}

// allFit reports whether the candidates that are shown fit into limit and budget.
func (p *packer) allFit(ctx context.Context, shown []*candidate) (bool, error) {
	if *p.req.Limit > 0 && len(shown) > *p.req.Limit {
		return false, nil
	}
	if *p.req.Budget == 0 {
		return true, nil
	}
	sum := 0
	for _, c := range shown {
		n, _, err := p.g.Node(ctx, c.id)
		if err != nil {
			return false, fmt.Errorf("read node %s: %w", c.id, err)
		}
		mark, err := p.g.Mark(ctx, graph.OnNode, c.id)
		if err != nil {
			return false, fmt.Errorf("read mark on node %s: %w", c.id, err)
		}
		s, err := p.render(ctx, n, mark, c.outdated)
		if err != nil {
			return false, err
		}
		tokens, err := p.tokens(s.text)
		if err != nil {
			return false, err
		}
		if sum += tokens; sum > *p.req.Budget {
			return false, nil
		}
	}
	return true, nil
}

// put adds a digest to the answer where something is to be printed of it, and that fits.
func (q *quoter) put(ctx context.Context, d *rankedDigest) (bool, error) {
	quoted, covers, err := q.quoted(ctx, d)
	if err != nil || len(quoted.Sentences) == 0 && quoted.Written == "" {
		return false, err
	}
	it := DigestItem{
		Name: d.Name, Source: d.Source, Facts: d.Facts, Found: len(d.below), Covers: covers, Score: d.known,
		Band: d.band(), Rendered: RenderDigest(quoted),
	}
	if it.Tokens, err = q.tokens(it.Rendered); err != nil {
		return false, err
	}
	a := q.answer
	if a.TokensBudget > 0 && it.Tokens > q.room {
		return false, nil
	}
	q.room -= it.Tokens
	for _, id := range covers {
		q.covered[id] = true
	}
	a.TokensUsed += it.Tokens
	a.Digests = append(a.Digests, it)
	return true, nil
}

// quoted returns a digest with the sentences that are to be printed, and the facts that these cover, ascending:
// those to be shown of which it has all sentences, and of an answer also the best of the others. What one
// covers no other one tells. The root's is printed as it is.
func (q *quoter) quoted(ctx context.Context, d *rankedDigest) (*Digest, []graph.ID, error) {
	if d.Root && d.Written != "" {
		return d.Digest, nil, nil
	}
	said := map[graph.ID]int{}
	for _, s := range d.Sentences {
		said[s.Fact]++
	}
	covers := map[graph.ID]bool{}
	for id, n := range said {
		if q.covered[id] {
			continue
		}
		if !q.shown[id] {
			covers[id] = !d.Root && d.band() == BandAnswer && q.best[id]
			continue
		}
		all, err := q.sentences(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		covers[id] = n == all
	}
	maps.DeleteFunc(covers, func(_ graph.ID, is bool) bool { return !is })
	out := *d.Digest
	if !d.Root {
		out.Sentences = slices.DeleteFunc(slices.Clone(d.Sentences), func(s DigestSentence) bool {
			return !covers[s.Fact]
		})
	}
	return &out, slices.SortedFunc(maps.Keys(covers), graph.ID.Compare), nil
}

// sentences returns how many sentences a fact has.
func (q *quoter) sentences(ctx context.Context, id graph.ID) (int, error) {
	n, ok := q.counts[id]
	if !ok {
		var err error
		if n, err = q.from.Sentences(ctx, id); err != nil {
			return 0, err
		}
		q.counts[id] = n
	}
	return n, nil
}

// RenderDigest returns the lines of a digest: its name and how many facts are below, and for each fact that it
// has sentences from the beginning of the id and these; or what wrote its text, and the lines of that.
func RenderDigest(d *Digest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digest: %s (%d facts)", text.EscapeField(cmp.Or(d.Shown, d.Name), "()"), d.Facts)
	if d.Written != "" {
		b.WriteString(" by " + text.EscapeField(d.Model, "()"))
		for line := range strings.SplitSeq(d.Written, "\n") {
			b.WriteString("\n  " + text.EscapeLine(line))
		}
		return b.String() + "\n"
	}
	for i, s := range d.Sentences {
		if i == 0 || d.Sentences[i-1].Fact != s.Fact {
			fmt.Fprintf(&b, "\n  [%.8s]", s.Fact)
		}
		b.WriteString(" " + text.EscapeLine(s.Text))
	}
	b.WriteString("\n")
	return b.String()
}

// ReceiptDigest is a digest of an answer.
type ReceiptDigest struct {
	Name     string
	Source   [sha256.Size]byte
	Tokens   int
	Rendered [sha256.Size]byte // sha2-256 of the rendered text
}

// maxDigestName is the longest name of a digest: a UUID, a slash and 96 digits.
const maxDigestName = 36 + 1 + 96

// maxReceiptDigests is the largest number of digests of a receipt.
const maxReceiptDigests = 4

func (r *Receipt) checkDigests() (tokens int, err error) {
	if len(r.Digests) > maxReceiptDigests {
		return 0, graph.Fieldf(fieldDigests, "%d digests, limit %d", len(r.Digests), maxReceiptDigests)
	}
	for i, d := range r.Digests {
		field := fmt.Sprintf("%s[%d]", fieldDigests, i)
		if err := graph.CheckLine(field+".name", d.Name, 1, maxDigestName); err != nil {
			return 0, err
		}
		if err := checkCount(field+".tokens", d.Tokens); err != nil {
			return 0, err
		}
		tokens += d.Tokens
	}
	return tokens, nil
}

func (r *Receipt) appendDigests(b []byte) []byte {
	b = ipld.AppendList(b, len(r.Digests))
	for _, d := range r.Digests {
		b = ipld.AppendMap(b, 4)
		b = ipld.AppendString(ipld.AppendString(b, "name"), d.Name)
		b = ipld.AppendBytes(ipld.AppendString(b, "source"), d.Source[:])
		b = ipld.AppendInt(ipld.AppendString(b, "tokens"), int64(d.Tokens))
		b = ipld.AppendBytes(ipld.AppendString(b, "rendered"), d.Rendered[:])
	}
	return b
}

func (r *Receipt) decodeDigest(d *ipld.Decoder) error {
	var one ReceiptDigest
	err := decodeMap(d, 4, 4, func(key string) (known bool, err error) {
		switch key {
		case "name":
			one.Name, err = d.String()
		case "source":
			err = decodeFixed(d, one.Source[:])
		case "tokens":
			one.Tokens, err = decodeCount(d)
		case "rendered":
			err = decodeFixed(d, one.Rendered[:])
		default:
			return false, nil
		}
		return true, err
	})
	r.Digests = append(r.Digests, one)
	return err
}

// digestTexts are the digests as text, for comparing.
func (r *Receipt) digestTexts() string {
	var parts []string
	for _, d := range r.Digests {
		parts = append(parts, fmt.Sprintf("%s %x %d %x", d.Name, d.Source, d.Tokens, d.Rendered))
	}
	return strings.Join(parts, ", ")
}
