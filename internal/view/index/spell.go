package index

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/rarity"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of spelling in ranking version 1: clause 9.10.
const (
	readingWeight = fixed.One / 2
	leastLetters  = 4 // of a term that may be read as another
	fewLetters    = 4 // letters of a term that has too many real words a letter away
	manyLetters   = 8 // of a term that may be read as one two edits away
	maxReadings   = 16
	maxReadable   = 256 // distinct terms of the query, the first, that may be read as others
)

// Reading is a term of a query that no live document has, read as one that some have.
type Reading = retrieve.Reading

// Readings returns, in the order of their first places, at most 16 terms of the text that no live document has, each
// with the term that it is read as: clause 9.10.
//
// For each of these terms it walks the terms of the same first letter in all segments, at worst all
// of them, and leaves out those below a prefix that no close term can have. Of 60,000 random words
// it looked at 700, or 2,700 for a term of eight letters or more.
func (q *QueryText) Readings(ctx context.Context) ([]Reading, error) {
	var out []Reading
	looked := 0
	for i, word := range q.words {
		term := q.terms[i].Term
		if text.Cased(term) < leastLetters {
			continue
		}
		df, err := q.x.TermStats(ctx, term)
		if err != nil {
			return nil, err
		}
		if df > 0 {
			continue
		}
		if looked++; looked > maxReadings {
			break
		}
		if text.NearStopWord(word) {
			continue
		}
		as, err := q.x.closest(ctx, term)
		if err != nil {
			return nil, err
		}
		if rarity.Of(term, nil) > 0 && !text.SameWord(term, as) {
			continue // no misspelling: an English word that no document mentions
		}
		if _, has := q.at[as]; as != "" && !has {
			out = append(out, Reading{Word: word, Term: term, As: as})
		}
	}
	return out, nil
}

// closest returns the term that is closest to one that no document has: by its distance, then by
// the number of documents, then bytewise. It returns "" if none is close enough.
func (x *Index) closest(ctx context.Context, term string) (string, error) {
	most := 1
	if utf8.RuneCountInString(term) >= manyLetters {
		most = 2
	}
	w, err := x.walkTerms(ctx, term[:firstLen(term)])
	if err != nil {
		return "", err
	}
	d := newDistance(term, most)
	best, bestAt, bestDF := "", most+1, int64(0)
	for w.term != "" {
		if !utf8.ValidString(w.term) {
			return "", segment.Corrupt("term %.40q is no UTF-8", w.term)
		}
		at, dead := d.to(w.term)
		if dead > 0 {
			if err := w.after(ctx, w.term[:dead]); err != nil {
				return "", err
			}
			continue
		}
		if err := x.checkDF(w.term, w.df); err != nil {
			return "", err
		}
		if w.df > 0 && (at < bestAt || at == bestAt && at <= most && w.df > bestDF) {
			best, bestAt, bestDF = strings.Clone(w.term), at, w.df
		}
		if err := w.next(ctx); err != nil {
			return "", err
		}
	}
	return best, nil
}

func firstLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// distance measures the distance of terms from one term: the least number of code points that are inserted, deleted or
// replaced and of neighbours that are swapped, no position being edited twice. Terms with a common prefix share the
// work.
type distance struct {
	term    []rune
	most    int
	replace int     // cost of replacing a code point
	rows    [][]int // of the first i code points of the other term, to all beginnings of the term
	last    []rune  // the other term, up to the computed rows
}

func newDistance(term string, most int) *distance {
	d := &distance{term: []rune(term), most: most, replace: 1}
	if len(d.term) <= fewLetters {
		d.replace = 2
	}
	d.row(0)
	for j := range d.rows[0] {
		d.rows[0][j] = j
	}
	return d
}

func (d *distance) row(i int) []int {
	if i == len(d.rows) {
		d.rows = append(d.rows, make([]int, len(d.term)+1))
	}
	return d.rows[i]
}

// to returns the distance of another term, or the number of its bytes that no close term begins with.
func (d *distance) to(other string) (at, dead int) {
	i, same := 0, true
	for pos, c := range other {
		same = same && i < len(d.last) && d.last[i] == c
		i++
		if same {
			continue
		}
		d.last = append(d.last[:i-1], c)
		if d.fill(i) > d.most {
			d.last = d.last[:i-1]
			return 0, pos + utf8.RuneLen(c)
		}
	}
	d.last = d.last[:i]
	return d.rows[i][len(d.term)], 0
}

