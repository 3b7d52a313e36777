package stage

import (
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/tuning"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// ranking is a row of constants in which versions of the ranking differ. It never changes once receipts of it exist. A
// version without a row is gone: its receipts cannot be replayed.
type ranking struct {
	version int
	// temporal is the share of its weight that an edge of time keeps if a request does not ask for a time.
	temporal int64
	// kin is the weight of a term kindred to a term of the text: clause 9.12.
	kin int64
	// textMost is the weight of the text lane relative to vectors if it covers the whole question, 0 for a weight that
	// does not depend on that: clause 9.6.
	textMost int64
	// ground is the share of a distant cosine of a dense lane that counts as nothing in it: clause 9.6.
	ground int64
	// peers is the number of best vectors in a dense lane whose common part counts less; the greater ease, the smaller
	// the reduction: clause 9.5.
	peers, ease int64
	// kinKnown is how far a node covers a term if it has a kindred one: clause 26.6.
	kinKnown int64
	// neighbours is whether the memories written right before and after the best item follow it if the question asks
	// for a reason: clause 26.8.
	neighbours bool
	// bands is whether items have bands: clause 11.9. Nodes that are only a name are no items then.
	bands bool
	bandConstants
}

// bandConstants decide the verdict and the bands of items: clause 11.9.
type bandConstants struct {
	// sure is how much of the question must be accounted for by words and meaning for it to be known; sureWords is the
	// same if there are no vectors; from least on something of the kind is stored.
	sure, sureWords, least int64
	// ofBest is the share of the best item's coverage that another item needs to be in the same band.
	ofBest int64
	// ofKnown is the same for an answer that is known, and ofWords if there are no vectors.
	ofKnown, ofWords int64
	// whole is how many of 1,000 pieces of a question are whole words if its vector counts wholly.
	whole int64
	// next is how many fifths the second best of several wordings counts; the best one counts the others.
	next int64
	// twin is the common share of two summaries, by the weight of the lighter one, from which the later one may come
	// first. yields is the share of the older one's coverage that the later one needs. keeps is the share of the
	// question's exact words in the older one that the later one needs.
	twin, yields, keeps int64
	// replaces is the mean of two summaries' common share and their vectors' cosine from which the later one may
	// replace the earlier one.
	replaces int64
}

var plainRanking = ranking{version: retrieve.PlainRanking, temporal: fixed.One}

// rankings are the released versions, and the current one last.
var rankings = []ranking{
	{version: 1, kin: 13_107, textMost: 4 * fixed.One,
		ground: fixed.One / 2, peers: 20, ease: 6 * fixed.One,
		kinKnown: 26_214, neighbours: true, bands: true, bandConstants: bandConstants{
			sure: 49_152, sureWords: 39_322, least: 20_972, ofBest: 39_322, ofKnown: 42_598, ofWords: 19_661,
			whole: 300, next: 2, twin: 19_661, yields: 52_429, keeps: 58_982, replaces: 29_491,
		}},
}

// rankingOf returns the row of a version or of PlainRanking, nil if there is none; 0 is the newest.
func rankingOf(version int) *ranking {
	switch version {
	case 0:
		version = retrieve.RankingVersion
	case retrieve.PlainRanking:
		return &plainRanking
	}
	i := slices.IndexFunc(rankings, func(r ranking) bool { return r.version == version })
	if i < 0 {
		return nil
	}
	return &rankings[i]
}

// constants returns the constants of a row that measurements may vary, by name.
func (k *ranking) constants() map[string]*int64 {
	return map[string]*int64{
		"ease": &k.ease, "ground": &k.ground, "keeps": &k.keeps, "kin": &k.kin, "kin-known": &k.kinKnown,
		"least": &k.least, "next": &k.next, "of-best": &k.ofBest, "of-known": &k.ofKnown, "of-words": &k.ofWords,
		"peers": &k.peers, "replaces": &k.replaces, "sure": &k.sure, "sure-words": &k.sureWords, "temporal": &k.temporal,
		"text-most": &k.textMost, "twin": &k.twin, "whole": &k.whole,
		"yields": &k.yields,
	}
}

// tunedRow returns the row of a version with a different value for one of its constants, nil for none. It returns a
// *RequestError for a version that is gone, and for a constant that the row does not have.
func tunedRow(version int, by *tuning.Constant) (*ranking, error) {
	row := rankingOf(version)
	switch {
	case row == nil:
		return nil, source.Reject("ranking", "%d is not available", version)
	case by == nil:
		return row, nil
	}
	tuned := *row
	constants := tuned.constants()
	if constants[by.Name] == nil {
		return nil, source.Reject("ranking", "no constant %s: there are %s", source.Quoted(by.Name),
			strings.Join(slices.Sorted(maps.Keys(constants)), ", "))
	}
	*constants[by.Name] = by.Value
	return &tuned, nil
}

// engine returns the versions for the answer, without that of the ranking if a constant was changed.
func (r *request) engine() retrieve.Engine {
	e := retrieve.CurrentEngine()
	if e.Ranking = r.req.Ranking; r.tuned {
		e.Ranking = 0
	}
	return e
}
