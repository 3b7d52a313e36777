package repo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// topOf is the digest of a scope, "" for the root.
func topOf(t testing.TB, s *repo.Snapshot, key string) *distill.Digest {
	t.Helper()
	var id graph.ID
	if key != "" {
		id = graph.NodeID(key)
	}
	d := digestsOf(t, s, repo.DigestOptions{})
	top, _, err := d.Top(t.Context(), d.Blocks, id)
	if err != nil || top == nil {
		t.Fatalf("digest of %q: %v, %v", key, top, err)
	}
	return top
}

func textFor(d *distill.Digest, text string) repo.DigestText {
	return repo.DigestText{Scope: d.Scope, Label: d.Label, Source: d.Source, Text: text, Model: "m"}
}

func writeTexts(r *repo.Repo, branch string, texts ...repo.DigestText) (*repo.DigestTextsResult, error) {
	return r.WriteDigests(context.Background(), distill.Default(), texts, repo.CommitOptions{Stamp: by, Branch: branch, Message: "texts"})
}

func mustWrite(t testing.TB, r *repo.Repo, branch string, texts ...repo.DigestText) *repo.DigestTextsResult {
	t.Helper()
	res, err := writeTexts(r, branch, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// textOf is the text that a model wrote of a digest, "" for none.
func textOf(t testing.TB, s *repo.Snapshot, key string) string {
	t.Helper()
	w, refused, err := s.DigestText(t.Context(), topOf(t, s, key).Source)
	if err != nil || refused {
		t.Fatalf("text of %q: %v, %v", key, refused, err)
	}
	if w == nil {
		return ""
	}
	return w.Text
}

// TestWrittenTexts: a text is kept while what it is of is the same, comes back with that, and is no fact.
func TestWrittenTexts(t *testing.T) {
	r, _ := overMem(t)
	lines(t, r, projects(30))
	before := head(t, r)
	res := mustWrite(t, r, "", textFor(topOf(t, before, ""), "A harbour.\nIts projects."),
		textFor(topOf(t, before, "p1"), "The first project."))
	if res.Graph != before.Graph() || res.NoChange || res.Dropped != 0 || head(t, r).DigestTexts() != 2 {
		t.Fatalf("%+v", res)
	}
	if got := textOf(t, head(t, r), ""); got != "A harbour.\nIts projects." {
		t.Errorf("read %q", got)
	}
	if again := mustWrite(t, r, "", textFor(topOf(t, before, "p1"), "The first project.")); !again.NoChange {
		t.Errorf("the same again is a change: %+v", again)
	}
	changed := lines(t, r, `{"node":{"key":"t1","type":"Task","summary":"Task 1 is done."}}`)
	for _, key := range []string{"", "p1"} {
		if got := textOf(t, head(t, r), key); got != "" {
			t.Errorf("%q: a text of what was is shown: %q", key, got)
		}
	}
	if _, err := r.Revert(t.Context(), changed.Commit.String(), options("")); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, head(t, r), "p1"); got == "" {
		t.Error("the text does not come back with what it is of")
	}
	lines(t, r, `{"node":{"key":"t1","type":"Task","summary":"Task 1 is done again."}}`)
	res = mustWrite(t, r, "", textFor(topOf(t, head(t, r), "p2"), "The second project."))
	if res.Dropped != 2 || head(t, r).DigestTexts() != 1 {
		t.Errorf("dropped %d, left %d", res.Dropped, head(t, r).DigestTexts())
	}
	gc(t, r, 1)
	if got := textOf(t, head(t, r), "p2"); got != "The second project." {
		t.Errorf("after a collection %q", got)
	}
	checkClean(t, r)
}

func TestWrittenTextsRefuse(t *testing.T) {
	r, _ := overMem(t)
	lines(t, r, projects(12))
	root := topOf(t, head(t, r), "")
	at := head(t, r).CID()
	stale := textFor(root, "x")
	stale.Source[3]++
	gone := textFor(root, "x")
	gone.Label = "0123"
	secret := textFor(root, "The key is AKIAQ3EGR7LMX5WZPYTN for all.")
	model := textFor(root, "x")
	model.Model = "a\nb"
	for name, c := range map[string]struct {
		text repo.DigestText
		is   error
	}{
		"another source": {stale, repo.ErrConflict}, "no digest": {gone, repo.ErrConflict},
		"credential": {secret, repo.ErrSecret}, "empty": {textFor(root, " \n"), repo.ErrInvalid},
		"control":  {textFor(root, "a\x1b[1m"), repo.ErrInvalid},
		"long":     {textFor(root, strings.Repeat("harbour ", 500)), repo.ErrInvalid},
		"too long": {textFor(root, strings.Repeat("x", distill.MaxWritten+1)), repo.ErrInvalid},
		"UTF-8":    {textFor(root, "a\xff"), repo.ErrInvalid}, "model": {model, repo.ErrInvalid},
	} {
		if _, err := writeTexts(r, "", textFor(topOf(t, head(t, r), "p1"), "fine"), c.text); !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := writeTexts(r, "", make([]repo.DigestText, repo.MaxDigestTexts+1)...); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("too many: %v", err)
	}
	if head(t, r).CID() != at {
		t.Error("something was written")
	}
}

// digestsTree is the root of the tree of texts of a branch's commit.
func digestsTree(t testing.TB, r *repo.Repo, rev string) ipld.CID {
	t.Helper()
	s, err := r.Snapshot(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return s.Commit().Digests
}

// TestWrittenTextsMerge: in whatever order branches with texts are merged, the same texts are left.
func TestWrittenTextsMerge(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 7))
		r, _ := overMem(t)
		lines(t, r, projects(20))
		base := mustWrite(t, r, "", textFor(topOf(t, head(t, r), "p4"), "Base.")).Commit
		var sides [3]ipld.CID
		for i := range sides {
			branch := fmt.Sprintf("s%d", i)
			fork(t, r, branch, base)
			for _, key := range []string{"", "p0", "p1", "p4"} {
				if rng.IntN(3) > 0 {
					mustWrite(t, r, branch, textFor(topOf(t, head(t, r), key), fmt.Sprintf("Text %d.", rng.IntN(3))))
				}
			}
			s, err := r.Snapshot(t.Context(), branch)
			if err != nil {
				t.Fatal(err)
			}
			sides[i] = s.CID()
		}
		trees := map[ipld.CID]bool{}
		for _, order := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}} {
			graphOf(t, r, sides[order[0]], sides[order[1]])
			if _, err := r.Merge(t.Context(), sides[order[2]].String(), options("into")); err != nil {
				t.Fatal(err)
			}
			trees[digestsTree(t, r, "into")] = true
		}
		graphOf(t, r, sides[0], base)
		same := digestsTree(t, r, "into") == digestsTree(t, r, "s0")
		if len(trees) != 1 || !same {
			t.Fatalf("seed %d: the order decides: %v, with the base the same: %v", seed, trees, same)
		}
		checkClean(t, r)
	}
}

