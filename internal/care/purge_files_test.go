package care_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestPurgeCallsFiles: Files gets the texts before the store changes, and again afterwards. Its first error leaves
// everything unchanged; after its second one the same purge continues.
func TestPurgeCallsFiles(t *testing.T) {
	ctx := t.Context()
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.NodeLine("zed", `,"summary":"`+repokit.SecretSummary+`"`)+"\n"+repokit.NodeLine("bob", ""))
	broken := errors.New("broken")
	var calls []string
	var held bool
	failAt := ""
	files := func(ctx context.Context, holds func(string) bool, dry bool) (bool, error) {
		_, _, err := repokit.Head(t, r).Node(ctx, graph.NodeID("zed"))
		call := fmt.Sprintf("there %v, dry %v", err == nil, dry)
		calls = append(calls, call)
		must.Check(t, !holds("zed") && !holds("bob cooks"), "a text that is too short, or another one, counts")
		held = holds("it says: " + repokit.SecretSummary + "!")
		if call == failAt {
			return false, broken
		}
		return held, nil
	}
	purge := func(dry bool) error {
		calls, held = nil, false
		_, err := care.Purge(ctx, r, "zed", care.PurgeOptions{Stamp: repokit.By, Files: files, DryRun: dry})
		return err
	}
	if err := purge(true); err != nil || !slices.Equal(calls, []string{"there true, dry true"}) || !held {
		t.Errorf("a dry run: %q, held %v, %v", calls, held, err)
	}
	failAt = "there true, dry false"
	must.Fail(t, purge(false), broken)
	if n := repokit.NodeByKey(t, repokit.Head(t, r), "zed"); n.Summary != repokit.SecretSummary {
		t.Errorf("something was erased: %+v", n)
	}
	if note, err := st.Note(ctx); note != nil || err != nil {
		t.Errorf("a note is left: %x, %v", note, err)
	}
	failAt = "there false, dry false"
	if err := purge(false); !errors.Is(err, broken) || !held {
		t.Errorf("files fail later: held %v, %v", held, err)
	}
	failAt = ""
	must.OK(t, purge(false), "the purge again")
	must.Equal(t, len(calls), 2, "the purge again")
}

// TestPurgeTextInFilesAlone purges a text that only files outside the store contain.
func TestPurgeTextInFilesAlone(t *testing.T) {
	ctx := t.Context()
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.NodeLine("bob", ""))
	for _, held := range []bool{true, false} {
		calls := 0
		files := func(_ context.Context, holds func(string) bool, dry bool) (bool, error) {
			if calls++; !holds("THE LETTERS of quillfeather") {
				t.Error("the text in another case does not count")
			}
			return held, nil
		}
		_, err := care.PurgeText(ctx, r, "letters of Quillfeather", care.PurgeOptions{Stamp: repokit.By, Files: files})
		if (err == nil) != held || !held && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("held %v: %v", held, err)
		}
		must.Equal(t, calls, map[bool]int{true: 3, false: 1}[held], "held ", held)
	}
}
