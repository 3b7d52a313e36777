package testkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// ReadFile returns the bytes of a file.
func ReadFile(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// WriteFile makes a file of the bytes, or replaces one, and syncs it.
func WriteFile(fs vfs.FS, name string, b []byte) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// Files returns the files in a directory and below it, in any order. It skips files that are removed while it reads.
func Files(fs vfs.FS, dir string) ([]string, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var out []string
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
		if !info.IsDir() {
			out = append(out, path)
			continue
		}
		below, err := Files(fs, path)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}

// Tamper is a store whose Get and Iterate behave like a lying disk: if Lie is set, it is called with every block read,
// facts and derived, and its result goes to the caller; Iterate skips a block for which it returns an error. The stored
// blocks do not change, and the result of Lie is not verified. Safe for concurrent use if Lie is, and if Lie is not set
// at the same time.
type Tamper struct {
	store.Store
	Lie func(c ipld.CID, data []byte) ([]byte, error)

	mu   sync.Mutex
	read []ipld.CID
	seen map[ipld.CID]bool
}

// NewTamper returns a store that does not lie yet.
func NewTamper(s store.Store) *Tamper {
	return &Tamper{Store: s, seen: make(map[ipld.CID]bool)}
}

// Read returns the CIDs of all blocks read so far, each once, in the order they were first read.
func (t *Tamper) Read() []ipld.CID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]ipld.CID(nil), t.read...)
}

// Close leaves the store below open, so that it can be read through another Tamper.
func (t *Tamper) Close() error { return nil }

// Facts returns the facts, through Lie.
func (t *Tamper) Facts() store.Blocks { return tampered{t.Store.Facts(), t} }

// Derived returns the derived data, through Lie.
func (t *Tamper) Derived() store.Derived {
	d := t.Store.Derived()
	return tamperedDerived{d, tampered{d, t}}
}

type tampered struct {
	store.Blocks
	by *Tamper
}

func (b tampered) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := b.Blocks.Get(ctx, c)
	if err != nil {
		return nil, err
	}
	b.by.mu.Lock()
	if !b.by.seen[c] {
		b.by.seen[c] = true
		b.by.read = append(b.by.read, c)
	}
	b.by.mu.Unlock()
	if b.by.Lie != nil {
		return b.by.Lie(c, data)
	}
	return data, nil
}

// Iterate calls fn with the blocks through Lie. It does not count as reading.
func (b tampered) Iterate(
	ctx context.Context, from ipld.CID, fn func(store.Block) error,
) error {
	return b.Blocks.Iterate(ctx, from, func(block store.Block) error {
		if b.by.Lie != nil {
			data, err := b.by.Lie(block.CID, append([]byte(nil), block.Data...))
			if err != nil {
				return nil
			}
			block.Data = data
		}
		return fn(block)
	})
}

type tamperedDerived struct {
	store.Derived
	get tampered
}

func (d tamperedDerived) Iterate(
	ctx context.Context, from ipld.CID, fn func(store.Block) error,
) error {
	return d.get.Iterate(ctx, from, fn)
}

func (d tamperedDerived) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	return d.get.Get(ctx, c)
}

// Forge puts another commit in the place of the newest one of a branch, as who can write to a store
// could: edit changes the record, and the hashes, the refs and the operation that lead to it are
// right. It returns the CID of what it made. No repository may be open over the store.
func Forge(
	ctx context.Context, st store.Store, branch string, edit func(*commit.Commit),
) (ipld.CID, error) {
	head, err := st.Head(ctx)
	if err != nil {
		return ipld.CID{}, err
	}
	stage := store.NewStage(st.Facts(), 1<<20)
	op, err := commit.ReadOperation(ctx, stage, head.Operation)
	if err != nil {
		return ipld.CID{}, err
	}
	view, err := prolly.NewNodes(stage, prolly.NewCache(1<<20)).Load(ctx, op.View)
	if err != nil {
		return ipld.CID{}, err
	}
	name := []byte(graph.BranchRef(branch))
	item, ok, err := view.Get(ctx, name)
	if err != nil || !ok {
		return ipld.CID{}, fmt.Errorf("branch %q: found %v, %w", branch, ok, err)
	}
	link, err := ipld.DecodeValue(item)
	if err != nil {
		return ipld.CID{}, err
	}
	rec, err := commit.ReadCommit(ctx, stage, link.Link())
	if err != nil {
		return ipld.CID{}, err
	}
	edit(rec)
	forged := store.NewBlock(ipld.DagCBOR, rec.Encode())
	edited, err := view.Edit(ctx, []prolly.Edit{{Key: name, Value: ipld.AppendLink(nil, forged.CID)}})
	if err != nil {
		return ipld.CID{}, err
	}
	next, err := commit.NextOperation(ctx, stage, head)
	if err != nil {
		return ipld.CID{}, err
	}
	next.View, next.Time, next.Actor, next.Command = edited.Root(), op.Time, "forger", []string{"forge"}
	last := store.NewBlock(ipld.DagCBOR, next.Encode())
	return forged.CID, st.Commit(ctx, head, store.Head{Seq: next.Seq, Operation: last.CID},
		append(stage.Pending(), forged, last)...)
}