// TestWrittenTextsTravel: a pack has the texts, and a pack of what is new those that are new.
func TestWrittenTextsTravel(t *testing.T) {
	from, to := openMem(t), openMem(t)
	lines(t, from, projects(20))
	mustWrite(t, from, "", textFor(topOf(t, head(t, from), ""), "All of it."))
	tracked := graph.RefName("refs/remotes/origin/heads/main")
	travel := func(opt repo.PackOptions, before *ipld.CID) (*repo.Snapshot, []byte) {
		t.Helper()
		ref := mainRef(t, from)
		opt.Refs = []repo.Ref{ref}
		file := pack(t, from, opt)
		if _, err := receive(t, to, file, repo.RefUpdate{Ref: tracked, To: ref.Target, From: before}); err != nil {
			t.Fatal(err)
		}
		s, err := to.At(t.Context(), ref.Target)
		if err != nil {
			t.Fatal(err)
		}
		return s, file
	}
	s, _ := travel(repo.PackOptions{}, nil)
	if got := textOf(t, s, ""); got != "All of it." {
		t.Errorf("received %q", got)
	}
	first := s.CID()
	mustWrite(t, from, "", textFor(topOf(t, head(t, from), "p1"), "The first."))
	s, file := travel(repo.PackOptions{Since: []ipld.CID{first}}, &first)
	if bytes.Contains(file, []byte("All of it.")) || textOf(t, s, "p1") != "The first." || textOf(t, s, "") == "" {
		t.Error("a pack of what is new has another text, or not the new one")
	}
}

