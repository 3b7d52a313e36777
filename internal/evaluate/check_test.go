package evaluate_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/memory/check"
)

// TestCheckGolden holds how the bundled questions come out, so that a change of check is seen.
func TestCheckGolden(t *testing.T) {
	r, err := evaluate.Check(t.Context(), os.DirFS(questions), evaluate.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f := r.Figures
	if f.Answerable != 35 || f.Unanswerable != 35 {
		t.Fatalf("%d answerable and %d other questions", f.Answerable, f.Unanswerable)
	}
	// .10 of the answerable, .80 of them right, at most .05 of the others
	if f.Strong*10 < f.Answerable || f.Right*10 < f.Strong*8 || f.FalseStrong*20 > f.Unanswerable {
		t.Errorf("%+v", f)
	}
	want := check.CheckFigures{
		Answerable: 35, Strong: 15, Right: 14, Weak: 12, Unanswerable: 35,
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("figures changed (-want +got):\n%s", diff)
	}
	if len(r.LeftOut) != 2 || r.Removed.Unanswerable != 35 {
		t.Errorf("%+v", r)
	}
}

func TestCheckSample(t *testing.T) {
	r, err := evaluate.Check(t.Context(), os.DirFS(questions), evaluate.CheckOptions{Sample: 5})
	if err != nil {
		t.Fatal(err)
	}
	if r.Figures.Answerable != 5 || r.Figures.Unanswerable != 5 || r.Removed.Unanswerable != 5 {
		t.Errorf("%+v", r)
	}
}

func TestCheckOnePair(t *testing.T) {
	dir := fstest.MapFS{
		"a.changes.jsonl": {Data: []byte(`{"node":{"key":"oven","type":"fact","summary":"The oven of the bakery has a purple door."}}` + "\n" +
			`{"node":{"key":"mill","type":"fact","summary":"The mill stands by the river."}}`)},
		"a.queries.jsonl": {Data: []byte(`{"qid":"1","text":"which oven has a purple door?","gold":["oven"]}`)},
	}
	r, err := evaluate.Check(t.Context(), dir, evaluate.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Figures.Answerable != 0 || r.Removed.Right != 1 || r.Removed.FalseStrong != 0 {
		t.Errorf("%+v", r)
	}
}

func TestRenamed(t *testing.T) {
	for _, c := range []struct {
		text     string
		from, to []string
		want     string
	}{
		{"Did Ann see Bob's dog?", []string{"Ann", "Bob"}, []string{"Cy", "Di"}, "Did Cy see Di's dog?"},
		{"Did Ann see Bob?", []string{"Ann", "Bob"}, []string{"Cy"}, "Did Cy see Cy?"},
		{"Anna met Ann Lee.", []string{"Ann Lee", "Ann"}, []string{"Cy", "Di"}, "Anna met Cy."},
		{"Ann?", nil, []string{"Cy"}, "Ann?"},
		{"Ann?", []string{"Ann"}, nil, "Ann?"},
		{"ann and ANN", []string{"Ann"}, []string{"Cy"}, "ann and ANN"},
	} {
		if got := evaluate.Renamed(c.text, c.from, c.to); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
