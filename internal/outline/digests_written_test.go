package outline_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// topOf is the digest of a scope, "" for the root.
func topOf(t testing.TB, s *core.Snapshot, key string) *distill.Digest {
	t.Helper()
	var id graph.ID
	if key != "" {
		id = graph.NodeID(key)
	}
	d := digestsOf(t, s, outline.DigestOptions{})
	top, _, err := d.Top(t.Context(), d.Blocks, id)
	must.Require(t, err == nil && top != nil, "digest of %q: %v, %v", key, top, err)
	return top
}

func mustWrite(t testing.TB, r *core.Repo, branch string, texts ...outline.DigestText) *outline.DigestTextsResult {
	t.Helper()
	return must.Get(repokit.WriteTexts(r, branch, texts...))(t)
}

// textOf is the text that a model wrote of a digest, "" for none.
func textOf(t testing.TB, s *core.Snapshot, key string) string {
	t.Helper()
	w, refused, err := outline.ReadDigestText(t.Context(), s, topOf(t, s, key).Source)
	must.Require(t, err == nil && !refused, "text of %q: %v, %v", key, refused, err)
	if w == nil {
		return ""
	}
	return w.Text
}

// TestWrittenTexts: a text is kept while its source is the same, returns with the source, and is no fact.
func TestWrittenTexts(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(30))
	before := repokit.Head(t, r)
	res := mustWrite(t, r, "", repokit.TextFor(topOf(t, before, ""), "A harbour.\nIts projects."),
		repokit.TextFor(topOf(t, before, "p1"), "The first project."))
	must.Require(t, res.Graph == before.Graph() && !res.NoChange && res.Dropped == 0 &&
		repokit.Head(t, r).State.Digests.Len() == 2, "%+v", res)
	must.Equal(t, textOf(t, repokit.Head(t, r), ""), "A harbour.\nIts projects.", "read")
	again := mustWrite(t, r, "", repokit.TextFor(topOf(t, before, "p1"), "The first project."))
	must.True(t, again.NoChange, "the same again is a change: %+v", again)
	changed := repokit.Lines(t, r, `{"node":{"key":"t1","type":"Task","summary":"Task 1 is done."}}`)
	for _, key := range []string{"", "p1"} {
		must.Equal(t, textOf(t, repokit.Head(t, r), key), "", key, ": a text of what was is shown")
	}
	must.Get(merging.Revert(t.Context(), r, changed.Commit.String(), repokit.Options("")))(t)
	must.True(t, textOf(t, repokit.Head(t, r), "p1") != "", "the text does not come back with what it is of")
	repokit.Lines(t, r, `{"node":{"key":"t1","type":"Task","summary":"Task 1 is done again."}}`)
	res = mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p2"), "The second project."))
	must.Equal(t, res.Dropped, 2, "dropped")
	must.Equal(t, repokit.Head(t, r).State.Digests.Len(), 1, "dropped")
	repokit.Gc(t, r, 1)
	must.Equal(t, textOf(t, repokit.Head(t, r), "p2"), "The second project.", "after a collection")
	repokit.CheckClean(t, r)
}

func TestWrittenTextsRefuse(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(12))
	root := topOf(t, repokit.Head(t, r), "")
	at := repokit.Head(t, r).CID()
	stale := repokit.TextFor(root, "x")
	stale.Source[3]++
	gone := repokit.TextFor(root, "x")
	gone.Label = "0123"
	secret := repokit.TextFor(root, "The key is AKIAQ3EGR7LMX5WZPYTN for all.")
	model := repokit.TextFor(root, "x")
	model.Model = "a\nb"
	for name, c := range map[string]struct {
		text outline.DigestText
		is   error
	}{
		"another source": {stale, state.ErrConflict}, "no digest": {gone, state.ErrConflict},
		"credential": {secret, state.ErrSecret}, "empty": {repokit.TextFor(root, " \n"), state.ErrInvalid},
		"control":  {repokit.TextFor(root, "a\x1b[1m"), state.ErrInvalid},
		"long":     {repokit.TextFor(root, strings.Repeat("harbour ", 500)), state.ErrInvalid},
		"too long": {repokit.TextFor(root, strings.Repeat("x", distill.MaxWritten+1)), state.ErrInvalid},
		"UTF-8":    {repokit.TextFor(root, "a\xff"), state.ErrInvalid}, "model": {model, state.ErrInvalid},
	} {
		_, err := repokit.WriteTexts(r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "fine"), c.text)
		must.Fail(t, err, c.is, name)
	}
	must.Equal(t, repokit.Head(t, r).CID(), at, "something was written")
}

