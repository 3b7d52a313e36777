package repokit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// The texts of the node to be purged: what must not be left anywhere.
var (
	SecretSummary = "Zerelda keeps the vault code 7391"
	secretContext = "from the letters of Quillfeather"
	SecretProp    = "xylophone street 12"
	SecretLong    = strings.Repeat("the cellar door is painted vermilion; ", 8000)
	Secrets       = []string{
		SecretSummary, secretContext, SecretProp, "vermilion", "zerelda", "Zerelda", "vermilion",
		"Quillfeather", "quillfeath", "xylophon",
	}
)

// OpenPlain opens a repository on disk whose tables are not compressed.
func OpenPlain(t testing.TB, dir string) (*core.Repo, *pebble.Store) {
	t.Helper()
	st, err := pebble.Open(dir, pebble.Options{
		Create: true, Uncompressed: true, MemTableBytes: 128 << 10,
	})
	must.OK(t, err)
	r, err := care.New(t.Context(), st, By, core.Options{})
	if err != nil {
		t.Fatal(errors.Join(err, st.Close()))
	}
	return r, st
}

// NodeLine returns the change line of a Person with more JSON fields, each after a comma, and no newline.
func NodeLine(key string, fields string) string {
	return fmt.Sprintf(`{"node":{"key":%q,"type":"Person"%s}}`, key, fields)
}

// SecretNode is the node in full.
func SecretNode(key string) string {
	return NodeLine(key, fmt.Sprintf(`,"summary":%q,"context":%q,"props":{"home":%q},"content":%q`,
		SecretSummary, secretContext, SecretProp, SecretLong))
}

// FillSecret makes a history with a node to purge, and returns a commit that has it.
func FillSecret(t testing.TB, r *core.Repo) (old ipld.CID) {
	t.Helper()
	ctx := t.Context()
	Lines(t, r, NodeLine("bob", `,"summary":"Bob cooks"`)+"\n"+NodeLine("carol", ``))
	old = Lines(t, r, SecretNode("zed")+`
{"edge":{"type":"knows","src":"bob","dst":"zed"}}
{"edge":{"type":"knows","src":"zed","dst":"carol"}}
{"embedding":{"node":"zed","model":"m","vector":[0.25,-0.5,0.125]}}`).Commit
	tag := core.TagOptions{RefOptions: core.RefOptions{Stamp: By}}
	must.OK(t, must.Err(r.Tags().Create(ctx, "v1", "HEAD", tag)))
	must.OK(t, must.Err(session.StartSession(ctx, r, "s", session.SessionOptions{Stamp: By})))
	for _, text := range []string{"who cooks?", "vault code", "Is it so that " + SecretSummary + "?"} {
		if _, _, err := session.RetrieveIn(ctx, r, "s", retrieve.Request{Text: text}, By); err != nil {
			t.Fatal(err)
		}
	}
	Lines(t, r, `{"node":{"key":"zed","summary":"Zerelda moved to vermilion hall"}}`)
	Branch(t, r, "side", "HEAD~1")
	CommitOn(t, r, "side", `{"node":{"key":"zed","props":{"age":61}}}`)
	_, err := r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(
		`{"node":{"key":"zed","context":"Quillfeather again"}}`), "x"), core.StageOptions{Stamp: By})
	must.OK(t, err)
	for n := range 30 { // so that there are several tables and logs
		text := fmt.Sprintf(`,"content":%q`, strings.Repeat("x ", 9000+n))
		Lines(t, r, NodeLine(fmt.Sprintf("p%d", n), text))
	}
	must.OK(t, must.Err(rank.Retrieve(ctx, Head(t, r), retrieve.Request{Text: "vermilion"})))
	return old
}

// Found lists where any of the texts is: files, and keys and values as they are stored.
func Found(t testing.TB, dir string, st *pebble.Store, texts []string) (where []string) {
	t.Helper()
	in := func(what string, b []byte) {
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				where = append(where, fmt.Sprintf("%q in %s", text, what))
			}
		}
	}
	if st != nil {
		err := st.Keys(context.Background(), func(e pebble.RawEntry) error {
			in(fmt.Sprintf("key %x", e.Key), e.Key)
			in(fmt.Sprintf("value of %x", e.Key), e.Value)
			return nil
		})
		must.OK(t, err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		in(path, b)
		if errors.Is(err, iofs.ErrNotExist) { // old options, removed in the background
			err = nil
		}
		return err
	})
	must.Require(t, err == nil && files >= 5, "%d files: %v", files, err)
	return where
}

// PurgeZed purges the node zed as By.
func PurgeZed(t testing.TB, r *core.Repo, opt care.PurgeOptions) *care.PurgeResult {
	t.Helper()
	opt.Stamp = By
	res := must.Get(care.Purge(t.Context(), r, "zed", opt))(t)
	return res
}

// Kinds counts blocks by their field What.
func Kinds[B care.PurgedBlock | care.SharedBlock | care.PurgeHit](list []B) map[string]int {
	out := make(map[string]int)
	for _, b := range list {
		out[reflect.ValueOf(b).FieldByName("What").String()]++
	}
	return out
}

// OverMem returns a repository in memory and its store. It is checked and closed at the end of the test.
func OverMem(t testing.TB) (*core.Repo, *mem.Store) {
	t.Helper()
	st := mem.New()
	r := OverStore(t, st)
	t.Cleanup(func() { CheckClean(t, r) })
	return r, st
}

// Gc collects, keeping the newest keep operations without a grace; 0 is the default number.
func Gc(t testing.TB, r *core.Repo, keep int) *core.GCResult {
	t.Helper()
	res := must.Get(care.GC(context.Background(), r, care.GCOptions{Stamp: By, KeepOps: keep}))(t)
	return res
}

// Person returns the change line of a numbered node, key pN, without a newline.
func Person(n int) string {
	return fmt.Sprintf(`{"node":{"key":"p%d","type":"Person","summary":"person %d lives"}}`, n, n)
}

// Branch creates a branch at a revision.
func Branch(t testing.TB, r *core.Repo, name, at string) {
	t.Helper()
	must.OK(t, must.Err(r.Branches().Create(t.Context(), name, at, core.RefOptions{Stamp: By})))
}

// CommitOn commits change lines to a branch without a message. On gives one and returns the CID.
func CommitOn(t testing.TB, r *core.Repo, branch, text string) *core.CommitResult {
	t.Helper()
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "x"),
		core.CommitOptions{Stamp: By, Branch: branch})
	must.OK(t, err)
	return res
}

// DropBranch removes a branch even if its commits are on no other.
func DropBranch(t testing.TB, r *core.Repo, name string) {
	t.Helper()
	opt := core.RefOptions{Stamp: By, Force: true}
	must.OK(t, must.Err(r.Branches().Remove(t.Context(), name, opt)))
}
