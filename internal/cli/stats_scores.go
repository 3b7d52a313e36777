package cli

import (
	"context"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/repo"
)

// scoresJSON is how much memories have in common, in units of 2^-16.
type scoresJSON struct {
	Sampled int `json:"sampled"`
	Check   struct {
		Coverage percentilesJSON `json:"coverage"`
		Evidence percentilesJSON `json:"evidence"`
		Lead     percentilesJSON `json:"lead"`
	} `json:"check"`
	Remember struct {
		Similarity percentilesJSON `json:"similarity"`
	} `json:"remember"`
}

type percentilesJSON struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// sampleScores takes the percentiles of a snapshot.
func (c *cli) sampleScores(ctx context.Context, s *repo.Snapshot) (*scoresJSON, error) {
	out := &scoresJSON{}
	if !s.CID().Defined() {
		return out, nil
	}
	p := c.progress()
	defer p.done()
	got, err := memory.SampleScores(ctx, s, func(done, total int) { p.set("comparing", done, total) })
	if err != nil {
		return nil, err
	}
	out.Sampled = got.Sampled
	out.Check.Coverage = percentilesJSON(got.Coverage)
	out.Check.Evidence = percentilesJSON(got.Evidence)
	out.Check.Lead = percentilesJSON(got.Lead)
	out.Remember.Similarity = percentilesJSON(got.Alike)
	return out, nil
}

func (c *cli) printScores(s *scoresJSON) error {
	if err := c.printf("\nscores of %d memories, each against all others\n", s.Sampled); err != nil {
		return err
	}
	rows := [][]cell{{{"", ""}}}
	for _, name := range []string{"p50", "p90", "p95", "p99", "max"} {
		rows[0] = append(rows[0], cell{name, styleDim})
	}
	for _, row := range []struct {
		name string
		of   percentilesJSON
		show func(int64) string
	}{
		{"check coverage", s.Check.Coverage, shareText},
		{"check evidence, bits", s.Check.Evidence, bitsText},
		{"check lead", s.Check.Lead, shareText},
		{"remember similarity", s.Remember.Similarity, shareText},
	} {
		cells := []cell{{row.name, styleBold}}
		for _, v := range []int64{row.of.P50, row.of.P90, row.of.P95, row.of.P99, row.of.Max} {
			cells = append(cells, cell{row.show(v), ""})
		}
		rows = append(rows, cells)
	}
	return c.table(rows)
}
