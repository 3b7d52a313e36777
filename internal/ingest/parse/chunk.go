package parse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

const (
	// MaxTokens bounds a chunk, unless it is one block that is not divided. A chunk is a passage short enough that
	// several fit into an answer.
	MaxTokens = 400
	// grownTokens is how long a chunk that was edited may get before it becomes two, so that a paragraph more
	// is mostly a change of one chunk and of nothing around it.
	grownTokens = 500
	// wholeTokens is how long a fence or table may be before it is divided too.
	wholeTokens = 1600
	// maxAlike is how many known texts with one first line are looked for.
	maxAlike = 50
)

// Chunk is a passage of a document, the unit that retrieval finds.
type Chunk struct {
	Section     int // as in Block
	Text        string
	First, Last int // its lines, from 1
	Links       []string
}

// Known are texts that were chunks when a document was read before, by their first lines.
type Known map[string][]string

// NewKnown returns texts as Chunks wants them.
func NewKnown(texts []string) Known {
	k := make(Known, len(texts))
	for _, t := range texts {
		first, _, _ := strings.Cut(t, "\n")
		if list := k[first]; len(list) < maxAlike && !slices.Contains(list, t) {
			k[first] = append(list, t)
		}
	}
	for _, list := range k { // of several that fit the longest is taken
		slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return k
}

// Chunks returns the chunks of a document. A text that was a chunk before stays one wherever it moved, so that an edit
// does not move the bounds of other chunks.
func (d *Document) Chunks(known Known) []Chunk {
	var out []Chunk
	for from := 0; from < len(d.Blocks); {
		to := from + 1
		for to < len(d.Blocks) && d.Blocks[to].Section == d.Blocks[from].Section {
			to++
		}
		out = d.runs(out, from, to, known)
		from = to
	}
	return out
}

// runs divides the blocks of one section into chunks: known chunks first, then the blocks between them.
func (d *Document) runs(out []Chunk, from, to int, known Known) []Chunk {
	most := grownTokens
	if known == nil {
		most = MaxTokens
	}
	begin := from // of the known chunk before the gap
	gap := from
	fill := func(end int) {
		if d.joins(begin, gap, end) {
			out[len(out)-1] = d.chunk(begin, end)
		} else {
			out = d.pack(out, gap, end, most)
		}
	}
	for at := from; at < to; {
		end := d.knownEnd(at, to, known)
		if end == at {
			at++
			continue
		}
		fill(at)
		out = append(out, d.chunk(at, end))
		begin, at, gap = at, end, end
	}
	fill(to)
	return out
}

// joins reports whether a gap is better a part of the known chunk before it: it is short, and less than that
// one, which so keeps more than half of its words. Else notes that grow line by line would be chunks of a line.
func (d *Document) joins(begin, gap, end int) bool {
	before, more := d.tokensOf(begin, gap), d.tokensOf(gap, end)
	return more > 0 && more <= before && before+more <= MaxTokens
}

func (d *Document) tokensOf(from, to int) (n int) {
	for i := from; i < to; i++ {
		n += d.tokens(i)
	}
	return n
}

// knownEnd returns the block behind the known text that begins with a block, that block if none does.
func (d *Document) knownEnd(at, to int, known Known) int {
	start := d.Blocks[at].start
	first, _, _ := strings.Cut(d.text[start:d.Blocks[at].end], "\n")
	for _, text := range known[first] {
		if !strings.HasPrefix(d.text[start:], text) {
			continue
		}
		for end := at; end < to && d.Blocks[end].end <= start+len(text); end++ {
			if d.Blocks[end].end == start+len(text) {
				return end + 1
			}
		}
	}
	return at
}

func (d *Document) tokens(block int) int {
	return text.EstimateTokens(d.text[d.Blocks[block].start:d.Blocks[block].end])
}

// pack divides blocks into chunks: one of up to most tokens, else the fewest possible, of about the same size.
func (d *Document) pack(out []Chunk, from, to, most int) []Chunk {
	total := d.tokensOf(from, to)
	if total <= most && from < to {
		return append(out, d.chunk(from, to))
	}
	parts := max(1, (total+MaxTokens-1)/MaxTokens)
	target := (total + parts - 1) / parts
	for begin, have := from, 0; begin < to; {
		end := begin
		for ; end < to; end++ {
			next := d.tokens(end)
			if end > begin && (have+next > MaxTokens || have+next/2 > target) {
				break
			}
			have += next
		}
		out = append(out, d.chunk(begin, end))
		begin, have = end, 0
	}
	return out
}

func (d *Document) chunk(from, to int) Chunk {
	first, last := &d.Blocks[from], &d.Blocks[to-1]
	c := Chunk{Section: first.Section, Text: d.text[first.start:last.end], First: first.First, Last: last.Last}
	seen := map[string]bool{}
	for _, b := range d.Blocks[from:to] {
		c.First, c.Last = min(c.First, b.First), max(c.Last, b.Last) // a file may have its lines in another order
		for _, link := range b.links {
			if !seen[link] {
				seen[link] = true
				c.Links = append(c.Links, link)
			}
		}
	}
	return c
}

// divide splits blocks that are too long for a chunk, at ends of lines, sentences or words; if there are none, at any
// character.
func (d *Document) divide() {
	out := make([]Block, 0, len(d.Blocks))
	for i := range d.Blocks {
		if d.tooLong(i) {
			out = d.divided(out, &d.Blocks[i])
		} else {
			out = append(out, d.Blocks[i])
		}
	}
	d.Blocks = out
}

func (d *Document) tooLong(i int) bool {
	limit := MaxTokens
	if d.Blocks[i].whole {
		limit = wholeTokens
	}
	b := &d.Blocks[i]
	return b.end-b.start > limit && d.tokens(i) > limit // a token is a byte at least
}

// divided appends the pieces of a block, all about as long.
func (d *Document) divided(out []Block, b *Block) []Block {
	whole := d.text[b.start:b.end]
	parts := (text.EstimateTokens(whole) + MaxTokens - 1) / MaxTokens
	piece := (len(whole) + parts - 1) / parts
	line, links := b.First, b.links
	for at := 0; at < len(whole); {
		end := at + cut(whole[at:], piece)
		body := strings.TrimRight(whole[at:end], " \t\n")
		if strings.TrimSpace(body) != "" {
			lead := len(body) - len(strings.TrimLeft(body, "\n"))
			first := line + lead
			out = append(out, Block{
				Section: b.Section, First: first, Last: first + strings.Count(body[lead:], "\n"),
				start: b.start + at + lead, end: b.start + at + len(body), whole: b.whole, prose: b.prose,
				front: b.front, links: links,
			})
			links = nil // the first piece gets the block's links
		}
		line += strings.Count(whole[at:end], "\n")
		at = end
	}
	return out
}

// cut returns how much of a text is the next piece: about n bytes, up to the last end of a line in its second
// half, else of a sentence, else of a word.
func cut(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(text)
	}
	half := text[n/2 : n]
	for _, ending := range []string{"\n", ". ", "! ", "? ", "。", "; ", ", ", " "} {
		if i := strings.LastIndex(half, ending); i >= 0 {
			return n/2 + i + len(ending)
		}
	}
	return n
}
