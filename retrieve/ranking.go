package retrieve

import (
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/fixed"
)

// ranking is what one version of the ranking does beside what all do: a row of constants, which never
// changes once there are receipts of it. A version that is in no row is gone: its receipts cannot be
// replayed.
type ranking struct {
	version int
	// rewrites is the weight of the lanes of all rewrites together.
	rewrites int64
	// temporal is what an edge of time keeps of its weight where a request does not ask for a time.
	temporal int64
	// kin is what a term weighs that is kindred to one of the text: clause 9.12.
	kin int64
	// aware is whether the weights of text and vectors follow how much of the question the text accounts
	// for: clause 9.6.
	aware bool
	// neighbours is whether what was written right before and after the best item of a question for a
	// reason follows it: clause 26.8.
	neighbours bool
	// bands is whether items have bands: clause 11.9. Nodes that are only a name are no items then.
	bands bool
}

// rankings are the versions there are.
var rankings = []ranking{
	{version: 1, rewrites: fixed.One / 2, temporal: fixed.One},
	{version: 2, rewrites: 2 * fixed.One, kin: 13_107, aware: true, neighbours: true, bands: true},
}

// rankingOf returns the row of a version, nil where it is gone; 0 is the newest.
func rankingOf(version int) *ranking {
	if version == 0 {
		version = RankingVersion
	}
	i := slices.IndexFunc(rankings, func(r ranking) bool { return r.version == version })
	if i < 0 {
		return nil
	}
	return &rankings[i]
}

// constants are those of a row that measurements may vary, by name.
func (k *ranking) constants() map[string]*int64 {
	return map[string]*int64{"kin": &k.kin, "rewrites": &k.rewrites, "temporal": &k.temporal}
}

// row returns the row of a request.
func (r *Request) row() *ranking {
	row := rankingOf(r.Ranking)
	if row == nil || r.Tuning == nil {
		return row
	}
	tuned := *row
	*tuned.constants()[r.Tuning.Name] = r.Tuning.Value
	return &tuned
}

// engine returns the versions that answer a request.
func (r *Request) engine() Engine {
	if r.Tuning != nil {
		return engineOf(0)
	}
	return engineOf(r.Ranking)
}

// bare reports whether an embedding of a node's text without properties is none of an older text: when answers of
// ranking 1 were recorded, no property was embedded.
func (r *ranking) bare() bool { return r.version == 1 }

// current reports whether answers of an engine can be made again.
func (e Engine) current() bool {
	return e.Analyser == AnalyserVersion && e.Language == Language && e.Ranking > 0 &&
		rankingOf(e.Ranking) != nil
}

// checkRanking refuses a version that is gone, and a constant that it does not have.
func (r Request) checkRanking() error {
	row := rankingOf(r.Ranking)
	if row == nil {
		return badParam("ranking", "%d is not available", r.Ranking)
	}
	if c := row.constants(); r.Tuning != nil && c[r.Tuning.Name] == nil {
		return badParam("ranking", "no constant %s: there are %s", shortQuote(r.Tuning.Name),
			strings.Join(slices.Sorted(maps.Keys(c)), ", "))
	}
	return nil
}
