package care

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of a text that is purged, in bytes. A shorter one stands in too much that was never meant,
// and no longer one is in a single field that is searched.
const (
	MinPurgeText = 8
	MaxPurgeText = 64 << 10
)

// PurgeText erases every block that holds a text: as it is, folded (clause 6.2), or as the same words
// with other signs between them, which is how names become keys. Of nodes each version that holds it
// goes, also from branches and stages that are at it, and with a node of which no version is left
// what Purge takes with one. Of edges and marks what is left says what they are, but not with which
// words; queries and messages go whole. Blocks that cannot be erased (commits, operations, trees,
// receipts, sessions, tags, profiles) are among the Hits. Everything else is as for Purge.
//
// It returns a *state.NotFoundError if no block holds the text. Neither errors nor the operation that
// is recorded have the text.
func PurgeText(
	ctx context.Context, r *core.Repo, text string, opt PurgeOptions,
) (*PurgeResult, error) {
	if len(text) < MinPurgeText || len(text) > MaxPurgeText || !utf8.ValidString(text) {
		return nil, state.Invalidf("purge: the text must be UTF-8 of %d to %d bytes, it has %d", MinPurgeText,
			MaxPurgeText, len(text))
	}
	ctx = store.Erasing(ctx)
	s := newSecret(text)
	if s.in(opt.Reason) || s.in(opt.Author) {
		return nil, state.Invalidf("purge: the reason or the author has the text, which would stay in the " +
			"redactions")
	}
	if opt.Guard != nil { // what holds a text may be of any type
		for _, kind := range []state.TouchKind{core.TouchNode, core.TouchEdge} {
			if err := opt.Guard(state.Touch{Kind: kind}); err != nil {
				return nil, err
			}
		}
	}
	return runPurge(ctx, r, &Erasing{Ctx: ctx, Repo: r, secret: s, opt: opt}, "")
}

// secret is a text that is searched for.
type secret struct {
	raw, folded, words string
	blocks             map[ipld.CID]bool // that hold it; nil if raw tells
}

func newSecret(raw string) *secret {
	folded, words := searched(raw)
	return &secret{raw: raw, folded: folded, words: words}
}

// searched returns the forms in which a text is searched: folded, with each run of white space as one
// blank; and its words, folded, with a blank before and after each.
func searched(s string) (folded, words string) {
	var f, w strings.Builder
	blank, gap := false, true
	text.EachFolded(s, func(_, _ int, kind text.Kind, fold string) bool {
		if kind == text.KindOther {
			gap = true
			if strings.Contains(" \t\n\r\u00a0\u3000", fold) {
				blank = f.Len() > 0
				return true
			}
		} else {
			if gap {
				w.WriteByte(' ')
				gap = false
			}
			w.WriteString(fold)
		}
		if blank {
			f.WriteByte(' ')
			blank = false
		}
		f.WriteString(fold)
		return true
	})
	if w.Len() > 0 {
		w.WriteByte(' ')
	}
	return f.String(), w.String()
}

// in reports whether a string holds the text.
func (s *secret) in(str string) bool {
	if 3*len(str)+2 < MinPurgeText { // folding makes no string more than three times as long
		return false
	}
	if strings.Contains(str, s.raw) {
		return true
	}
	folded, words := searched(str)
	return len(s.folded) >= MinPurgeText && strings.Contains(folded, s.folded) ||
		len(s.words) >= MinPurgeText+2 && strings.Contains(words, s.words)
}

// held reports whether a block holds the text.
func (s *secret) held(b store.Block) bool {
	if s.blocks != nil {
		return s.blocks[b.CID]
	}
	if bytes.Contains(b.Data, []byte(s.raw)) {
		return true
	}
	if b.CID.Codec() != ipld.DagCBOR {
		return s.in(string(b.Data))
	}
	if entries, err := prolly.Leaf(b.Data); err == nil && len(entries) > 0 {
		for _, e := range entries {
			if s.in(string(e.Key)) {
				return true
			}
		}
	}
	v, err := ipld.DecodeValue(b.Data)
	if err != nil {
		return s.in(string(b.Data)) // nothing can be told of its parts
	}
	return s.inValue(v)
}

func (s *secret) inValue(v ipld.Value) bool {
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		return s.in(v.Text())
	case ipld.List:
		for _, item := range v.List() {
			if s.inValue(item) {
				return true
			}
		}
	case ipld.Map:
		for _, e := range v.Entries() {
			if s.in(e.Key) || s.inValue(e.Value) {
				return true
			}
		}
	}
	return false
}

// inRedactions notes what was erased before and left a redaction that has the text, as its reason.
func (s *PurgeScan) inRedactions() error {
	for e, err := range s.P.Repo.Redactions(s.P.Ctx) {
		if err != nil {
			return err
		}
		if s.P.secret.held(store.NewBlock(ipld.DagCBOR, e.Record.Encode())) {
			s.hit(PurgeHit{CID: e.CID, What: commit.KindRedaction})
		}
	}
	return nil
}

// purgedWords are the words of a text that look as if they stood for one thing alone: with a letter
// and a digit, of 8 bytes or more. What else has one of them is reported.
func purgedWords(s string, fn func(word string)) {
	for _, word := range strings.Fields(s) {
		word = strings.Trim(word, "\"'`.,;:!?()[]{}<>")
		letter, digit := false, false
		for _, r := range word {
			digit = digit || r >= '0' && r <= '9'
			letter = letter || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
		}
		if letter && digit && len(word) >= MinPurgeText && len(word) <= 1024 {
			fn(word)
		}
	}
}

// purged names what a purge is about, without the text of one.
func (p *Erasing) purged() string {
	if p.secret != nil {
		return "text"
	}
	return p.id.String()
}

func (p *Erasing) missing(name string) error {
	if p.secret != nil {
		return fmt.Errorf("nothing holds the text: %w", store.ErrNotFound)
	}
	return &state.NotFoundError{What: "node", Name: name}
}

// files erases from files that are no part of the store, and reports whether any holds the text.
func (p *Erasing) files(s *PurgeScan, dry bool) (bool, error) {
	if p.opt.Files == nil {
		return false, nil
	}
	holds := s.hasNeedle
	if p.secret != nil {
		holds = p.secret.in
	}
	return p.opt.Files(p.Ctx, holds, dry)
}

// hasNeedle reports whether a text has one of the node that is not too short to mean it.
func (s *PurgeScan) hasNeedle(str string) bool {
	for _, texts := range []map[string]struct{}{s.needles, s.words} {
		for text := range texts {
			if len(text) >= MinPurgeText && strings.Contains(str, text) {
				return true
			}
		}
	}
	return false
}
