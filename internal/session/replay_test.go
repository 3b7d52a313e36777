package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

func replayed(t testing.TB, r *core.Repo, want int) {
	t.Helper()
	res := must.Get(session.Replay(t.Context(), r, repokit.SessionName))(t)
	must.True(t, res.Identical && res.First == nil && res.Receipts == want && res.Session == repokit.SessionName,
		"replay %+v, first difference %+v", res, res.First)
}

// TestReplay replays a session of 100 retrievals after 50 further commits, reopened, with the indexes cleared, for
// reading and for writing.
func TestReplay(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	reqs := repokit.Some(repokit.Requests(t), 24)
	memory, change := repokit.DemoText(t)
	dir := repokit.InitEmpty(t)
	open := func(opt core.Options) *core.Repo { return must.Get(care.Open(dir, opt))(t) }
	shut := func(r *core.Repo) { must.OK(t, r.Close()) }
	r := open(core.Options{})
	must.OK(t, repokit.Record(r, reqs, memory, change, 50))
	replayed(t, r, len(reqs))
	shut(r)
	r = open(core.Options{ReadOnly: true})
	replayed(t, r, len(reqs))
	var receipts []ipld.CID
	for e, err := range session.SessionLog(t.Context(), r, repokit.SessionName) {
		must.OK(t, err)
		if e.Record.Receipt.Defined() {
			receipts = append(receipts, e.Record.Receipt)
		}
	}
	one, err := session.Replay(t.Context(), r, receipts[3].String())
	must.True(t, err == nil && one.Identical && one.Receipts == 1 && one.Session == "",
		"replay of one receipt: %+v, %v", one, err)
	shut(r)
	repokit.ClearIndexes(t, dir)
	r = open(core.Options{ReadOnly: true})
	replayed(t, r, len(reqs))
	shut(r)
	r = open(core.Options{})
	replayed(t, r, len(reqs))
	repokit.CheckClean(t, r)
	shut(r)
}

