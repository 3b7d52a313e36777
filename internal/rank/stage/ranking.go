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
	// textLeast and textMost are what the text lane weighs beside vectors where it accounts for none of the
	// question, and for all of it: clause 9.6. Where both are 0 its weight does not depend on that.
	textLeast, textMost int64
	// ground is the share of a distant cosine of a dense lane that counts as nothing in it: clause 9.6.
	ground int64
	// peers is of how many of the best of a dense lane what they have in common counts less, the less the
	// more ease is: clause 9.5.
	peers, ease int64
	// kinKnown is how much of a term a node has that has one kindred to it: clause 26.6.
	kinKnown int64
	// neighbours is whether what was written right before and after the best item of a question for a
	// reason follows it: clause 26.8.
	neighbours bool
	// bands is whether items have bands: clause 11.9. Nodes that are only a name are no items then.
	bands bool
	bandConstants
}

// bandConstants decide which band an item is of: clause 11.9.
type bandConstants struct {
	// sure is how much of the question must be known for an answer at all, and each how much an item that is
	// one has to know; sureMany and eachMany are the same where it was asked in several wordings.
	sure, each, sureMany, eachMany int64
	// ofBest is the share of what the best item knows that another one has to know beside it.
	ofBest int64
	// ofBestLike is the same where there are vectors and one wording: cosines are there for every node.
	ofBestLike int64
	// maybe is the share of each, or eachMany, from which on an item may be an answer.
	maybe int64
	// A cosine from likeFrom on counts, and that of likeWhole as all of the question.
	likeFrom, likeWhole int64
	// apartFrom and apartWhole are the same of what a cosine is more than that of the crowd, for questions in one
	// wording.
	apartFrom, apartWhole int64
	// next is how many fifths the second best sign of an item counts; the best one counts the others.
	next int64
	// subject is what two texts share of the weight of the lighter one's terms where one may take the place of the
	// other: clause 11.10.
	subject int64
	// twin is the same of two of which neither tells of a change.
	twin int64
	// ahead is what counts of the share by which the first item is ahead of the next one.
	ahead int64
}

var plainRanking = ranking{version: retrieve.PlainRanking, rewrites: fixed.One / 2, temporal: fixed.One}

// rankings are the released versions, and the current one last.
var rankings = []ranking{
	{version: 1, rewrites: 2 * fixed.One, kin: 13_107, textLeast: fixed.One / 4, textMost: 4 * fixed.One,
		ground: fixed.One / 2, peers: 20, ease: 6 * fixed.One,
		kinKnown: 26_214, neighbours: true, bands: true, bandConstants: bandConstants{
			sure: 13_107, each: 6_554, sureMany: 45_875, eachMany: 26_214, ofBest: fixed.One / 4, ofBestLike: 20_000,
			maybe: 3 * fixed.One / 4, likeFrom: fixed.One / 4, likeWhole: 42_598, next: 2, ahead: fixed.One / 2,
			apartFrom: 5_243, apartWhole: 26_214, subject: 13_107, twin: fixed.One / 2,
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

// constants are those of a row that measurements may vary, by name.
func (k *ranking) constants() map[string]*int64 {
	return map[string]*int64{
		"ahead": &k.ahead, "apart-from": &k.apartFrom, "apart-whole": &k.apartWhole, "each": &k.each, "each-many": &k.eachMany, "ease": &k.ease, "ground": &k.ground, "kin": &k.kin, "kin-known": &k.kinKnown,
		"like-from": &k.likeFrom, "like-whole": &k.likeWhole, "maybe": &k.maybe, "next": &k.next, "of-best": &k.ofBest, "of-best-like": &k.ofBestLike, "peers": &k.peers,
		"rewrites": &k.rewrites, "subject": &k.subject, "sure": &k.sure, "sure-many": &k.sureMany,
		"temporal": &k.temporal, "text-least": &k.textLeast, "text-most": &k.textMost, "twin": &k.twin,
	}
}

// tunedRow returns the row of a version with another value in the place of one of its constants, nil for none.
// It returns a *RequestError for a version that is gone, and for a constant that it does not have.
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

// engine returns the versions that answer the request: none of the ranking where a constant is another one.
func (r *run) engine() retrieve.Engine {
	e := retrieve.CurrentEngine()
	if e.Ranking = r.req.Ranking; r.tuned {
		e.Ranking = 0
	}
	return e
}