// digestsTree is the root of the tree of texts of a branch's commit.
func digestsTree(t testing.TB, r *core.Repo, rev string) ipld.CID {
	t.Helper()
	s := must.Get(r.Snapshot(t.Context(), rev))(t)
	return s.Commit().Digests
}

// TestWrittenTextsMerge: in whatever order branches with texts are merged, the same texts are left.
func TestWrittenTextsMerge(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 7))
		r, _ := repokit.OverMem(t)
		repokit.Lines(t, r, projects(20))
		base := mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p4"), "Base.")).Commit
		var sides [3]ipld.CID
		for i := range sides {
			branch := fmt.Sprintf("s%d", i)
			repokit.Fork(t, r, branch, base)
			for _, key := range []string{"", "p0", "p1", "p4"} {
				if rng.IntN(3) > 0 {
					mustWrite(t, r, branch, repokit.TextFor(topOf(t, repokit.Head(t, r), key), fmt.Sprintf("Text %d.", rng.IntN(3))))
				}
			}
			s := must.Get(r.Snapshot(t.Context(), branch))(t)
			sides[i] = s.CID()
		}
		trees := map[ipld.CID]bool{}
		for _, order := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}} {
			repokit.GraphOf(t, r, sides[order[0]], sides[order[1]])
			must.Get(merging.Merge(t.Context(), r, sides[order[2]].String(), repokit.Options("into")))(t)
			trees[digestsTree(t, r, "into")] = true
		}
		repokit.GraphOf(t, r, sides[0], base)
		same := digestsTree(t, r, "into") == digestsTree(t, r, "s0")
		must.Require(t, len(trees) == 1 && same,
			"seed %d: the order decides: %v, with the base the same: %v", seed, trees, same)
		repokit.CheckClean(t, r)
	}
}

// TestWrittenTextsTravel: a pack has the texts, and an incremental pack has the new ones.
func TestWrittenTextsTravel(t *testing.T) {
	from, to := repokit.OpenMem(t), repokit.OpenMem(t)
	repokit.Lines(t, from, projects(20))
	mustWrite(t, from, "", repokit.TextFor(topOf(t, repokit.Head(t, from), ""), "All of it."))
	tracked := graph.RefName("refs/remotes/origin/heads/main")
	travel := func(opt exchange.PackOptions, before *ipld.CID) (*core.Snapshot, []byte) {
		t.Helper()
		ref := repokit.MainRef(t, from)
		opt.Refs = []core.Ref{ref}
		file := repokit.Pack(t, from, opt)
		must.Get(repokit.Receive(t, to, file, exchange.RefUpdate{Ref: tracked, To: ref.Target, From: before}))(t)
		s := must.Get(to.At(t.Context(), ref.Target))(t)
		return s, file
	}
	s, _ := travel(exchange.PackOptions{}, nil)
	must.Equal(t, textOf(t, s, ""), "All of it.", "received")
	first := s.CID()
	mustWrite(t, from, "", repokit.TextFor(topOf(t, repokit.Head(t, from), "p1"), "The first."))
	s, file := travel(exchange.PackOptions{Since: []ipld.CID{first}}, &first)
	must.True(t, !bytes.Contains(file, []byte("All of it.")) && textOf(t, s, "p1") == "The first." &&
		textOf(t, s, "") != "", "a pack of what is new has another text, or not the new one")
}

// TestPurgeErasesTexts: a purge of a node erases the texts about it from all commits, and nothing else.
func TestPurgeErasesTexts(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, projects(40))
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), ""), "Whole as it was."),
		repokit.TextFor(topOf(t, repokit.Head(t, r), "p0"), "Scope zero of t5."), repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Scope one."))
	repokit.Lines(t, r, `{"node":{"key":"t5","type":"Task","summary":"Task 5 is another."}}`)
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p0"), "Scope zero by now."))
	has := func(text string) (found bool) {
		must.OK(t, st.Facts().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
			found = found || bytes.Contains(b.Data, []byte(text))
			return nil
		}))
		return found
	}
	res := must.Get(care.Purge(t.Context(), r, "t5", care.PurgeOptions{Stamp: repokit.By}))(t)
	must.Equal(t, repokit.Kinds(res.Erased)["digest"], 3)
	for _, text := range []string{"Whole as it was", "Scope zero of t5", "Scope zero by now"} {
		must.True(t, !has(text), "%q is still there", text)
	}
	must.Equal(t, textOf(t, repokit.Head(t, r), "p1"), "Scope one.", "the text of a scope without the node")
	repokit.CheckClean(t, r)
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p0"), "Scope zero, without."))
	must.Equal(t, repokit.Head(t, r).State.Digests.Len(), 2, "texts")
	repokit.Gc(t, r, 1)
	repokit.CheckClean(t, r)
}

