package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// page is one bounded part of a document.
type page struct {
	head      []member
	lists     []string
	pieces    []piece
	end       int  // the position after the last piece
	more      bool // whether there is more behind it
	shortened bool // whether texts or lists in it were cut
	cursor    string
}

// tail is how many tokens what says how to go on takes at most.
const tail = 120

// cut returns what fits in so many tokens: at least one piece, if need be shortened.
func (d *document) cut(tokens int) *page {
	p := &page{lists: d.lists, more: d.more}
	if d.chunked {
		p.head, p.end, p.more = d.head, d.next, d.next > 0
		return p
	}
	left := tokens - tail
	head, cut := shrink(object(d.head), left*3/4)
	p.head, p.shortened = head.Members, cut
	left -= cost(head)
	for i, next := range d.pieces {
		tokens := cost(next.value) + 2
		if tokens > left && i > 0 {
			p.more = true
			break
		}
		if tokens > left {
			next.value, cut = shrink(next.value, left)
			p.shortened = p.shortened || cut
		}
		left -= tokens
		p.pieces = append(p.pieces, next)
		p.end = next.at
	}
	return p
}

// structured returns the page as the structured content of an answer.
func (p *page) structured() json.RawMessage {
	list := p.members()
	if p.cursor != "" {
		list = append(list, member{Name: "cursor", Value: operation.TextValue(p.cursor)})
	}
	return written(object(list))
}

// members returns the contents of a page, without its cursor.
func (p *page) members() []member {
	list := slices.Clone(p.head)
	for _, name := range p.lists {
		entries := value{Kind: '['}
		for _, e := range p.pieces {
			if e.list == name {
				entries.Items = append(entries.Items, e.value)
			}
		}
		list = append(list, member{Name: name, Value: entries})
	}
	if p.shortened {
		list = append(list, member{Name: "shortened", Value: truth})
	}
	return list
}

// A cursor is "POSITION.CALL.COMMIT": where the next page begins, a hash of the other arguments, and
// the commit that all pages are of. A list without a commit, as that of operations, may grow and
// shrink between pages: there a hash of the last entry of the page takes the commit's place.

const (
	anchorMark = "i" // no CID begins with it
	anchorLen  = 16
)

func anchorOf(v value) string {
	sum := sha256.Sum256(written(v))
	return anchorMark + hex.EncodeToString(sum[:])[:anchorLen]
}

// anchor names the entry that a page ends with, "" for none.
func (d *document) anchor(end int) string {
	for _, p := range d.pieces {
		if p.at == end {
			return anchorOf(p.value)
		}
	}
	return ""
}

// behind returns the position after the entry that an anchor names: the one nearest to where it was,
// and that position itself if there is none.
func (d *document) behind(anchor string, position int) int {
	at, least := position, -1
	for _, p := range d.pieces {
		if far := max(p.at-position, position-p.at); anchor != "" && (least < 0 || far < least) &&
			anchorOf(p.value) == anchor {
			at, least = p.at, far
		}
	}
	return at
}

// nextCursor returns the cursor that goes on behind a position.
func nextCursor(position int, tool string, args arguments, commit string) string {
	return fmt.Sprintf("%d.%s.%s", position, callHash(tool, args), commit)
}

const (
	callHashLen = 8
	maxCursor   = 300
	maxPosition = 1 << 40
)

// callHash tells calls apart that differ in more than page and size.
func callHash(tool string, args arguments) string {
	h := sha256.New()
	h.Write([]byte(tool))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name != "cursor" && name != "max_tokens" {
			fmt.Fprintf(h, "\x00%s\x00%s", name, args[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:callHashLen]
}

// readCursor returns the position and the commit that the cursor of a call names, 0 and "" if it
// has none.
func readCursor(tool string, args arguments) (position int, commit string, err error) {
	s := args.text("cursor")
	if s == "" {
		return 0, "", nil
	}
	bad := func(why string) (int, string, error) {
		return 0, "", invalid("argument \"cursor\": "+why,
			"take it from an answer as it is, and repeat the other arguments of that call")
	}
	parts := strings.SplitN(s, ".", 3)
	if len(parts) != 3 || len(s) > maxCursor {
		return bad("this is no cursor")
	}
	n, numErr := strconv.ParseInt(parts[0], 10, 64)
	if numErr != nil || n < 1 || n > maxPosition || strconv.FormatInt(n, 10) != parts[0] {
		return bad("this is no cursor")
	}
	if parts[1] != callHash(tool, args) {
		return bad("it belongs to a call with other arguments")
	}
	for _, r := range parts[2] {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' {
			return bad("this is no cursor")
		}
	}
	return int(n), parts[2], nil
}

// cost estimates the tokens of a value.
func cost(v value) int { return estimate(string(written(v))) }

// shrink shortens the texts and lists of a value until it fits, and reports whether it did.
// What is missing is said at the end of each text; the tool show has it whole.
func shrink(v value, tokens int) (value, bool) {
	if cost(v) <= tokens {
		return v, false
	}
	for most := 4096; ; most /= 2 {
		if small := shorten(v, most); most <= 1 || cost(small) <= tokens {
			return small, true
		}
	}
}

// shorten cuts texts to so many scalars and lists and objects to so many entries.
func shorten(v value, most int) value {
	switch v.Kind {
	case '"':
		v.Text = clipText(v.Text, most)
	case '[':
		v.Items = slices.Clone(v.Items[:min(len(v.Items), most)])
		for i := range v.Items {
			v.Items[i] = shorten(v.Items[i], most)
		}
	case '{':
		v.Members = slices.Clone(v.Members[:min(len(v.Members), max(most, 4))])
		for i := range v.Members {
			v.Members[i].Value = shorten(v.Members[i].Value, most)
		}
	}
	return v
}

// clipText cuts a text to so many scalars and says how many are missing, as rendering does.
func clipText(s string, most int) string {
	n := utf8.RuneCountInString(s)
	if n <= most {
		return s
	}
	cut := 0
	for i := range s {
		if most == 0 {
			cut = i
			break
		}
		most--
	}
	missing := utf8.RuneCountInString(s[cut:])
	return fmt.Sprintf("%s <...+%d chars>", s[:cut], missing)
}
