package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/retrieve"
)

// runCheck asks whether a memory answers a question.
func runCheck(t *testing.T, v vector) {
	var in struct {
		Author     string
		Batches    json.RawMessage
		Text       string
		Thresholds []int64
	}
	var want struct {
		Verdict  string
		Lead     int64
		Missing  [][2]string
		Memories []struct {
			ID                 string
			Coverage, Evidence int64
		}
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	changes := changesInput{Author: in.Author}
	parse(t, in.Batches, &changes.Batches)
	a := apply(t, changes)
	if a.err != nil {
		t.Fatal(a.err)
	}
	th := in.Thresholds
	res, err := memory.Check(t.Context(), a.tip(t), memory.CheckRequest{
		Request: retrieve.Request{Text: in.Text}, Nearest: new(memory.MaxNearest),
		Thresholds: &memory.Thresholds{
			Coverage: th[0], Evidence: th[1], Lead: th[2], WeakCoverage: th[3], WeakEvidence: th[4],
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "verdict", string(res.Verdict), want.Verdict)
	list := res.Nearest
	if res.Best != nil {
		list = append([]*memory.Evidence{res.Best}, list...)
	}
	var got, wanted strings.Builder
	for i, e := range list {
		fmt.Fprintf(&got, "%s %d %d\n", e.ID, e.Coverage, e.Evidence)
		if i == 0 {
			fmt.Fprintf(&got, "lead %d", e.Lead)
			for _, m := range e.Missing {
				fmt.Fprintf(&got, ", %s %q", m.Kind, m.Text)
			}
			fmt.Fprintln(&got)
		}
	}
	for i, e := range want.Memories[:min(len(want.Memories), len(list))] { // of MISS one is not listed
		fmt.Fprintf(&wanted, "%s %d %d\n", e.ID, e.Coverage, e.Evidence)
		if i == 0 {
			fmt.Fprintf(&wanted, "lead %d", want.Lead)
			for _, m := range want.Missing {
				fmt.Fprintf(&wanted, ", %s %q", m[0], m[1])
			}
			fmt.Fprintln(&wanted)
		}
	}
	same(t, "memories", got.String(), wanted.String())
	if len(list) < len(want.Memories)-1 {
		t.Errorf("%d memories, want %d", len(list), len(want.Memories))
	}
}

// runCheckWeight weighs a word.
func runCheckWeight(t *testing.T, v vector) {
	var in struct{ Nodes, Having int64 }
	var want struct{ Weight, Floor int64 }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	weight, floor := memory.CheckWeight(in.Nodes, in.Having)
	same(t, "weight", fmt.Sprint(weight, floor), fmt.Sprint(want.Weight, want.Floor))
}

// runCheckThresholds reads the thresholds of a record of profiles.
func runCheckThresholds(t *testing.T, v vector) {
	var in struct{ Block string }
	var want struct {
		Coverage, Evidence, Lead, WeakCoverage, WeakEvidence int64
		Cosines                                              map[string]int64
		Error                                                string
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	got, _, err := memory.ThresholdsIn(readProfiles(t, in.Block))
	if want.Error != "" {
		if err == nil {
			t.Errorf("taken: %+v", got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(memory.Thresholds{
		Coverage: want.Coverage, Evidence: want.Evidence, Lead: want.Lead,
		WeakCoverage: want.WeakCoverage, WeakEvidence: want.WeakEvidence, Cosines: want.Cosines,
	}) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestCheckWords holds the lists that the package has to those of the specification.
func TestCheckWords(t *testing.T) {
	want, err := os.ReadFile("check-words.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "memory", "check_words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("memory/check_words.txt is not spec/check-words.txt")
	}
}
