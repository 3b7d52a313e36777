package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

var by = state.Stamp{Author: "Tess Tester", Time: 1_700_000_000_000_000, Command: []string{"test"}}

const (
	main    = graph.RefName("refs/heads/main")
	tracked = graph.RefName("refs/remotes/origin/heads/main")
)

// open returns a repository in memory that is checked at the end of the test.
func open(t *testing.T) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
		must.True(t, err == nil && len(report.Errors) == 0, "fsck: %v, %v", report.Errors, err)
		must.OK(t, r.Close())
	})
	return r
}

func add(t *testing.T, r *core.Repo, key, summary string) ipld.CID {
	t.Helper()
	line := fmt.Sprintf(`{"node":{"key":%q,"type":"T","summary":%q}}`, key, summary)
	res := must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "test"),
		core.CommitOptions{Stamp: by, Message: key}))(t)
	return res.Commit
}

func here(r *core.Repo) *remote.Here {
	return &remote.Here{Repo: r, Stamp: func() (state.Stamp, error) { return by, nil }}
}

func options(t *testing.T) remote.TransferOptions {
	return remote.TransferOptions{Name: "origin", Dir: t.TempDir()}
}

func at(t *testing.T, r *core.Repo, name graph.RefName) ipld.CID {
	t.Helper()
	refs := must.Get(r.Refs(t.Context()))(t)
	for _, ref := range refs {
		if ref.Name == name {
			return ref.Target
		}
	}
	return ipld.CID{}
}

func push(t *testing.T, r *core.Repo, to remote.Side, refs ...graph.RefName) (*remote.Pushed, error) {
	t.Helper()
	return remote.Push(t.Context(), here(r), to, remote.PushOptions{TransferOptions: options(t), Refs: refs})
}

func fetch(t *testing.T, r *core.Repo, from remote.Side) *remote.Fetched {
	t.Helper()
	out := must.Get(remote.Fetch(t.Context(), here(r), from, remote.FetchOptions{TransferOptions: options(t)}))(t)
	return out
}

// denying is a side whose database role may not erase.
type denying struct{ remote.Side }

func (denying) Accept(context.Context, []care.ToldRedaction, string) (*care.AcceptedRedactions, error) {
	return &care.AcceptedRedactions{Pending: true, Denied: "to another role"}, nil
}

// TestAcceptAllTells passes on why erasing is left to others, of as many redactions as go in several questions.
func TestAcceptAllTells(t *testing.T) {
	list := make([]care.ToldRedaction, remote.MaxTold+1)
	got, err := remote.AcceptAll(t.Context(), denying{}, list, "")
	must.True(t, err == nil && got.Pending && got.Denied == "to another role", "%+v, %v", got, err)
}

// broken ends a transfer after some bytes, or changes one.
type broken struct {
	remote.Side
	cut  int64 // of each call; less than 0 for none
	flip int64 // less than 0 for none
}

type brokenWriter struct {
	to        io.Writer
	pos       int64
	cut, flip int64
}

var errCut = errors.New("cut")

func (w *brokenWriter) Write(p []byte) (int, error) {
	p = append([]byte(nil), p...)
	if at := w.flip - w.pos; w.flip >= 0 && at >= 0 && at < int64(len(p)) {
		p[at] ^= 1
	}
	w.pos += int64(len(p))
	if w.cut >= 0 && w.pos > w.cut {
		_, _ = w.to.Write(p[:max(0, int64(len(p))-(w.pos-w.cut))])
		return 0, errCut
	}
	return w.to.Write(p)
}

func (b *broken) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	return b.Side.Send(ctx, &brokenWriter{to: w, cut: b.cut, flip: b.flip}, want, from)
}

// TestCutAndFlipped interrupts a transfer at random bytes and resumes it, and flips single bits, which must change
// nothing.
func TestCutAndFlipped(t *testing.T) {
	hub := open(t)
	for i := range 5 {
		add(t, hub, fmt.Sprint("n", i), strings.Repeat("text ", 500+i))
	}
	whole := fetch(t, open(t), here(hub))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		r, opt := open(t), options(t)
		b := &broken{here(hub), rnd.Int64N(whole.Bytes), -1}
		_, err := remote.Fetch(t.Context(), here(r), b, remote.FetchOptions{TransferOptions: opt})
		must.Require(t, errors.Is(err, errCut), "cut at %d: %v", b.cut, err)
		files, err := os.ReadDir(opt.Dir)
		must.Require(t, err == nil && len(files) == 1 && !at(t, r, tracked).Defined(),
			"after a cut: %v, %v", files, err)
		rest := whole.Bytes - b.cut
		b.cut = rest // the rest fits; one byte more would not
		_, err = remote.Fetch(t.Context(), here(r), b, remote.FetchOptions{TransferOptions: opt})
		must.Require(t, err == nil && at(t, r, tracked) == at(t, hub, main), "the rest of %d bytes: %v", rest, err)
		b = &broken{here(hub), -1, rnd.Int64N(whole.Bytes)}
		r = open(t)
		_, err = remote.Fetch(t.Context(), here(r), b, remote.FetchOptions{TransferOptions: options(t)})
		must.Require(t, errors.Is(err, state.ErrInvalid), "a bit of byte %d changed: %v", b.flip, err)
		must.Require(t, !at(t, r, tracked).Defined(), "a bit of byte %d changed, and a ref moved", b.flip)
	}
	opt := options(t)
	opt.MaxPack = whole.Bytes - 1
	_, err := remote.Fetch(t.Context(), here(open(t)), here(hub), remote.FetchOptions{TransferOptions: opt})
	must.True(t, errors.Is(err, remote.ErrTooLarge), "more than is taken in: %v", err)
}
