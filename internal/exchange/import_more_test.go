package exchange_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestImportDoesNotTrustGarbage imports a file that builds on a commit whose block is in the store without its
// dependencies and without a ref: the rest of an unfinished write.
func TestImportDoesNotTrustGarbage(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	file, part := repokit.Export(t, from, exchange.ExportOptions{Rev: "HEAD~1..HEAD"})
	c, data, err := from.Storage().Block(t.Context(), part.Since[0].String())
	must.OK(t, err)
	to, st := repokit.OverMem(t)
	must.OK(t, st.Facts().Put(t.Context(), store.Block{CID: c, Data: data}))
	before := contents(t, st)
	_, err = repokit.TryImport(to, file, exchange.ImportOptions{Name: "n"})
	must.True(t, errors.Is(err, car.ErrFormat) && strings.Contains(err.Error(), "missing"),
		"without the rest of the commit: %v", err)
	must.Same(t, contents(t, st), before, "a refused file changed")
	// With everything there it is checked like a part of the file.
	whole, _ := repokit.Export(t, from, exchange.ExportOptions{Rev: "HEAD~1"})
	var rest []store.Block
	for _, b := range repokit.Sections(t, whole)[1:] {
		if ipld.RecordKind(b.Data) != commit.KindExport {
			rest = append(rest, b)
		}
	}
	must.OK(t, st.Facts().Put(t.Context(), rest...))
	seen := 0
	res := repokit.ImportInto(t, to, file, exchange.ImportOptions{
		Name: "n", Verify: func(commits iter.Seq2[commit.LogEntry, error]) error {
			for range commits {
				seen++
			}
			return nil
		},
	})
	must.True(t, len(res.Refs) == 1 && seen == 2, "%d refs, %d commits looked at", len(res.Refs), seen)
}

// TestImportVerify asks before anything is written, about new commits only.
func TestImportVerify(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	base, _ := repokit.Export(t, from, exchange.ExportOptions{Rev: "HEAD~1"})
	file, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	to, st := repokit.OverMem(t)
	repokit.ImportInto(t, to, base, exchange.ImportOptions{Name: "n"})
	before := contents(t, st)
	mine := errors.New("not this one")
	var got []ipld.CID
	opt := exchange.ImportOptions{Name: "n", Verify: func(all iter.Seq2[commit.LogEntry, error]) error {
		for e, err := range all {
			must.True(t, err == nil && e.Commit.Height == 2,
				"asked about %s, height %d, %v", e.CID, e.Commit.Height, err)
			got = append(got, e.CID)
		}
		return mine
	}}
	_, err := repokit.TryImport(to, file, opt)
	must.True(t, errors.Is(err, mine) && !errors.Is(err, car.ErrFormat), "refused by the caller: %v", err)
	must.True(t, len(got) == 1 && got[0] == repokit.Head(t, from).CID(), "asked about %v", got)
	must.Same(t, contents(t, st), before, "a refused file changed")
}

// TestImportStops ends at each of the calls of a progress function.
func TestImportStops(t *testing.T) {
	from, _ := repokit.OverMem(t)
	var many strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many, `{"node":{"type":"T","props":{"n":%d}}}`+"\n", i)
	}
	repokit.Lines(t, from, many.String())
	file, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	stops := 0
	for stop := 1; ; stop++ {
		to, st := repokit.OverMem(t)
		before := contents(t, st)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		opt := exchange.ImportOptions{Stamp: repokit.By, Progress: func(string, int) {
			if n++; n == stop {
				cancel()
			}
		}}
		_, err := exchange.Import(ctx, to, bytes.NewReader(file), int64(len(file)), opt)
		cancel()
		if err == nil {
			break
		}
		stops++
		must.Fail(t, err, context.Canceled, stop)
		must.Same(t, contents(t, st), before, "stopped at ", stop, ": the store changed")
	}
	must.True(t, stops >= 3, "only %d places to stop", stops)
}

