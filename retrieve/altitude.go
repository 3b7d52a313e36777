package retrieve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
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
	maxGrouped  = 64 // candidates that are looked at
	leastGroup  = 3  // of them that a digest must be above
	autoGroup   = 4  // the same with AltitudeAuto
	maxDigests  = 3  // of scopes and clusters in an answer
	maxQuoted   = 20 // candidates whose sentences a digest in an answer has, the root's aside
	digestShare = 2  // part of the budget that all digests may take
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
	// RootDigest returns the digest of the whole, nil for a graph without facts.
	RootDigest(ctx context.Context) (*Digest, error)
}

// Digest is what is said of a scope, a cluster or the whole.
type Digest struct {
	Name      string // clause 29.4
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
	Covers   []graph.ID // nodes that would have been items and that it says something of, ascending
	Found    int        // of the nodes looked at, how many are below it
	Score    int64      // of the best of them, 0 for none
	Band     Band       // of that one
	Tokens   int        // of Rendered
	Rendered string     // lines, each with its line end
}

// asksBroadly reports whether a text asks for much.
func asksBroadly(s string) bool {
	s = text.FirstScalars(s, maxBroad)
	words := strings.FieldsFunc(lowerASCII(s), func(c rune) bool {
		return c < 0x80 && !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	line := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(broad, func(p string) bool { return strings.Contains(line, p) })
}

// maxBroad is how much of a text says how broadly it asks, in scalars.
const maxBroad = 4096

// group is a digest and the candidates that are below it.
type group struct {
	digest  *Digest
	members []*candidate
}

// digests puts the digests into the answer that the altitude asks for, and returns the candidates that are
// packed as items: those that no digest has said something of.
func (p *packer) digests(ctx context.Context, found []*candidate) ([]*candidate, error) {
	g, ok := p.g.(Digested)
	at := p.req.Altitude
	if at == AltitudeEntity || !ok || at == AltitudeAuto && !asksBroadly(p.req.Text) {
		return found, nil
	}
	groups, err := p.groups(ctx, g, found, at)
	if err != nil {
		return nil, err
	}
	room := *p.req.Budget / digestShare
	if at == AltitudeRoot || at == AltitudeAuto && len(groups) == 0 && len(p.found) == 0 {
		root, err := g.RootDigest(ctx)
		if err != nil {
			return nil, err
		}
		if root != nil {
			if _, err := p.digest(group{digest: root}, &room); err != nil {
				return nil, err
			}
		}
	}
	covered := map[graph.ID]bool{}
	for n := 0; n < maxDigests && len(groups) > 0; groups = groups[1:] {
		one := groups[0]
		left := slices.DeleteFunc(slices.Clone(one.members), func(c *candidate) bool { return covered[c.id] })
		if len(left) == 0 {
			continue
		}
		took, err := p.digest(one, &room)
		if err != nil {
			return nil, err
		}
		if took == nil {
			continue
		}
		n++
		for _, id := range took.Covers {
			covered[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(c *candidate) bool { return covered[c.id] }), nil
}

// groups returns the digests above several of the best candidates, in the order of their best ones. Where all
// candidates that are shown fit without, there are none but with AltitudeAuto, for a text that asks broadly. Each
// candidate is in the nearest digest that is above enough.
func (p *packer) groups(
	ctx context.Context, g Digested, shown []*candidate, at Altitude,
) ([]group, error) {
	if len(shown) == 0 {
		return nil, nil
	}
	least := autoGroup
	if at != AltitudeAuto {
		least = leastGroup
		if fits, err := p.allFit(ctx, shown); err != nil || fits {
			return nil, err
		}
	}
	looked := p.found[:min(maxGrouped, len(p.found))]
	above := make([][]*Digest, len(looked))
	counts := map[string]int{}
	for i, c := range looked {
		var err error
		if above[i], err = g.Digests(ctx, c.id); err != nil {
			return nil, err
		}
		for _, d := range above[i] {
			counts[d.Name]++
		}
	}
	seen := map[graph.ID]bool{}
	for _, c := range shown {
		seen[c.id] = true
	}
	var out []group
	for i, c := range looked {
		at := slices.IndexFunc(above[i], func(d *Digest) bool { return !d.Root && counts[d.Name] >= least })
		if at < 0 {
			continue
		}
		d := above[i][at]
		j := slices.IndexFunc(out, func(g group) bool { return g.digest.Name == d.Name })
		if j < 0 {
			if !seen[c.id] { // the best of it is not sure enough to be shown
				continue
			}
			j, out = len(out), append(out, group{digest: d})
		}
		out[j].members = append(out[j].members, c)
	}
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

// digest adds one to the answer where it fits, and returns it then.
func (p *packer) digest(g group, room *int) (*DigestItem, error) {
	d := p.quoted(g.digest)
	if len(d.Sentences) == 0 && d.Written == "" {
		return nil, nil
	}
	it := DigestItem{Name: d.Name, Source: d.Source, Facts: d.Facts, Found: len(g.members)}
	it.Rendered = RenderDigest(d)
	var err error
	if it.Tokens, err = p.tokens(it.Rendered); err != nil {
		return nil, err
	}
	a := p.answer
	if a.TokensBudget > 0 && it.Tokens > *room {
		return nil, nil
	}
	*room -= it.Tokens
	for i, c := range g.members {
		if i == 0 {
			it.Score, it.Band = c.score, c.band
		}
		if slices.ContainsFunc(d.Sentences, func(s DigestSentence) bool { return s.Fact == c.id }) {
			it.Covers = append(it.Covers, c.id)
		}
	}
	slices.SortFunc(it.Covers, graph.ID.Compare)
	a.TokensUsed += it.Tokens
	a.Digests = append(a.Digests, it)
	return &a.Digests[len(a.Digests)-1], nil
}

// quoted returns a digest with the sentences alone that are from the best candidates; that of the whole as it is.
func (p *packer) quoted(d *Digest) *Digest {
	if d.Root {
		return d
	}
	best := p.found[:min(maxQuoted, len(p.found))]
	out := *d
	out.Sentences = slices.DeleteFunc(slices.Clone(d.Sentences), func(s DigestSentence) bool {
		return !slices.ContainsFunc(best, func(c *candidate) bool { return c.id == s.Fact })
	})
	return &out
}

// RenderDigest returns the lines of a digest: its name and how many facts are below, and for each fact that it
// has sentences from the beginning of the id and these; or what wrote its text, and the lines of that.
func RenderDigest(d *Digest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digest: %s (%d facts)", d.Name, d.Facts)
	if d.Written != "" {
		b.WriteString(" by " + text.EscapeLine(d.Model))
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

func (r *Receipt) checkDigests() (tokens int, err error) {
	if len(r.Digests) > maxDigests+1 {
		return 0, graph.Fieldf(fieldDigests, "%d digests, limit %d", len(r.Digests), maxDigests+1)
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
