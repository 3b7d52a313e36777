package retrieve

// PlainRanking ranks for lookups within a larger operation: by the words and vectors of the request as they
// are, without kindred words and without bands, so that a node that is only a name is an item too. It is no
// version: an answer by it has no valid receipt.
const PlainRanking = -1

// current reports whether answers of an engine can be made again.
func (e Engine) current() bool {
	return e.Analyser == AnalyserVersion && e.Language == Language && e.Ranking >= oldestRanking &&
		e.Ranking <= RankingVersion
}

// oldestRanking is the first of the released versions that there still are.
const oldestRanking = 1
