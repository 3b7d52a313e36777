// Package spec_test holds the packages to spec/SPEC.md through the files of spec/vectors.
package spec_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// vector is one file of spec/vectors; README.md says what the members mean.
type vector struct {
	path   string
	Clause string
	Layer  string
	Title  string
	Input  json.RawMessage
	Expect json.RawMessage
}

// refused is the class of the refusal that the vector expects, or empty.
func (v vector) refused() string {
	var e struct{ Error string }
	if json.Unmarshal(v.Expect, &e) != nil {
		return ""
	}
	return e.Error
}

// runners say what happens to the vectors of each layer.
var runners = map[string]func(t *testing.T, v vector){
	"adjacency": runAdjacency, "analysis": runAnalysis, "apply": runChanges,
	"changes": runChanges, "cid": runCID, "codec": runCodec, "commit": runCommit,
	"car": runCAR, "dates": runDates, "dense": runRetrieval, "mean": runMean,
	"entities": runEntities, "signals": runSignals, "links": runLinks, "explore": runExplore,
	"time": runRetrieval, "edge": runRecord, "embedding": runEmbedding, "expand": runRetrieval,
	"export": runRecord,
	"filter": runFilter, "horizon": runHorizon, "redaction": runRedaction,
	"lane": runRetrieval, "merge-erased": runMergeErased, "graph": runRecord, "ids": runIDs, "json": runJSON,
	"mark": runRecord, "node": runNode, "operation": runOperation, "pack": runRetrieval,
	"receipt": runReceipt, "render": runRetrieval, "rerank": runRetrieval, "rewrite": runRetrieval,
	"score": runScore, "session": runRecord, "shortlist": runShortlist, "sketch": runSketch,
	"signature": runSignature, "stage": runRecord, "stats": runStats, "tree": runTree,
	"profile": runRecord, "profile-choice": runProfileChoice, "profile-merge": runProfileMerge,
	"profile-contradicts": runProfileContradicts,
	"tokens":              runTokens, "community": runCommunity, "sentences": runSentences,
	"check": runCheck, "check-weight": runCheckWeight, "check-thresholds": runCheckThresholds,
	"importance": runImportance, "source": runSource, "proposal": runProposal,
	"marking":   runMarking,
	"memory-id": runMemoryID, "likeness": runLikeness, "remember": runRemember,
	"tree-diff": runDiff, "tree-merge": runMerge, "unseen": runUnseen,
}

// untested are the numbered clauses that need no vector of their own, each with the reason.
var untested = map[string]string{
	"19.2": "what may be removed shows in what stays, which is a repository and no case",
	"19.5": "what a purge leaves is files, and which nodes share a block; the tests of purge look",
	"19.6": "a store is not part of the formats that are exchanged",
}

// known are vectors that the packages are known to fail, each with the reason. Empty is the goal.
var known = map[string]string{}

func readVectors(t *testing.T) []vector {
	t.Helper()
	var all []vector
	err := filepath.WalkDir("vectors", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		v := vector{path: strings.TrimPrefix(filepath.ToSlash(path), "vectors/")}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestVectors(t *testing.T) {
	cases := map[string]int{}
	for _, v := range readVectors(t) {
		run, claimed := runners[v.Layer]
		if !claimed || !strings.HasPrefix(v.path, v.Layer+"/") {
			t.Errorf("%s: no runner claims it", v.path)
			continue
		}
		cases[v.Layer]++
		t.Run(strings.TrimSuffix(v.path, ".json"), func(t *testing.T) {
			if why := known[v.path]; why != "" {
				t.Skip(why)
			}
			run(t, v)
		})
	}
	for path := range known {
		if _, err := os.Stat(filepath.Join("vectors", filepath.FromSlash(path))); err != nil {
			t.Errorf("the table of known failures names no vector: %v", err)
		}
	}
	for layer := range runners {
		if cases[layer] == 0 {
			t.Errorf("no case of the layer %s", layer)
		}
	}
}

var (
	clauseHead = regexp.MustCompile(`^#{2,3} (\d+(?:\.\d+)?)\.? `)
	firstGroup = 1
	lastGroup  = 14
)

// clauses are the numbers of the clauses of SPEC.md: `## n.` and `### n.m`.
func clauses(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		if m := clauseHead.FindStringSubmatch(line); m != nil {
			all = append(all, m[1])
		}
	}
	if len(all) < 40 {
		t.Fatalf("SPEC.md has only %d clauses", len(all))
	}
	return all
}

func TestEveryClauseHasVectors(t *testing.T) {
	has := map[string]bool{}
	numbers := clauses(t)
	begun := map[string]bool{} // groups after lastGroup that have a vector need all of theirs
	for _, v := range readVectors(t) {
		has[v.Clause] = true
		begun[strings.Split(v.Clause, ".")[0]] = true
		if !slices.Contains(numbers, v.Clause) {
			t.Errorf("%s: SPEC.md has no clause %q", v.path, v.Clause)
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
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for layer := range runners {
		if !strings.Contains(string(guide), "`"+layer+"`") {
			t.Errorf("README.md says nothing of the layer %s", layer)
		}
	}
}

func TestVectorsAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("makes all vectors")
	}
	cmd := exec.Command("go", "run", "./gen", "-o", "vectors", "-check")
	cmd.Env = append(os.Environ(), "GOARCH=") // of this machine, not of one that is emulated
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// parse reads JSON of a vector and fails the test where it does not fit.
func parse(t *testing.T, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("the vector's JSON: %v", err)
	}
}

// refusal fails the test unless err is one of the marker errors exactly where the vector expects
// a refusal. It returns whether the case is settled.
func refusal(t *testing.T, v vector, err error, markers ...error) bool {
	t.Helper()
	class := v.refused()
	if class == "" {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return false
	}
	if err == nil {
		t.Fatalf("accepted what must be refused: %s", class)
	}
	for _, m := range markers {
		if errors.Is(err, m) {
			return true
		}
	}
	t.Fatalf("refused (%s) with an error of none of the marked kinds: %v", class, err)
	return true
}

// expand reads the notation of bytes: hex, parts separated by spaces, each optionally `*COUNT`.
func expand(t *testing.T, text string) []byte {
	t.Helper()
	var out []byte
	for _, part := range strings.Fields(text) {
		digits, times, repeated := strings.Cut(part, "*")
		n := 1
		var err error
		if repeated {
			n, err = strconv.Atoi(times)
		}
		b, hexErr := hex.DecodeString(digits)
		if err != nil || hexErr != nil {
			t.Fatalf("bad bytes %q", part)
		}
		out = append(out, bytes.Repeat(b, n)...)
	}
	return out
}
