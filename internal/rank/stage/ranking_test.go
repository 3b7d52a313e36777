package stage

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestRankings pins the constants of each version: receipts of a released one are replayed by them for ever.
// What changes an answer is a new version once the current one is released. Package repo freezes the answers.
func TestRankings(t *testing.T) {
	beside := fmt.Sprint([]int64{maxBanded, maxLeading, maxAnswers, maxUnsure, maxUnknown, maxWorded, maxUnsureChunks,
		ofBestChunk, maxReplaced, maxChain, maxBehind, leastTrust, fifths, likeCrowd, priorNodes, restated, maxLater, minShared, laterApart, neighbourTime, neighbourRead, restates,
		render.NeighbourCap,
		render.BriefDigits, maxKin, distantRank, maxGrouped, digestAnswers, digestMaybe, maxDigests, digestShare, maxBroad,
		maxQuoted}, broad)
	pinned := map[int]string{1: "058e9d1b2a7eebcd37b633e35bfd2e9194d458db8acaecc87cf21a9120dfeebc"}
	for _, row := range rankings {
		constants := fmt.Sprintf("%+v", row)
		if row.bands {
			constants += beside
		}
		got := fmt.Sprintf("%x", sha256.Sum256([]byte(constants)))
		must.True(t, got == pinned[row.version], "ranking %d is %s, with %s", row.version, got, constants)
		delete(pinned, row.version)
	}
	must.True(t, len(pinned) == 0 && rankingOf(0) == rankingOf(retrieve.RankingVersion) &&
		rankings[len(rankings)-1].version == retrieve.RankingVersion,
		"gone: %v; the newest is %d", pinned, retrieve.RankingVersion)
}

// TestRankingGone replays a receipt of each version that there is, and of others none.
func TestRankingGone(t *testing.T) {
	m := library()
	for version, there := range map[int]bool{1: true, 2: false, 99: false} {
		a := m.ask(t, retrieve.Request{Text: "web", Ranking: min(version, retrieve.RankingVersion)})
		r, text := a.Receipt()
		r.Engine.Ranking = version
		decoded := must.Get(retrieve.DecodeReceipt(r.Encode()))(t)
		req, err := decoded.Request(string(text))
		must.True(t, errors.Is(err, retrieve.ErrRankingVersion) != there && (!there || req.Ranking == version),
			"receipt of ranking %d: ranking %d, %v", version, req.Ranking, err)
		if !there {
			continue
		}
		again, _ := m.ask(t, req).Receipt()
		d := retrieve.CompareReceipts(r, again)
		must.True(t, d == nil, "receipt of ranking %d: %+v", version, d)
	}
	lookup, _ := m.ask(t, retrieve.Request{Text: "web", Ranking: retrieve.PlainRanking}).Receipt()
	must.True(t, lookup.Validate() != nil, "a receipt of a lookup is taken")
	for _, version := range []int{-2, retrieve.RankingVersion + 1} {
		refused(t, retrieve.Request{Ranking: version}, "ranking", fmt.Sprint(version))
	}
}

// refused checks that a request is refused for a parameter, in words that say so.
func refused(t *testing.T, req retrieve.Request, param string, words ...string) {
	t.Helper()
	m := newMemory()
	_, err := Runner{}.Run(t.Context(), m, m, testCommit, req)
	var bad *retrieve.RequestError
	must.Require(t, errors.As(err, &bad) && bad.Param == param, "%+v: %v", req, err)
	for _, w := range words {
		must.True(t, strings.Contains(err.Error(), w), "%v: not a word of %s", err, w)
	}
}

func TestOtherWords(t *testing.T) {
	for _, floor := range []retrieve.Floor{"sure", "Answer", "rest ", "answers"} {
		refused(t, retrieve.Request{Floor: floor}, "floor", string(floor), "answer", "maybe", "rest")
	}
	for _, format := range []retrieve.Format{"json", "Brief", " yaml"} {
		refused(t, retrieve.Request{OutputOptions: retrieve.OutputOptions{Format: format}}, "format", string(format),
			"yaml", "brief")
	}
}
