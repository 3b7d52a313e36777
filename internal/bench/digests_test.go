package bench

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// talks is the bundled set with written summaries and broad questions.
var talks = filepath.Join("..", "..", "testdata", "eval")

// TestDigestsOfTalks: digests have more of the summaries' words than what others choose, but for a lucky draw, of
// which four short sessions are not enough to tell.
func TestDigestsOfTalks(t *testing.T) {
	effort.Alone(t)
	w := newWorld(t)
	w.copyIn("talks", talks)
	out, _ := w.bench(0, "digests", "talks", "--json")
	var report digestsJSON
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	best := map[string]float64{} // by method, of all sessions
	for _, row := range report.Rows {
		if row.File == nil {
			x, err := row.L.Float64()
			if err != nil || row.Scopes != 4 {
				t.Fatalf("%+v, %v", row, err)
			}
			best[row.Method] = x
		}
	}
	if len(best) != 5 || report.Weights["length"] == 0 {
		t.Fatalf("methods %v, weights %v", best, report.Weights)
	}
	for method, x := range best {
		if method != "digest" && method != "random" && x+.03 > best["digest"] {
			t.Errorf("ROUGE-L %.4f of digests, %.4f of %s", best["digest"], x, method)
		}
	}
	shown, remarks := w.bench(0, "digests", "talks")
	if !strings.Contains(shown, "textrank") || !strings.Contains(remarks, "ROUGE-L of digests less that of random: ") {
		t.Errorf("%s%s", shown, remarks)
	}
	varied, _ := w.bench(0, "digests", "talks", "--vary", "first=0,16")
	if n := strings.Count(varied, "chat"); n != 2 { // with one conversation there are no others
		t.Errorf("%d rows: %s", n, varied)
	}
	for _, bad := range []string{"", "first", "first=", "last=1", "first=-1", "first=1025", "first=x"} {
		w.bench(2, "digests", "talks", "--vary", bad)
	}
	w.bench(1, "digests", "nowhere")
}

// TestAltitudesOfTalks: where a question is broad, auto prints more of the points, and more for each token; where
// none is, it prints the same.
func TestAltitudesOfTalks(t *testing.T) {
	effort.Alone(t)
	w := newWorld(t)
	w.copyIn("talks", talks)
	read := func(args ...string) map[string]map[string]map[string]float64 {
		out, _ := w.bench(0, append([]string{"altitude", "talks", "--json"}, args...)...)
		var report struct {
			Rows []struct {
				Altitude         string
				Questions, Broad map[string]float64
			}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Rows) != 4 {
			t.Fatalf("%v: %s", err, out)
		}
		rows := map[string]map[string]map[string]float64{}
		for _, row := range report.Rows {
			rows[row.Altitude] = map[string]map[string]float64{"questions": row.Questions, "broad": row.Broad}
		}
		return rows
	}
	narrow, wide := read(), read("--budget", "512")
	for name, rows := range map[string]map[string]map[string]map[string]float64{"256": narrow, "512": wide} {
		auto, entity := rows["auto"], rows["entity"]
		if auto["broad"]["count"] != 15 || auto["questions"]["count"] == 0 || entity["broad"]["digests"] != 0 {
			t.Errorf("%s: %v", name, rows)
		}
		if auto["broad"]["points"] <= entity["broad"]["points"] || auto["broad"]["digests"] == 0 {
			t.Errorf("%s: points %v, of entities %v", name, auto["broad"], entity["broad"])
		}
		if auto["questions"]["evidence"] < entity["questions"]["evidence"] {
			t.Errorf("%s: evidence %v, of entities %v", name, auto["questions"], entity["questions"])
		}
	}
	if a, e := narrow["auto"]["broad"], narrow["entity"]["broad"]; a["points_per_100_tokens"] <= e["points_per_100_tokens"] {
		t.Errorf("for each token %v, of entities %v", a, e)
	}
	shown, _ := w.bench(0, "altitude", "talks")
	if !strings.Contains(shown, "points/100") || !strings.Contains(shown, "scope") {
		t.Error(shown)
	}
	w.bench(2, "altitude", "talks", "--budget", "-1")
	w.bench(1, "altitude", "nowhere")
}
