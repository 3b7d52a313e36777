// Package spec_test holds the packages to spec/SPEC.md through the files of spec/vectors.
package spec_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// vector is one case of spec/vectors; README.md says what the members mean.
type vector = cases.Case

var parse, expand = cases.Parse, cases.Bytes

func readVectors(t *testing.T) []vector {
	t.Helper()
	return cases.ReadDir(t, "vectors")
}

// runners say what happens to the vectors of each layer.
var runners = map[string]func(t *testing.T, v vector){
	"adjacency": runAdjacency, "apply": runChanges, "car": runCAR, "changes": runChanges, "cid": runCID,
	"codec": runCodec, "commit": runCommit, "edge": runRecord, "embedding": runEmbedding, "export": runRecord,
	"graph": runRecord, "horizon": runHorizon, "ids": runIDs, "json": runJSON, "mark": runRecord,
	"merge-erased": runMergeErased, "node": runNode, "operation": runOperation, "profile": runRecord,
	"profile-contradicts": runProfileContradicts, "profile-merge": runProfileMerge, "receipt": runReceipt,
	"redaction": runRedaction, "session": runRecord, "signature": runSignature, "stage": runRecord, "tag": runRecord, "tree": runTree,
	"tree-diff": runDiff, "tree-merge": runMerge, "written": runRecord,
}

// elsewhere are the layers whose vectors other packages run, each with the test.
var elsewhere = map[string]string{"chains": "TestChainVectors of repo, since what it tries is not exported"}

// verbs is why clauses on what is read from a history have no vector.
const verbs = "what is read from a history is no bytes: testdata of package history"

// untested are the numbered clauses that need no vector of their own, each with the reason.
var untested = map[string]string{
	"15.2": verbs, "15.3": verbs, "15.4": verbs, "15.5": verbs, "15.7": verbs, "16.1": verbs, "16.2": verbs,
	"18.6": "encrypted bytes are others each time; the tests of package seal read a store that an earlier program wrote",
	"19.2": "what may be removed shows in what stays, which is a repository and no case",
	"19.5": "what a purge leaves is files, and which nodes share a block; the tests of purge look",
	"19.6": "a store is not part of the formats that are exchanged",
}

// known are vectors that the packages are known to fail, each with the reason. Empty is the goal.
var known = map[string]string{}

func TestVectors(t *testing.T) {
	ran := map[string]int{}
	skipped := map[string]bool{}
	for _, v := range readVectors(t) {
		if elsewhere[v.Layer] != "" {
			continue
		}
		run, claimed := runners[v.Layer]
		if !claimed {
			t.Errorf("%s: no runner claims it", v.Path())
			continue
		}
		ran[v.Layer]++
		t.Run(v.Path(), func(t *testing.T) {
			if why := known[v.Path()]; why != "" {
				skipped[v.Path()] = true
				t.Skip(why)
			}
			run(t, v)
		})
	}
	for path := range known {
		must.True(t, skipped[path], "the table of known failures names no vector: %s", path)
	}
	for layer := range runners {
		must.True(t, ran[layer] != 0, "no case of the layer %s", layer)
	}
}

// TestBadVectorsNameAClass looks for the class of error in each case that must be refused, in no other,
// and for a case of each class.
func TestBadVectorsNameAClass(t *testing.T) {
	cited := map[string]bool{}
	for _, v := range readVectors(t) {
		var e struct{ Error string }
		_ = json.Unmarshal(v.Expect, &e) // what expects no error is no object with one
		if (e.Error != "") != (v.Fails != "") {
			t.Errorf("%s: fails %q, expects the error %q", v.Path(), v.Fails, e.Error)
		}
		if strings.Contains(v.Name, "bad-") && v.Layer != "signature" && v.Fails == "" {
			t.Errorf("%s: is called bad and names no class of error", v.Path())
		}
		cited[v.Fails] = true
	}
	for class := range classes {
		must.True(t, cited[class], "no case fails with %s", class)
	}
}

var (
	clauseHead = regexp.MustCompile(`^#{2,3} (\d+(?:\.\d+)?)\.? `)
	firstGroup = 1
	lastGroup  = 14
)