// fill fills row i in and returns the least number in it.
func (d *distance) fill(i int) int {
	row, above := d.row(i), d.rows[i-1]
	row[0] = i
	least := i
	for j := 1; j < len(row); j++ {
		cost := d.replace
		if d.last[i-1] == d.term[j-1] {
			cost = 0
		}
		n := min(above[j]+1, row[j-1]+1, above[j-1]+cost)
		if i > 1 && j > 1 && d.last[i-1] == d.term[j-2] && d.last[i-2] == d.term[j-1] {
			n = min(n, d.rows[i-2][j-2]+1)
		}
		row[j] = n
		least = min(least, n)
	}
	return least
}

// termWalk walks the terms of all segments that begin with a prefix, in bytewise order.
type termWalk struct {
	prefix  string
	cursors []*dictCursor // those that are not at their end
	term    string        // the current term, "" at the end
	df      int64         // its document frequency
}

func (x *Index) walkTerms(ctx context.Context, prefix string) (*termWalk, error) {
	w := &termWalk{prefix: prefix}
	for _, s := range x.segs {
		w.cursors = append(w.cursors, &dictCursor{src: &x.src, seg: s})
	}
	return w, w.move(ctx, prefix, true)
}

func (w *termWalk) next(ctx context.Context) error { return w.move(ctx, w.term, false) }

// after moves to the first term that comes after all that begin with a prefix.
func (w *termWalk) after(ctx context.Context, prefix string) error {
	// No byte of UTF-8 is the greatest one.
	key := []byte(prefix)
	key[len(key)-1]++
	return w.move(ctx, string(key), true)
}

// move moves to the first term after key, or to key itself where at says so.
func (w *termWalk) move(ctx context.Context, key string, at bool) error {
	kept := w.cursors[:0]
	for _, c := range w.cursors {
		if ok, err := c.seek(ctx, key, at); err != nil {
			return err
		} else if ok && strings.HasPrefix(string(c.term), w.prefix) {
			kept = append(kept, c)
		}
	}
	w.cursors = kept
	w.sum()
	return nil
}

// sum finds the least current term and adds up its documents.
func (w *termWalk) sum() {
	var least []byte
	w.df = 0
	for _, c := range w.cursors {
		switch {
		case least == nil || string(c.term) < string(least):
			least, w.df = c.term, int64(c.count)-int64(c.neg)
		case string(c.term) == string(least):
			w.df += int64(c.count) - int64(c.neg)
		}
	}
	w.term = string(least)
}

// nearBy is how many terms are passed one by one before a term is looked up.
const nearBy = 2 * restartEvery

// seek moves forward to the first term after key, or to key itself if at is set. It does not move if it is there
// already.
func (c *dictCursor) seek(ctx context.Context, key string, at bool) (bool, error) {
	there := func() bool {
		return len(c.term) > 0 && (string(c.term) > key || at && string(c.term) == key)
	}
	if there() {
		return true, nil
	}
	for n := 0; ; n++ {
		if c.dict == nil || n == nearBy {
			if err := c.jump(ctx, key); err != nil {
				return false, err
			}
		}
		ok, err := c.next(ctx)
		if !ok || err != nil || there() {
			return ok && err == nil, err
		}
	}
}

// jump moves forward to before the group of terms where key would be.
func (c *dictCursor) jump(ctx context.Context, key string) error {
	n, err := c.src.Find(ctx, c.seg, secTerms, []byte(key))
	if err != nil {
		return err
	}
	if n = max(n, 0); n >= c.seg.Parts(secTerms) || c.dict != nil && n < c.part-1 {
		return nil
	}
	if n != c.part-1 || c.dict == nil {
		if c.dict, err = c.src.dict(ctx, c.seg, n); err != nil {
			return err
		}
		c.part, c.grp = n+1, 0
		c.dictIter = dictIter{in: input{b: c.dict.body}}
	}
	g, ok := c.dict.search(key)
	if !ok {
		return c.src.Wrap(c.seg, secTerms, segment.Corrupt(damagedEntry, 0))
	}
	if g--; g >= c.grp {
		c.grp = g
		c.dictIter = dictIter{in: input{b: c.dict.body, pos: c.dict.start(g)}}
	}
	return nil
}