// TestPurgeErasesTextsOfText: a purge erases texts that contain the purged text, and texts about an erased node.
func TestPurgeErasesTextsOfText(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(20)+`{"node":{"key":"s","type":"Task","summary":"The wine cellar code is 7741-blue."}}`+"\n"+
		`{"edge":{"type":"part-of","src":"s","dst":"p2"}}`)
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Wine Cellar: code is 7741 blue."),
		repokit.TextFor(topOf(t, repokit.Head(t, r), "p2"), "Of a cellar."), repokit.TextFor(topOf(t, repokit.Head(t, r), "p3"), "Of boats."))
	res := must.Get(care.PurgeText(t.Context(), r, "code is 7741-blue", care.PurgeOptions{Stamp: repokit.By}))(t)
	must.Equal(t, repokit.Kinds(res.Erased)["digest"], 2)
	must.Equal(t, textOf(t, repokit.Head(t, r), "p3"), "Of boats.", "another text")
	repokit.CheckClean(t, r)
}

// TestWrittenTextsAreTouched: a guard is asked about texts, however they come onto a branch.
func TestWrittenTextsAreTouched(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(12))
	var kinds []state.TouchKind
	stamp := repokit.By
	stamp.Guard = func(touch state.Touch) error {
		if !slices.Contains(kinds, touch.Kind) {
			kinds = append(kinds, touch.Kind)
		}
		return nil
	}
	_, err := outline.WriteDigests(t.Context(), r, distill.Default(),
		[]outline.DigestText{repokit.TextFor(topOf(t, repokit.Head(t, r), ""), "Whole.")}, core.CommitOptions{Stamp: stamp})
	must.OK(t, err, "asked about")
	must.Same(t, kinds, []state.TouchKind{core.TouchDigest}, "asked about")
}

// TestWrittenTextsThatFit: of texts that do not depend on each other, valid ones are stored and the others reported.
func TestWrittenTextsThatFit(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(20))
	write := func(texts ...outline.DigestText) *outline.DigestTextsResult {
		t.Helper()
		res, err := outline.WriteDigestsThatFit(t.Context(), r, distill.Default(), texts, core.CommitOptions{Stamp: repokit.By})
		must.OK(t, err)
		return res
	}
	gone := repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Of a text that is purged.")
	mustWrite(t, r, "", gone)
	must.Get(care.PurgeText(t.Context(), r, "text that is purged", care.PurgeOptions{Stamp: repokit.By}))(t)
	stale := repokit.TextFor(topOf(t, repokit.Head(t, r), ""), "Whole.")
	stale.Source[3]++
	fits := repokit.TextFor(topOf(t, repokit.Head(t, r), "p0"), "Scope zero.")
	res := write(fits, gone, stale)
	must.True(t, len(res.Refused) == 2 && errors.Is(res.Refused[1], store.ErrRedacted) &&
		errors.Is(res.Refused[2], state.ErrConflict) && textOf(t, repokit.Head(t, r), "p0") == "Scope zero.",
		"%+v", res)
	res = write(stale)
	must.True(t, len(res.Refused) == 1 && res.NoChange, "nothing that fits is a change: %+v", res)
}

// TestWrittenTextsReportModel: the guard also checks the model's name in merges and imported files.
func TestWrittenTextsReportModel(t *testing.T) {
	r, to := repokit.OpenMem(t), repokit.OpenMem(t)
	repokit.Lines(t, r, projects(12))
	repokit.Fork(t, r, "side", repokit.Head(t, r).CID())
	text := repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Scope one.")
	text.Model = repokit.AwsKey
	stamp := repokit.By
	stamp.Secrets.Allow = []string{"aws-access-token"}
	opt := core.CommitOptions{Stamp: stamp, Branch: "side"}
	must.Get(outline.WriteDigests(t.Context(), r, distill.Default(), []outline.DigestText{text}, opt))(t)
	isModel := func(f state.SecretFinding) bool { return f.Field == "digest.model" }
	repokit.Lines(t, r, `{"node":{"key":"x","type":"Thing","summary":"One more."}}`)
	merged, err := merging.Merge(t.Context(), r, "side", repokit.Options(""))
	must.True(t, err == nil && slices.ContainsFunc(merged.Secrets.Findings, isModel), "merge: %+v, %v", merged, err)
	file, _ := repokit.Export(t, r, exchange.ExportOptions{All: true})
	res, err := repokit.TryImport(to, file, exchange.ImportOptions{Stamp: repokit.By})
	must.True(t, err == nil && slices.ContainsFunc(res.Secrets.Findings, isModel), "import: %+v, %v", res, err)
}