// specText is SPEC.md and history.md, one after the other.
func specText(t *testing.T) string {
	t.Helper()
	all := ""
	for _, name := range []string{"SPEC.md", "history.md"} {
		data := must.Get(os.ReadFile(name))(t)
		all += string(data)
	}
	return all
}

// clauses are the numbers of the clauses of the specification: `## n.` and `### n.m`.
func clauses(t *testing.T) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(specText(t)) {
		if m := clauseHead.FindStringSubmatch(line); m != nil {
			all = append(all, m[1])
		}
	}
	must.Require(t, len(all) >= 40, "the specification has only %d clauses", len(all))
	return all
}

// TestSpecificationStaysReadable bounds its lines.
func TestSpecificationStaysReadable(t *testing.T) {
	for line := range strings.Lines(specText(t)) {
		n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
		must.True(t, n <= 120, "%d columns, limit 120: %s", n, line)
	}
	data, err := os.ReadFile("SPEC.md")
	n := strings.Count(string(data), "\n")
	must.True(t, err == nil && n <= 900, "SPEC.md has %d lines, limit 900, %v", n, err)
}

func TestEveryClauseHasVectors(t *testing.T) {
	has := map[string]bool{}
	numbers := clauses(t)
	begun := map[string]bool{} // groups after lastGroup that have a vector need all of theirs
	for _, v := range readVectors(t) {
		has[v.Clause] = true
		begun[strings.Split(v.Clause, ".")[0]] = true
		if !slices.Contains(numbers, v.Clause) {
			t.Errorf("%s: the specification has no clause %q", v.Path(), v.Clause)
		}
	}
	for _, n := range numbers {
		text, _, numbered := strings.Cut(n, ".")
		group, _ := strconv.Atoi(text)
		if group < firstGroup || group > lastGroup && !begun[text] || !numbered {
			continue
		}
		switch why, excused := untested[n]; {
		case !has[n] && !excused:
			t.Errorf("no vector for clause %s", n)
		case has[n] && excused:
			t.Errorf("clause %s has vectors: its excuse %q is stale", n, why)
		}
	}
}

// TestEveryLayerIsExplained looks for each layer of the vectors in what says how to run them.
func TestEveryLayerIsExplained(t *testing.T) {
	guide := must.Get(os.ReadFile("README.md"))(t)
	for layer := range runners {
		must.True(t, strings.Contains(string(guide), "`"+layer+"`"),
			"README.md says nothing of the layer %s", layer)
	}
}

// is matches errors that are marked by m.
func is(m error) func(error) bool {
	return func(err error) bool { return errors.Is(err, m) }
}

// as matches errors that hold data of the type T.
func as[T error](err error) bool {
	var e T
	return errors.As(err, &e)
}

// classes say, of each class of error, whether an error is of it: README.md, "Classes of errors".
var classes = map[string]func(error) bool{
	"encoding": func(err error) bool { return errors.Is(err, ipld.ErrInvalid) && !errors.Is(err, graph.ErrInvalid) },
	"record":   is(ipld.ErrInvalid),
	"field":    func(err error) bool { return as[*graph.FieldError](err) && !errors.Is(err, ipld.ErrInvalid) },
	"cid":      is(ipld.ErrCID), "json": is(ipld.ErrJSON),
	"entry": is(prolly.ErrInput), "tree": is(store.ErrCorrupt), "missing": is(store.ErrNotFound),
	"change": func(err error) bool { return errors.Is(err, graph.ErrInvalid) && as[*graph.LineError](err) },
	"circle": as[*state.CircleError], "file": is(car.ErrFormat), "exists": is(fs.ErrExist),
}

// refusal fails the test unless there is an error of the class that the vector names exactly where it
// names one. It returns whether the case is settled.
func refusal(t *testing.T, v vector, err error) bool {
	t.Helper()
	switch {
	case v.Fails == "" && err != nil:
		t.Fatalf("refused: %v", err)
	case v.Fails == "":
		return false
	case err == nil:
		t.Fatalf("accepted what must be refused: %s", v.Expect)
	case classes[v.Fails] == nil:
		t.Fatalf("there is no class of errors %q", v.Fails)
	case !classes[v.Fails](err):
		t.Fatalf("refused, but not as %s (%s): %v", v.Fails, v.Expect, err)
	}
	return true
}
