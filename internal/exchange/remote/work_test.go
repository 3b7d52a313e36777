package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// counting counts the requests to one side, and keeps the packs that it receives.
type counting struct {
	remote.Side
	calls  int
	blocks int
	bytes  int64 // of the blocks alone
	pack   int64
}

func (c *counting) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	c.calls++
	return c.Side.Look(ctx, q)
}

func (c *counting) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	c.calls++
	return c.Side.Send(ctx, w, want, from)
}

func (c *counting) Redactions(ctx context.Context, after ipld.CID) ([]care.ToldRedaction, bool, error) {
	c.calls++
	return c.Side.Redactions(ctx, after)
}

func (c *counting) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	c.calls++
	c.pack = news.Pack.Size()
	r, err := car.NewReader(io.NewSectionReader(news.Pack, 0, news.Pack.Size()))
	for err == nil {
		var b car.Block
		if b, err = r.Next(); err == nil {
			c.blocks, c.bytes = c.blocks+1, c.bytes+int64(len(b.Data))
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return c.Side.Take(ctx, news)
}

// grown returns a repository in memory with many nodes, two edges each.
func grown(t testing.TB, n int) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	t.Cleanup(func() { _ = r.Close() }) // in memory
	rnd := rand.New(rand.NewPCG(1, 1))
	in, out := io.Pipe()
	go func() {
		for i := range n {
			fmt.Fprintf(out, `{"node":{"key":"k%d","type":"N","summary":"memory %d of many, with some words"}}`+"\n", i, i)
		}
		for i := range 2 * n {
			fmt.Fprintf(out, `{"edge":{"type":"to","key":"%d","src":"k%d","dst":"k%d"}}`+"\n", i, i%n, rnd.IntN(n))
		}
		_ = out.Close() // a pipe in memory
	}()
	_, err := r.Commit(t.Context(), state.ReadChanges(in, "test"), core.CommitOptions{Stamp: by, Message: "x"})
	must.Require(t, err == nil, "%v", err)
	return r
}

// TestWorkOfPush pushes one commit of 100 changes into a large memory: it sends little more than the blocks that
// the other side lacks, in few round trips.
func TestWorkOfPush(t *testing.T) {
	n := effort.Pick(5_000, 100_000, 1_000_000)
	hub := grown(t, n)
	a := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	t.Cleanup(func() { _ = a.Close() }) // in memory
	from := &counting{Side: here(hub)}
	must.OK(t, must.Err(remote.Fetch(t.Context(), here(a), from, remote.FetchOptions{TransferOptions: options(t)})))
	must.True(t, from.calls <= 6, "a clone took %d round trips", from.calls)
	_, err := merging.Merge(t.Context(), a, string(tracked), core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: by}})
	must.Require(t, err == nil, "%v", err)
	rnd := rand.New(rand.NewPCG(2, 2))
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, `{"node":{"key":"k%d","type":"N","summary":"changed %d"}}`+"\n", rnd.IntN(n), i)
	}
	opt := core.CommitOptions{Stamp: by, Message: "changes"}
	must.OK(t, must.Err(a.Commit(t.Context(), state.ReadChanges(strings.NewReader(lines.String()), "test"), opt)))
	to := &counting{Side: here(hub)}
	var taken int
	side := &telling{to, &taken}
	must.OK(t, must.Err(push(t, a, side, main)))
	manifest := 1 // which is no block of the memory
	if to.calls > 6 || float64(to.pack) > 1.15*float64(to.bytes)+20<<10 || to.blocks-manifest > taken+taken/20 {
		t.Errorf("%d round trips, %d bytes for blocks of %d bytes, %d blocks, %d of them lacking", to.calls, to.pack,
			to.bytes, to.blocks, taken)
	}
}

// telling notes how many blocks were new.
type telling struct {
	*counting
	blocks *int
}

func (s *telling) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	taken, err := s.counting.Take(ctx, news)
	if err == nil {
		*s.blocks += taken.Blocks
	}
	return taken, err
}
