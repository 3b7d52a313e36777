package care_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestPurgeSigned signs what a purge writes when it is known: the redactions at once, then the commits of all branches
// at once. Nothing is erased before.
func TestPurgeSigned(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := repokit.OpenPlain(t, dir)
	repokit.FillSecret(t, r)
	key := must.Get(commit.NewSecret(bytes.NewReader(bytes.Repeat([]byte{1}, commit.KeyLen))))(t)
	made := state.Signatures{}
	opt := care.PurgeOptions{Stamp: repokit.By}
	opt.Sign = made.Sign
	want := repokit.PurgeZed(t, r, care.PurgeOptions{DryRun: true})
	for _, records := range []int{len(want.Erased), len(want.Branches)} {
		found := len(repokit.Found(t, dir, st, repokit.Secrets))
		var lacks *state.UnsignedError
		if _, err := care.Purge(t.Context(), r, "zed", opt); !errors.As(err, &lacks) || len(lacks.Records) != records {
			t.Fatalf("%v: want %d records", err, records)
		}
		must.Equal(t, len(repokit.Found(t, dir, st, repokit.Secrets)), found, "texts are in")
		for _, record := range lacks.Records {
			signature := must.Get(key.Sign(record))(t)
			made.Add(record, signature)
		}
	}
	res, err := care.Purge(t.Context(), r, "zed", opt)
	if err != nil || len(res.Branches) != len(want.Branches) || len(res.Erased) != len(want.Erased) {
		t.Fatalf("%+v, %v", res, err)
	}
	if where := repokit.Found(t, dir, st, repokit.Secrets); len(where) > 0 {
		t.Errorf("text is left: %v", where)
	}
	repokit.CheckClean(t, r)
}