func TestImportReadOnly(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	file, _ := repokit.Export(t, from, exchange.ExportOptions{Session: "review"})
	dir := t.TempDir()
	r := must.Get(care.Init(t.Context(), dir, repokit.By, core.Options{}))(t)
	must.OK(t, r.Close())
	r = must.Get(care.Open(dir, core.Options{ReadOnly: true}))(t)
	res := repokit.ImportInto(t, r, file, exchange.ImportOptions{DryRun: true})
	must.True(t, len(res.Refs) == 1, "dry run: %+v", res)
	must.Fail(t, must.Err(repokit.TryImport(r, file, exchange.ImportOptions{})), store.ErrReadOnly)
	must.OK(t, r.Close())
	// And for writing: the session replays in a directory that never saw it made.
	r = must.Get(care.Open(dir, core.Options{}))(t)
	repokit.ImportInto(t, r, file, exchange.ImportOptions{})
	sameAgain(t, r, "review", 3)
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}

// TestExportReceipt takes one receipt elsewhere and replays it there.
func TestExportReceipt(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	_, c := query(t, from, "review", "harbour")
	file, res := repokit.Export(t, from, exchange.ExportOptions{Receipt: c.String()})
	must.True(t, len(res.Refs) == 0 && len(res.Objects) == 1, "exported %+v", res)
	for _, into := range []exchange.ImportOptions{{Fallback: "f"}, {Name: "n"}} {
		to, _ := repokit.OverMem(t)
		got := repokit.ImportInto(t, to, file, into)
		want := graph.ImportedObject(into.Name+into.Fallback, c.String())
		must.True(t, len(got.Refs) == 1 && got.Refs[0].Ref == want, "refs %+v, want %s", got.Refs, want)
		replay, err := session.Replay(t.Context(), to, c.String())
		must.True(t, err == nil && replay.Identical, "replay: %+v, %v", replay, err)
	}
}

// TestExportOfATag exports a plain and an annotated tag.
func TestExportOfATag(t *testing.T) {
	f := repokit.Forge(t)
	f.After = func(f *repokit.Forgery) {
		tag := &commit.Tag{Target: f.Tips[0], Name: "v1", Tagger: "f", Time: repokit.ForgedTime, Message: commit.Message{Text: "m"}}
		f.Refs["refs/tags/v1"] = repokit.LinkTo(f.Put(tag.Encode()))
		f.Refs["refs/tags/plain"] = repokit.LinkTo(f.Tips[1])
	}
	r, _ := repokit.OverMem(t)
	repokit.ImportInto(t, r, f.File(), exchange.ImportOptions{})
	file, res := repokit.Export(t, r, exchange.ExportOptions{All: true})
	must.Equal(t, len(res.Refs), 4, "exported ", res.Refs)
	to, _ := repokit.OverMem(t)
	repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "n"})
	if res := repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "n"}); len(res.Refs) != 0 {
		t.Errorf("again: %+v", res)
	}
	repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "m"})
	names := refNames(t, to)
	a, b := names["refs/imported/n/tags/v1"], names["refs/imported/m/tags/v1"]
	must.True(t, a != "" && a == b, "the tag is %q and %q", a, b)
}

// countingReader counts how often it is read.
type countingReader struct {
	io.ReaderAt
	reads int
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(p, at)
}

// TestReadAhead compares reads through Ahead with the file, in order and out of it, to the end and beyond; blocks
// in file order cost few reads.
func TestReadAhead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	file := make([]byte, 3<<20+17)
	for i := range file {
		file[i] = byte(rnd.Uint32())
	}
	from := &countingReader{bytes.NewReader(file), 0}
	a := &exchange.Ahead{In: from}
	read := func(at int64, n int) {
		t.Helper()
		got, want := make([]byte, n), make([]byte, n)
		gotN, err := a.ReadAt(got, at)
		wantN, wantErr := bytes.NewReader(file).ReadAt(want, at)
		must.Require(t, gotN == wantN && bytes.Equal(got[:gotN], want[:wantN]) && (gotN < n) == (err != nil) &&
			(gotN >= n || errors.Is(err, wantErr)),
			"%d bytes at %d: %d, %v, want %d, %v", n, at, gotN, err, wantN, wantErr)
	}
	blocks := 0
	for at := int64(0); at < int64(len(file)); blocks++ {
		n := min(100+rnd.IntN(500), len(file)-int(at))
		read(at, n)
		at += int64(n + rnd.IntN(60)) // the gap between
	}
	most := len(file)/exchange.AheadBytes + 2
	must.True(t, from.reads <= most, "%d reads for %d blocks in order, want %d at most", from.reads, blocks, most)
	for range 2000 {
		read(rnd.Int64N(int64(len(file)+10)), rnd.IntN(600))
	}
	read(1, 2*exchange.AheadBytes)
	read(int64(len(file))-5, 10)
}
