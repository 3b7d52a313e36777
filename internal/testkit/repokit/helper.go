// Package repokit has what the tests of the packages below repo share: memories, models of them, counted stores and
// checks. Tests only.
package repokit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// By is who and when in tests that do not care.
var By = state.Stamp{Author: "Tess Tester", Time: 1_700_000_000_000_000, Command: []string{"test"}}

// OpenMem returns a repository in memory that is checked at the end of the test.
func OpenMem(t testing.TB) *core.Repo {
	t.Helper()
	r := OverStore(t, AnyStore(t))
	t.Cleanup(func() { CheckClean(t, r) })
	return r
}

// OverStore returns a repository over a store, closed at the end of the test but not checked: the test may damage it.
func OverStore(t testing.TB, st store.Store) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), st, By, core.Options{}))(t)
	t.Cleanup(func() { must.OK(t, r.Close()) })
	return r
}

// CheckClean fails the test unless fsck finds nothing wrong.
func CheckClean(t testing.TB, r *core.Repo) {
	t.Helper()
	report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
	must.True(t, err == nil, "fsck: %v", err)
	for _, e := range report.Errors {
		t.Errorf("fsck: %s %s: %s", e.Kind, e.CID, e.Message)
	}
}

// Lines commits change lines.
func Lines(t testing.TB, r *core.Repo, text string) *core.CommitResult {
	t.Helper()
	res := must.Get(TryLines(r, text))(t)
	return res
}

// TryLines is Lines, but returns the error.
func TryLines(r *core.Repo, text string) (*core.CommitResult, error) {
	return r.Commit(context.Background(), state.ReadChanges(strings.NewReader(text), "test.jsonl"),
		core.CommitOptions{Stamp: By, Message: "test"})
}

// File commits a file of change lines.
func File(t testing.TB, r *core.Repo, path string) *core.CommitResult {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	res, err := r.Commit(t.Context(), state.ReadChanges(f, path),
		core.CommitOptions{Stamp: By, Message: path})
	must.OK(t, err)
	return res
}

// Head returns the snapshot of HEAD.
func Head(t testing.TB, r *core.Repo) *core.Snapshot {
	t.Helper()
	s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
	return s
}

// Sizes returns the numbers of nodes, edges, marks and embeddings, to be compared at once.
func Sizes(s *core.Snapshot) [4]uint64 {
	n, e, m, v := s.Sizes()
	return [4]uint64{n, e, m, v}
}

// NodeByKey returns a node that the snapshot must have.
func NodeByKey(t testing.TB, s *core.Snapshot, key string) *graph.Node {
	t.Helper()
	n, _, err := s.Node(t.Context(), graph.NodeID(key))
	must.OK(t, err)
	return n
}

// Said returns the text of a message.
func Said(t testing.TB, r *core.Repo, m commit.Message) string {
	t.Helper()
	text := must.Get(r.Message(t.Context(), m))(t)
	return text
}

// TwoPeople are change lines of a person and a service, with an edge between them.
const TwoPeople = `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra","props":{"team":"infra"}}}
{"node":{"key":"svc/billing","type":"Service","summary":"Charges customers"}}
{"edge":{"type":"owns","src":"alice","dst":"svc/billing","weight":0.5,"props":{"since":2024}}}
`

// TextsKey returns view.TextsKey of a graph.
func TextsKey(graph ipld.CID) ipld.CID { return view.TextsKey(graph) }

// Numbered returns a different CID for each number, the hash of i as 8 bytes.
func Numbered(codec ipld.Codec, i int) ipld.CID {
	return ipld.Sum(codec, binary.BigEndian.AppendUint64(nil, uint64(i)))
}

// Read returns the changes of a text of change lines, as of a file test.jsonl.
func Read(text string) state.Changes {
	return state.ReadChanges(strings.NewReader(text), "test.jsonl")
}

// Credentials are put together here, so that the source has none.
var (
	AwsKey  = "AKIA" + "Q4WK2ZBR7DNX5TFM"
	Doubted = "api_key = k3J8s9Dk" + "2Lq0Zx7Vb5Nm1Qw4" // reported, not refused
)

// RecordBy is the stamp of recorded receipts in tests.
var RecordBy = state.Stamp{Author: "erin", Time: 1_780_000_000_000_000, Command: []string{"retrieve"}}

// StageLines stages change lines as By in the default stage.
func StageLines(t testing.TB, r *core.Repo, text string) *core.StageResult {
	t.Helper()
	res, err := r.Stages().Add(t.Context(), state.ReadChanges(strings.NewReader(text), "test.jsonl"),
		core.StageOptions{Stamp: By})
	must.OK(t, err)
	return res
}