// TestPurgeErasesTexts: what a model wrote of a node goes with it from all commits, and nothing else does.
func TestPurgeErasesTexts(t *testing.T) {
	r, st := overMem(t)
	lines(t, r, projects(40))
	mustWrite(t, r, "", textFor(topOf(t, head(t, r), ""), "Whole as it was."),
		textFor(topOf(t, head(t, r), "p0"), "Scope zero of t5."), textFor(topOf(t, head(t, r), "p1"), "Scope one."))
	lines(t, r, `{"node":{"key":"t5","type":"Task","summary":"Task 5 is another."}}`)
	mustWrite(t, r, "", textFor(topOf(t, head(t, r), "p0"), "Scope zero by now."))
	has := func(text string) (found bool) {
		err := st.Facts().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
			found = found || bytes.Contains(b.Data, []byte(text))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	res, err := r.Purge(t.Context(), "t5", repo.PurgeOptions{Stamp: by})
	if err != nil {
		t.Fatal(err)
	}
	if n := kinds(res.Erased)["digest"]; n != 3 {
		t.Errorf("%d texts erased: %+v", n, res.Erased)
	}
	for _, text := range []string{"Whole as it was", "Scope zero of t5", "Scope zero by now"} {
		if has(text) {
			t.Errorf("%q is still there", text)
		}
	}
	if got := textOf(t, head(t, r), "p1"); got != "Scope one." {
		t.Errorf("the text of a scope without the node is %q", got)
	}
	checkClean(t, r)
	mustWrite(t, r, "", textFor(topOf(t, head(t, r), "p0"), "Scope zero, without."))
	if n := head(t, r).DigestTexts(); n != 2 {
		t.Errorf("%d texts, want that of p1 and the new one", n)
	}
	gc(t, r, 1)
	checkClean(t, r)
}

// TestPurgeErasesTextsOfText: a text that holds what is purged goes, and one of a node that did.
func TestPurgeErasesTextsOfText(t *testing.T) {
	r, _ := overMem(t)
	lines(t, r, projects(20)+`{"node":{"key":"s","type":"Task","summary":"The wine cellar code is 7741-blue."}}`+"\n"+
		`{"edge":{"type":"part-of","src":"s","dst":"p2"}}`)
	mustWrite(t, r, "", textFor(topOf(t, head(t, r), "p1"), "Wine Cellar: code is 7741 blue."),
		textFor(topOf(t, head(t, r), "p2"), "Of a cellar."), textFor(topOf(t, head(t, r), "p3"), "Of boats."))
	res, err := r.PurgeText(t.Context(), "code is 7741-blue", repo.PurgeOptions{Stamp: by})
	if err != nil {
		t.Fatal(err)
	}
	if n := kinds(res.Erased)["digest"]; n != 2 {
		t.Errorf("%d texts erased: %+v", n, res.Erased)
	}
	if got := textOf(t, head(t, r), "p3"); got != "Of boats." {
		t.Errorf("another text is %q", got)
	}
	checkClean(t, r)
}

// TestWrittenTextsAreTouched: a guard is asked about texts, however they come onto a branch.
func TestWrittenTextsAreTouched(t *testing.T) {
	r, _ := overMem(t)
	lines(t, r, projects(12))
	var kinds []repo.TouchKind
	stamp := by
	stamp.Guard = func(touch repo.Touch) error {
		if !slices.Contains(kinds, touch.Kind) {
			kinds = append(kinds, touch.Kind)
		}
		return nil
	}
	_, err := r.WriteDigests(t.Context(), distill.Default(),
		[]repo.DigestText{textFor(topOf(t, head(t, r), ""), "Whole.")}, repo.CommitOptions{Stamp: stamp})
	if err != nil || !slices.Equal(kinds, []repo.TouchKind{repo.TouchDigest}) {
		t.Errorf("asked about %v, %v", kinds, err)
	}
}

// TestWrittenTextsThatFit: of texts that do not need each other those that can be kept are, and the rest is told of.
func TestWrittenTextsThatFit(t *testing.T) {
	r, _ := overMem(t)
	lines(t, r, projects(20))
	write := func(texts ...repo.DigestText) *repo.DigestTextsResult {
		t.Helper()
		res, err := r.WriteDigestsThatFit(t.Context(), distill.Default(), texts, repo.CommitOptions{Stamp: by})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	gone := textFor(topOf(t, head(t, r), "p1"), "Of a text that is purged.")
	mustWrite(t, r, "", gone)
	if _, err := r.PurgeText(t.Context(), "text that is purged", repo.PurgeOptions{Stamp: by}); err != nil {
		t.Fatal(err)
	}
	stale := textFor(topOf(t, head(t, r), ""), "Whole.")
	stale.Source[3]++
	fits := textFor(topOf(t, head(t, r), "p0"), "Scope zero.")
	res := write(fits, gone, stale)
	if len(res.Refused) != 2 || !errors.Is(res.Refused[1], store.ErrRedacted) ||
		!errors.Is(res.Refused[2], repo.ErrConflict) || textOf(t, head(t, r), "p0") != "Scope zero." {
		t.Errorf("%+v", res)
	}
	if res = write(stale); len(res.Refused) != 1 || !res.NoChange {
		t.Errorf("nothing that fits is a change: %+v", res)
	}
}

// TestWrittenTextsReportModel: what a merge and a file bring is looked at in the name of the model too.
func TestWrittenTextsReportModel(t *testing.T) {
	r, to := openMem(t), openMem(t)
	lines(t, r, projects(12))
	fork(t, r, "side", head(t, r).CID())
	text := textFor(topOf(t, head(t, r), "p1"), "Scope one.")
	text.Model = awsKey
	stamp := by
	stamp.Secrets.Allow = []string{"aws-access-token"}
	opt := repo.CommitOptions{Stamp: stamp, Branch: "side"}
	if _, err := r.WriteDigests(t.Context(), distill.Default(), []repo.DigestText{text}, opt); err != nil {
		t.Fatal(err)
	}
	isModel := func(f repo.SecretFinding) bool { return f.Field == "digest.model" }
	lines(t, r, `{"node":{"key":"x","type":"Thing","summary":"One more."}}`)
	merged, err := r.Merge(t.Context(), "side", options(""))
	if err != nil || !slices.ContainsFunc(merged.Secrets.Findings, isModel) {
		t.Errorf("merge: %+v, %v", merged, err)
	}
	file, _ := export(t, r, repo.ExportOptions{All: true})
	res, err := tryImport(to, file, repo.ImportOptions{Stamp: by})
	if err != nil || !slices.ContainsFunc(res.Secrets.Findings, isModel) {
		t.Errorf("import: %+v, %v", res, err)
	}
}
