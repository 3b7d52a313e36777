package retrieve

import "testing"

// TestShortlistOfAnyLimit: what a score counts as follows from the 200th and the 20th of a dense lane, which must be the
// same whatever is asked for at most, so that an answer with a lower limit is the beginning of one with a higher.
func TestShortlistOfAnyLimit(t *testing.T) {
	for _, oversample := range []int{1, DefaultOversample, MaxOversample} {
		for _, limit := range []int{1, 10, 40, 200} {
			list := Request{Limit: &limit, Oversample: &oversample}.shortlist()
			if list.Near != distantRank || list.Most < distantRank {
				t.Errorf("limit %d, oversample %d: %+v", limit, oversample, list)
			}
		}
	}
	all, limit := 0, 10
	if list := (Request{Limit: &limit, Oversample: &all}).shortlist(); list.Most != 0 {
		t.Errorf("all are compared: %+v", list)
	}
	one := Request{Limit: &limit, Oversample: &all, Ranking: PlainRanking}
	if list := one.shortlist(); list.Near != limit {
		t.Errorf("plain: %+v", list)
	}
}
