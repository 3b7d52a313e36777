package retrieve

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/ipld"
)

// Bounds of rewrites: clause 8.1.
const (
	MaxRewrites = 8
	MaxRewrite  = 8192 // bytes
)

// Ways in which a query may have been rewritten. Nothing depends on them but a warning.
const (
	RewriteMulti = "multi" // other ways to ask the same
	RewriteHyde  = "hyde"  // a hypothetical answer
)

// LaneRewrite returns the name of the lane of a rewrite, by its number from 1.
func LaneRewrite(n int) Lane { return LaneText + Lane(":"+strconv.Itoa(n)) }

// rewrite returns the number of a rewrite's lane.
func (l Lane) rewrite() (n int, ok bool) {
	digits, ok := strings.CutPrefix(string(l), string(LaneText)+":")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 1 && n <= MaxRewrites && l == LaneRewrite(n)
}

// checkRewrites checks the parameters of this file.
func (r *Request) checkRewrites() error {
	if len(r.Rewrites) > MaxRewrites {
		return badParam("rewrites", "%d texts, limit %d", len(r.Rewrites), MaxRewrites)
	}
	for i, s := range r.Rewrites {
		if len(s) > MaxRewrite || !utf8.ValidString(s) || !hasWords(s) {
			return badParam("rewrites", "%s: want 1 to %d bytes of UTF-8 that are not only spaces",
				shortQuote(s), MaxRewrite)
		}
		if slices.Contains(r.Rewrites[:i], s) {
			return badParam("rewrites", "%s is there twice", shortQuote(s))
		}
	}
	return nil
}

// encodeRewrites returns links to the texts, so that they can be erased as the query can.
func encodeRewrites(list []string) ipld.Value {
	links := make([]ipld.Value, len(list))
	for i, s := range list {
		links[i] = ipld.LinkValue(ipld.Sum(ipld.Raw, []byte(s)))
	}
	return ipld.ListValue(links...)
}

// splitRewrites takes the links to rewrites out of the parameters of a receipt.
func splitRewrites(params ipld.Value) (rest ipld.Value, links []ipld.CID, err error) {
	entries := slices.Clone(params.Entries())
	at := slices.IndexFunc(entries, func(e ipld.Entry) bool { return e.Key == "rewrites" })
	if at < 0 {
		return params, nil, nil
	}
	list := entries[at].Value
	if n := len(list.List()); n == 0 || n > MaxRewrites {
		return rest, nil, badParam("rewrites", "%d texts, want 1 to %d", n, MaxRewrites)
	}
	for _, item := range list.List() {
		c := item.Link()
		if !c.Defined() || c.Codec() != ipld.Raw || slices.Contains(links, c) {
			return rest, nil, badParam("rewrites", "not links to different raw blocks")
		}
		links = append(links, c)
	}
	return ipld.MapValue(slices.Delete(entries, at, at+1)...), links, nil
}

// Rewrites returns the CIDs of the raw blocks of the query's rewrites, in order.
func (r *Receipt) Rewrites() []ipld.CID {
	_, links, _ := splitRewrites(r.Params) // refused by Validate
	return links
}
