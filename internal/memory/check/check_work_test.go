package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	checkpkg "github.com/mnem-project/mnem/internal/memory/check"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/retrieve"
)

// checkedWord returns a word that is like few others.
func checkedWord(i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 5))
	b := make([]byte, 7)
	for k := range b {
		b[k] = "bcdfghjklmnpqrtvwxz"[rng.IntN(19)]
	}
	return string(b)
}

func wordyLines(nodes int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, nodes)
	for i := range lines {
		words := make([]string, 20)
		for k := range words {
			words[k] = checkedWord(rng.IntN(3000))
		}
		lines[i] = fmt.Sprintf(`{"node":{"key":"n%d","type":"fact","summary":"%s."}}`, i,
			strings.Join(words, " "))
	}
	return lines
}

// reads returns how many blocks a function reads of a memory that nothing was read of before.
func reads(t *testing.T, base *mem.Store, fn func(*core.Snapshot)) int {
	t.Helper()
	counting := testkit.NewTamper(base)
	r, err := care.New(t.Context(), counting, checkStamp("open"), core.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	before := len(counting.Read())
	fn(s)
	n := len(counting.Read()) - before
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCheckWork bounds what a check reads by what one retrieval does, however large the memory is.
func TestCheckWork(t *testing.T) {
	question := strings.Join([]string{checkedWord(1), checkedWord(2), checkedWord(3), "unheard"}, " ")
	for _, nodes := range []int{200, 1000, 5000} {
		base := mem.New()
		r, err := care.New(t.Context(), base, checkStamp("init"), core.Options{})
		if err != nil {
			t.Fatal(err)
		}
		commitLines(t, r, wordyLines(nodes)...)
		one := reads(t, base, func(s *core.Snapshot) {
			_, err = rank.Retrieve(t.Context(), s, retrieve.Request{Text: question, Budget: new(0), Limit: new(20), Dedup: true})
		})
		if err != nil {
			t.Fatal(err)
		}
		check := reads(t, base, func(s *core.Snapshot) { mustCheck(t, s, question) })
		// Items are read again, and the profiles: some come from a cache of the store.
		if most := one + 60; check > most {
			t.Errorf("%d nodes: a check reads %d blocks, a retrieval %d", nodes, check, one)
		}
		t.Logf("%d nodes: check %d, retrieval %d", nodes, check, one)
		v, err := retrieve.NewQueryVector("m", []float64{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		fused := reads(t, base, func(s *core.Snapshot) {
			_, err = checkpkg.Check(t.Context(), s, checkpkg.Request{Request: retrieve.Request{
				Text: question, Vectors: []retrieve.QueryVector{v}}})
		})
		if most := 2*one + 60; err != nil || fused > most {
			t.Errorf("%d nodes: a check with vectors reads %d blocks, a retrieval %d (%v)", nodes, fused, one, err)
		}
	}
}

// TestCheckIsDeterministic compares whole answers over numbers of processors and orders of insertion,
// and sees that nothing is written.
func TestCheckIsDeterministic(t *testing.T) {
	lines := append(wordyLines(300), checkedMemory...)
	questions := []string{
		"who owns billing?", "does Bob own billing?", "谁负责计费系统？", "what is the capital of Peru?",
		strings.Join([]string{checkedWord(1), checkedWord(2), checkedWord(3)}, " "),
	}
	var want []byte
	for try := range 4 {
		old := runtime.GOMAXPROCS(1 + try%3)
		r, s := openCheck(t, lines...)
		before := opCount(t, r)
		var all []any
		for _, q := range questions {
			res := mustCheck(t, s, q)
			all = append(all, res.Verdict, res.Signals, res.Nearest)
		}
		if after := opCount(t, r); after != before {
			t.Errorf("checks made %d operations", after-before)
		}
		got, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("try %d: %s", try, diff)
		}
		runtime.GOMAXPROCS(old)
		rand.New(rand.NewPCG(uint64(try), 1)).Shuffle(len(lines), func(i, j int) {
			lines[i], lines[j] = lines[j], lines[i]
		})
	}
}

// TestCheckInProcesses compares the answers of processes.
func TestCheckInProcesses(t *testing.T) {
	const child = "MNEM_TEST_CHECK"
	if os.Getenv(child) != "" {
		_, s := openCheck(t, append(wordyLines(300), checkedMemory...)...)
		for _, q := range []string{"does Bob own billing?", "谁负责计费系统？", "who owns billing?"} {
			res := mustCheck(t, s, q)
			got, err := json.Marshal([]any{res.Commit.String(), res.Verdict, res.Signals, res.Nearest})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("answer %s\n", got)
		}
		return
	}
	var want string
	for _, procs := range []string{"1", "4", "2"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCheckInProcesses$")
		cmd.Env = append(os.Environ(), child+"=1", "GOMAXPROCS="+procs)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "answer ") {
				got += line
			}
		}
		if want == "" {
			want = got
		}
		if got == "" || got != want {
			t.Errorf("GOMAXPROCS=%s: %s, want %s", procs, got, want)
		}
	}
}

func opCount(t *testing.T, r *core.Repo) int {
	t.Helper()
	n := 0
	for _, err := range r.Operations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestCalibrate finds thresholds on questions of a made-up memory, and keeps its bounds.
func TestCalibrate(t *testing.T) {
	_, s := openCheck(t, wordyLines(400)...)
	var points []checkpkg.CheckPoint
	ask := func(text string, answerable bool) {
		points = append(points, mustCheck(t, s, text).Point(answerable, nil))
	}
	for i, line := range wordyLines(400)[:60] {
		words := strings.Fields(line[strings.Index(line, `summary":"`)+len(`summary":"`):])
		ask(strings.Join(words[2:7], " "), true)
		ask(strings.Join([]string{words[1], checkedWord(i), checkedWord(900 + i), checkedWord(1800 + i)}, " "),
			false)
	}
	opt := checkpkg.CalibrateOptions{Base: checkpkg.DefaultThresholds()}
	got := checkpkg.Calibrate(points, opt)
	if got.Chosen == nil || len(got.Curve) == 0 {
		t.Fatalf("nothing chosen of %d points: %+v", len(got.Curve), got)
	}
	f := got.Chosen.CheckFigures
	if f.Right < 50 || f.FalseStrong > 3 || f.Answerable != 60 || f.Unanswerable != 60 {
		t.Errorf("%+v", f)
	}
	if f != got.Chosen.Thresholds.Measure(checkpkg.GateLexical, points) {
		t.Error("the figures are not those of the thresholds")
	}
	for i := 1; i < len(got.Curve); i++ {
		a, b := got.Curve[i-1].CheckFigures, got.Curve[i].CheckFigures
		if b.FalseStrong <= a.FalseStrong || b.Right <= a.Right {
			t.Errorf("the curve turns back at %d: %+v, %+v", i, a, b)
		}
	}
	slices.Reverse(points)
	if again := checkpkg.Calibrate(points, opt); cmp.Diff(got, again) != "" {
		t.Error("the order of the questions matters")
	}
	if none := checkpkg.Calibrate(points[:0], opt); none.Chosen != nil {
		t.Errorf("thresholds from nothing: %+v", none.Chosen)
	}
}

func TestReadLabelled(t *testing.T) {
	list, err := checkpkg.ReadLabelled(strings.NewReader(`{"question":"a?","answerable":true,"evidence":["k"]}

{"question":"b?","answerable":false}`), "f")
	if err != nil || len(list) != 2 || list[1].Line != 3 || list[0].Evidence[0] != "k" {
		t.Errorf("%+v %v", list, err)
	}
	for _, bad := range []string{
		`[]`, `{"question":"a?"}`, `{"question":" ","answerable":true}`, `{"question":"a","answerable":1}`,
		`{"question":"a","answerable":true,"evidence":"k"}`, `{"question":"a","answerable":true,"x":1}`,
		`{"question":"a","answerable":false,"evidence":["k"]}`, `{"question":"a","answerable":true,"evidence":[""]}`,
		`{"question":"` + strings.Repeat("a", 70_000) + `","answerable":true}`, strings.Repeat("x", 300_000),
		"{\"question\":\"a \xff\",\"answerable\":true}", "\ufeff{}", `{"question":12,"answerable":true}`,
		`{"question":"a","question":"b","answerable":true}`, `{"question":"a","answerable":1e400}`,
		`{"question":123456789012345678901234567890,"answerable":true}`, `null`, "\x00",
		`{"question":"\ud800","answerable":true}`, `{"question":"a","answerable":true} {}`,
		`{"question":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		`{"question":"a","answerable":true,"evidence":[` + strings.Repeat(`"k",`, 2000) + `"k"]}`,
	} {
		if _, err := checkpkg.ReadLabelled(strings.NewReader(bad), "f"); err == nil ||
			!strings.Contains(err.Error(), "f:1") {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
	if list, err = checkpkg.ReadLabelled(strings.NewReader(" \n\n"), "f"); err != nil || len(list) != 0 {
		t.Errorf("nothing: %v %v", list, err)
	}
}

func TestSampleScores(t *testing.T) {
	_, s := openCheck(t, append(wordyLines(30), checkedMemory...)...)
	a, err := checkpkg.SampleScores(context.Background(), s, nil)
	if err != nil || a.Sampled != 30+len(checkedMemory) || a.Check.Coverage.P50 > a.Check.Coverage.Max ||
		a.Remember.Similarity.Max == 0 {
		t.Errorf("%+v %v", a, err)
	}
	b, err := checkpkg.SampleScores(context.Background(), s, nil)
	if err != nil || cmp.Diff(a, b) != "" {
		t.Errorf("again: %+v %v", b, err)
	}
}