// TitleOf returns the title of the newest commit, by the titler.
func TitleOf(t testing.TB, r *core.Repo, titles history.Titler) string {
	t.Helper()
	for e, err := range history.Log(t.Context(), r, "HEAD") {
		must.OK(t, err)
		got := must.Get(titles.Commit(t.Context(), e.Diff, e.Nodes, e.Edges))(t)
		return got
	}
	t.Fatal("no commit")
	return ""
}

// CommitBy commits lines as somebody at a time.
func CommitBy(t testing.TB, r *core.Repo, who state.Stamp, message, text string) ipld.CID {
	t.Helper()
	if who.Command == nil {
		who.Command = By.Command
	}
	res, err := r.Commit(context.Background(), state.ReadChanges(strings.NewReader(text), "x"),
		core.CommitOptions{Stamp: who, Message: message})
	must.OK(t, err)
	return res.Commit
}

// RefOptions are default options for tests.
var RefOptions = core.RefOptions{Stamp: By}

// Fact commits one node on a branch, "" for the branch of HEAD.
func Fact(t testing.TB, r *core.Repo, branch, key string) ipld.CID {
	t.Helper()
	line := fmt.Sprintf(`{"node":{"key":%q,"type":"T"}}`, key)
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "fact"),
		core.CommitOptions{Stamp: By, Message: key, Branch: branch})
	must.OK(t, err)
	return res.Commit
}

// RefView is all refs of a repository as text.
type RefView map[string]string

// ViewOf reads the refs.
func ViewOf(t must.T, r *core.Repo) RefView {
	refs := must.Get(r.Refs(context.Background()))(t)
	v := RefView{}
	for _, ref := range refs {
		v[string(ref.Name)] = ref.Value()
	}
	return v
}

// Changed returns the names of the refs that differ, ascending, each once.
func (v RefView) Changed(to RefView) []string {
	var names []string
	for _, set := range []RefView{v, to} {
		for name := range set {
			if v[name] != to[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Chain returns a session's records, oldest first, and checks that they are a chain.
func Chain(t testing.TB, r *core.Repo, name string) []*retrieve.Session {
	t.Helper()
	var recs []*retrieve.Session
	var after ipld.CID
	for e, err := range session.SessionLog(t.Context(), r, name) {
		must.OK(t, err)
		if len(recs) > 0 && e.CID != after {
			t.Errorf("record %s follows a link to %s", e.CID, after)
		}
		after = e.Record.Prev
		recs = append([]*retrieve.Session{e.Record}, recs...)
	}
	for i, rec := range recs {
		if rec.Seq != int64(i) || rec.Name != name || rec.Prev.Defined() != (i > 0) {
			t.Errorf("record %d: %+v", i, rec)
		}
	}
	return recs
}

// OnStore works on the store of a closed repository.
func OnStore(t testing.TB, dir string, readOnly bool, fn func(*pebble.Store) error) {
	t.Helper()
	s := must.Get(pebble.Open(dir+"/"+core.DirName, pebble.Options{ReadOnly: readOnly}))(t)
	must.OK(t, errors.Join(fn(s), s.Close()))
}

// ClearIndexes forgets the indexes of a closed repository.
func ClearIndexes(t testing.TB, dir string) {
	t.Helper()
	OnStore(t, dir, false, func(s *pebble.Store) error { return s.Derived().Clear(t.Context()) })
}

// TextFor returns a text by model m for a digest.
func TextFor(d *distill.Digest, text string) outline.DigestText {
	return outline.DigestText{Scope: d.Scope, Label: d.Label, Source: d.Source, Text: text, Model: "m"}
}

// WriteTexts writes texts for digests of the default recipe on a branch, "" for that of HEAD.
func WriteTexts(r *core.Repo, branch string, texts ...outline.DigestText) (*outline.DigestTextsResult, error) {
	return outline.WriteDigests(context.Background(), r, distill.Default(), texts, core.CommitOptions{Stamp: By, Branch: branch, Message: "texts"})
}

// ModelEdge names an edge by the keys of its ends, its type and its own key.
type ModelEdge struct{ Src, Typ, Dst, Key string }

// Members returns the JSON members that name the edge, without braces.
func (e ModelEdge) Members() string {
	s := fmt.Sprintf(`"type":%q,"src":%q,"dst":%q`, e.Typ, e.Src, e.Dst)
	if e.Key != "" {
		s += fmt.Sprintf(`,"key":%q`, e.Key)
	}
	return s
}

// Line returns the change line that sets the edge's property n.
func (e ModelEdge) Line(n int64) string {
	return fmt.Sprintf(`{"edge":{%s,"props":{"n":%d}}}`+"\n", e.Members(), n)
}
