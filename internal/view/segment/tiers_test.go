package segment

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestCount(t *testing.T) {
	sizes := func(list ...int) (out []Ref) {
		for _, n := range list {
			out = append(out, Ref{Docs: n})
		}
		return out
	}
	ones := func(n int, before ...int) []Ref {
		for range n {
			before = append(before, 1)
		}
		return sizes(before...)
	}
	cases := map[string]struct {
		segments []Ref
		want     int
	}{
		"none":                {nil, 0},
		"one":                 {sizes(5), 0},
		"too few":             {ones(7), 0},
		"a run":               {ones(8), 8},
		"a run after a large": {ones(8, 1000), 8},
		"a large at the end":  {sizes(1, 1, 1, 1, 1, 1, 1, 1000), 8},
		"a run makes another": {ones(8, 8, 8, 8, 8, 8, 8, 8), 15},
		"a run makes none":    {ones(8, 8, 8, 8, 8, 8, 8), 8},
		"higher class stops":  {ones(7, 1, 8), 0},
		"mostly dead": {[]Ref{{Docs: 10_000}, {Kills: 5000},
			{Docs: 1000, Kills: 1000}}, 3},
		"dead, but few": {[]Ref{{Docs: 100}, {Kills: 90}}, 0},
		"limit":         {slices.Repeat(sizes(MaxDocs), 8), 0},
	}
	for name, c := range cases {
		must.Equal(t, Count(c.segments, 8), c.want, name)
	}
}

// TestTiers holds that the number of segments and the work grow with the logarithm of the number
// of updates.
func TestTiers(t *testing.T) {
	const updates, fanout = 100_000, 8
	var segments []Ref
	work := 0
	for i := range updates {
		size := 1
		if i%1000 == 999 {
			size = 500
		}
		work += size
		segments = append(segments, Ref{Docs: size})
		if n := Count(segments, fanout); n > 0 {
			keep := len(segments) - n
			sum := 0
			for _, s := range segments[keep:] {
				sum += s.Docs
			}
			segments = append(segments[:keep:keep], Ref{Docs: sum})
			work += sum
		}
		if most := (fanout - 1) * (1 + class(updates+50_000, fanout)); len(segments) > most {
			t.Fatalf("%d segments after %d updates, want at most %d", len(segments), i+1, most)
		}
	}
	// log8(150,000) is below 6.
	if limit := 150_000 * 7; work > limit {
		t.Errorf("%d documents written, want at most %d", work, limit)
	}
}

// TestDue runs updates while a background merge is never made, and while it is made some time after it is due: no
// update merges more than it may, and there are few segments.
func TestDue(t *testing.T) {
	const maxWaiting = 64
	for name, made := range map[string]int{"never": 1 << 30, "soon": 100, "late": 1000} {
		l := List{Segments: []Ref{{Docs: 100_000}}}
		most, noted, since, forced := 0, 0, 0, 0
		for i := range 20_000 {
			size := 1 + i%3
			l.Segments = append(l.Segments, Ref{Docs: size})
			if l.Run.Count > 0 {
				if since++; since > made {
					l.Replace(l.Run, Ref{Docs: total(l.Waiting())})
				}
			}
			over := len(l.Segments) > maxWaiting
			run, fresh := l.Due(4, maxWaiting, size)
			if fresh {
				noted, since = noted+1, 0
			}
			if end := l.Run.End(); end > len(l.Segments) || fresh && run.Count > 0 {
				t.Fatalf("%s: run %v beside %v of %d", name, run, l.Run, len(l.Segments))
			}
			if run.Count > 1 {
				size := total(l.Segments[run.From:run.End()])
				if size > mergeNow && !over {
					t.Fatalf("%s: an update of %d merges %d", name, 1+i%3, size)
				}
				if size > mergeNow {
					forced++
				}
				l.Replace(run, Ref{Docs: size})
			}
			most = max(most, len(l.Segments))
		}
		if noted == 0 || most > maxWaiting+1 || name == "soon" && (most > 40 || forced > 0) ||
			name == "late" && forced > 0 || name == "never" && (forced == 0 || forced > 10) {
			t.Errorf("%s: %d merges left, %d segments at most, %d merges forced", name, noted, most, forced)
		}
		t.Logf("%s: %d merges left, %d segments at most, %d merges forced", name, noted, most, forced)
	}
}

func total(list []Ref) (n int) {
	for _, s := range list {
		n += s.Size()
	}
	return n
}

// TestFewSegments commits single documents to an index of many, whose deferred merges are made before the next commit:
// a search looks into few segments, and no document is written often.
func TestFewSegments(t *testing.T) {
	l := List{Segments: []Ref{{Docs: 100_000}}}
	const commits = 10_000
	sum, most, written := 0, 0, 0
	for range commits {
		l.Segments = append(l.Segments, Ref{Docs: 1})
		run, _ := l.Due(4, 48, 1)
		if run.Count < 2 {
			run = l.Run
		}
		if run.Count > 1 {
			size := total(l.Segments[run.From:run.End()])
			l.Replace(run, Ref{Docs: size})
			written += size
		}
		sum, most = sum+len(l.Segments), max(most, len(l.Segments))
	}
	if sum > 6*commits || most > crowded+2 || written > 15*commits {
		t.Errorf("%d segments at most, %d a hundred commits, %d documents written for each", most, sum*100/commits, written/commits)
	}
}