// TestReplayByCounter replays with and without the receipt's token counter.
func TestReplayByCounter(t *testing.T) {
	dir := repokit.InitEmpty(t)
	opt := core.Options{Counters: retrieve.Counters{
		"bytes": func(s string) int { return len(s) },
	}}
	r := must.Get(care.Open(dir, opt))(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"alpha"}}`+"\n")
	answer, err := rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{
		Text: "alpha", OutputOptions: retrieve.OutputOptions{Tokenizer: "bytes", Pack: retrieve.PackPassages},
	})
	must.Require(t, err == nil && answer.TokensUsed == len(answer.Items[0].Rendered), "%+v, %v", answer, err)
	must.Get(session.Record(t.Context(), r, session.DefaultSession, answer, repokit.By))(t)
	res, err := session.Replay(t.Context(), r, session.DefaultSession)
	must.True(t, err == nil && res.Identical && res.Receipts == 1, "replay %+v, %v", res, err)
	must.OK(t, r.Close())
	r = must.Get(care.Open(dir, core.Options{ReadOnly: true}))(t)
	_, err = session.Replay(t.Context(), r, session.DefaultSession)
	must.True(t, errors.Is(err, retrieve.ErrTokenizer) && strings.Contains(err.Error(), `"bytes"`),
		"without the counter: error %v", err)
	must.OK(t, r.Close())
}

func TestReplayOfNothing(t *testing.T) {
	r := repokit.OpenMem(t)
	commit := repokit.Lines(t, r, repokit.TwoPeople).Commit
	for name, want := range map[string]error{
		"nobody": store.ErrNotFound, "": state.ErrInvalid, "a b\n": state.ErrInvalid,
		ipld.Sum(ipld.DagCBOR, nil).String(): store.ErrNotFound,
		commit.String():                      nil, // a commit is no receipt: some error
	} {
		_, err := session.Replay(t.Context(), r, name)
		must.True(t, err != nil && (want == nil || errors.Is(err, want)), "%q: error %v, want %v", name, err, want)
	}
	must.Get(session.StartSession(t.Context(), r, "empty", session.SessionOptions{Stamp: repokit.By}))(t)
	res, err := session.Replay(t.Context(), r, "empty")
	must.True(t, err == nil && res.Identical && res.Receipts == 0, "a session without receipts: %+v, %v", res, err)
}

// TestReplayOfLies replaces, one block at a time, what a replay reads by unverified data. Replay reports it, or the
// answer equals the recorded one; it never panics. Damage that a store would report, or a missing block, is always
// reported as damage.
func TestReplayOfLies(t *testing.T) {
	effort.Alone(t)
	stride := effort.Pick(13, 5, 1)
	memory, change := repokit.DemoText(t)
	base := mem.New()
	opt := core.Options{ReadOnly: true}
	r := must.Get(care.New(t.Context(), base, repokit.By, core.Options{}))(t)
	reqs := repokit.Requests(t)
	must.OK(t, repokit.Record(r, []retrieve.Request{reqs[0], reqs[2], reqs[3]}, memory, change, 2))
	truth := testkit.NewTamper(base)
	r = must.Get(care.New(t.Context(), truth, repokit.By, opt))(t)
	replayed(t, r, 3)
	blocks := truth.Read()
	must.Require(t, len(blocks) >= 80, "replay read %d blocks", len(blocks))
	rng := rand.New(rand.NewPCG(repokit.ReplaySeed, 1))
	told, silent := 0, 0
	for i := 0; i < len(blocks); i += stride {
		for _, name := range slices.Sorted(maps.Keys(repokit.Lies)) {
			lie := repokit.Lies[name]
			liar := testkit.NewTamper(base)
			liar.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
				if c != blocks[i] {
					return data, nil
				}
				return lie(rng, c, data)
			}
			err := replayLie(t, liar, opt)
			honest := name == "an error" || name == "nothing"
			switch {
			case err == nil && honest:
				t.Errorf("seed %d, block %s: %s was not told", repokit.ReplaySeed, blocks[i], name)
			case honest && !errors.Is(err, store.ErrCorrupt):
				t.Errorf("seed %d, block %s: %s was told as %v", repokit.ReplaySeed, blocks[i], name, err)
			case err == nil && name != "a flipped bit":
				t.Errorf("seed %d, block %s: %s made no difference", repokit.ReplaySeed, blocks[i], name)
			case err == nil: // in data that no answer shows, such as the hash of a tree's other branch
				silent++
			default:
				told++
			}
		}
	}
}

// TestFsckNamesBlocks damages one block at a time, whether a replay reads it or not: fsck names it.
func TestFsckNamesBlocks(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	stride := effort.Pick(150, 60, 1)
	base := mem.New()
	r := must.Get(care.New(t.Context(), base, repokit.By, core.Options{}))(t)
	memory, change := repokit.DemoText(t)
	must.OK(t, repokit.Record(r, repokit.Requests(t)[:3], memory, change, 3))
	var all []ipld.CID
	var data bytes.Buffer // of all blocks
	for _, blocks := range []store.Blocks{base.Facts(), base.Derived()} {
		must.OK(t, blocks.Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
			all = append(all, b.CID)
			data.Write(b.Data)
			return nil
		}))
	}
	rng := rand.New(rand.NewPCG(repokit.ReplaySeed, 4))
	head := must.Get(base.Head(t.Context()))(t)
	garbage := 0
	for i := 0; i < len(all); i += stride {
		derived := must.Get(base.Derived().Has(t.Context(), all[i]))(t)
		reached := derived || all[i] == head.Operation || bytes.Contains(data.Bytes(), ipld.AppendLink(nil, all[i]))
		for _, name := range slices.Sorted(maps.Keys(repokit.Lies)) {
			if !reached && (name == "an error" || name == "nothing") {
				garbage++ // its absence cannot be noticed
				continue
			}
			liar := testkit.NewTamper(base)
			liar.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
				if c != all[i] {
					return data, nil
				}
				return repokit.Lies[name](rng, c, data)
			}
			r := must.Get(care.New(t.Context(), liar, repokit.By, core.Options{ReadOnly: true}))(t)
			must.OK(t, named(r, all[i]), "seed ", repokit.ReplaySeed, ", ", name, " in the place of ", all[i])
		}
	}
	must.True(t, garbage <= len(all)/50, "%d of %d blocks are reached by nothing", garbage/2, len(all))
}

// named returns an error unless fsck names c. Only a full one notices what an old index lacks.
func named(r *core.Repo, c ipld.CID) error {
	for _, full := range []bool{false, true} {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: full})
		if err != nil {
			return err
		}
		for _, e := range report.Errors {
			if e.CID == c || strings.Contains(e.Message, c.String()) {
				return nil
			}
		}
	}
	return errors.New("fsck does not name it")
}

var errDifferent = errors.New("another answer")

// replayLie replays over a store that lies and returns how it was reported, nil if the answers equal the recorded ones.
func replayLie(t *testing.T, liar store.Store, opt core.Options) error {
	t.Helper()
	r, err := care.New(t.Context(), liar, repokit.By, opt)
	if err != nil {
		return err
	}
	res, err := session.Replay(t.Context(), r, repokit.SessionName)
	switch {
	case err != nil:
		return err
	case !res.Identical:
		return errDifferent
	case res.Receipts != 3:
		return fmt.Errorf("%d receipts", res.Receipts)
	}
	return nil
}

// TestReplayTellsDifferences records receipts that differ from the answers.
func TestReplayTellsDifferences(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, repokit.TwoPeople)
	a, err := rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{Text: "infra"})
	must.Require(t, err == nil && len(a.Items) != 0, "%+v, %v", a, err)
	for name, change := range map[string]func(*retrieve.Answer){
		"score":      func(a *retrieve.Answer) { a.Items[0].Score++ },
		"rendered":   func(a *retrieve.Answer) { a.Items[0].Rendered += "x" },
		"id":         func(a *retrieve.Answer) { a.Items[0].ID = graph.NodeID("other") },
		"node":       func(a *retrieve.Answer) { a.Items[0].Node = ipld.Sum(ipld.DagCBOR, nil) },
		"dropped":    func(a *retrieve.Answer) { a.Dropped++; a.Candidates++ },
		"candidates": func(a *retrieve.Answer) { a.Candidates++ },
	} {
		t.Run(name, func(t *testing.T) {
			forged := *a
			forged.Items = append([]retrieve.Item(nil), a.Items...)
			change(&forged)
			must.Get(session.StartSession(t.Context(), r, name, session.SessionOptions{Stamp: repokit.By}))(t)
			for i, answer := range []*retrieve.Answer{a, &forged, a} {
				must.Get(session.Record(t.Context(), r, name, answer, repokit.By))(t, "record ", i)
			}
			res, err := session.Replay(t.Context(), r, name)
			must.Require(t, err == nil && !res.Identical && res.First != nil, "%+v, %v", res, err)
			must.True(t, res.First.Number == 1 && res.First.Field == name && res.Receipts == 2,
				"%d receipts, first difference %+v", res.Receipts, res.First)
		})
	}
}

func TestOnDatabase(t *testing.T) { repokit.OnDatabase(t, 1) }
