package core

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// rawPrefix begins every text CID of a raw block and may be left out.
const rawPrefix = "bafkrei"

// ErrStop ends an iteration early.
var ErrStop = errors.New("stop")

// Sizes are the numbers of what a repository holds.
type Sizes struct {
	Operations    uint64 `json:"operations"` // recorded, the first included
	Blocks        int    `json:"blocks"`     // of facts, garbage included
	BlockBytes    int64  `json:"block_bytes"`
	DerivedBlocks int    `json:"derived_blocks"` // of indexes
	DerivedBytes  int64  `json:"derived_bytes"`
}

// Storage measures what a repository takes, and reads single blocks.
type Storage struct{ repo *Repo }

// Storage returns sizes and blocks.
func (r *Repo) Storage() Storage { return Storage{r} }

// Sizes counts operations and blocks, for a confined caller none. It reads every block.
func (st Storage) Sizes(ctx context.Context) (Sizes, error) {
	if st.repo.Confined() {
		return Sizes{}, nil
	}
	head, err := st.repo.Store.Head(ctx)
	s := Sizes{Operations: head.Seq}
	if err != nil {
		return s, err
	}
	err = st.repo.Store.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		s.Blocks++
		s.BlockBytes += int64(len(b.Data))
		return nil
	})
	if err != nil {
		return s, err
	}
	err = st.repo.Store.Derived().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		s.DerivedBlocks++
		s.DerivedBytes += int64(len(b.Data))
		return nil
	})
	return s, err
}

// DiskBytes returns the size of all files of the repository, 0 in memory and for a confined caller. A file deleted during
// the walk, as the store does, is not counted.
func (st Storage) DiskBytes() (size int64, err error) {
	if st.repo.Dir == "" || st.repo.Confined() {
		return 0, nil
	}
	err = filepath.WalkDir(st.repo.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				size += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return size, err
}

// Block returns a block, of facts or derived, by its CID or a unique prefix of that of at least 4
// digits, before which bafyrei or bafkrei may be left out. It returns a *NotFoundError or an
// *AmbiguousError.
func (st Storage) Block(ctx context.Context, name string) (ipld.CID, []byte, error) {
	if st.repo.Confined() {
		return st.ownBlock(ctx, name)
	}
	c, err := ipld.ParseCID(name)
	if err != nil {
		if c, err = st.byPrefix(ctx, name); err != nil {
			return c, nil, err
		}
	}
	data, err := st.repo.Store.Facts().Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		data, err = st.repo.Store.Derived().Get(ctx, c)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = &state.NotFoundError{What: "block", Name: name}
	}
	return c, data, err
}

func (st Storage) byPrefix(ctx context.Context, name string) (ipld.CID, error) {
	prefixes := []string{cidPrefix + name, rawPrefix + name}
	if strings.HasPrefix(name, cidPrefix) || strings.HasPrefix(name, rawPrefix) {
		prefixes = []string{name}
	}
	found := make(map[ipld.CID]bool)
	for _, prefix := range prefixes {
		first, ok := smallestCID(prefix)
		if !ok || len(prefix) < len(cidPrefix)+MinPrefix {
			continue
		}
		for _, blocks := range []store.Blocks{st.repo.Store.Facts(), st.repo.Store.Derived()} {
			err := blocks.Iterate(ctx, first, func(b store.Block) error {
				if len(found) > 1 || !strings.HasPrefix(b.CID.String(), prefix) {
					return ErrStop
				}
				found[b.CID] = true
				return nil
			})
			if err != nil && !errors.Is(err, ErrStop) {
				return ipld.CID{}, err
			}
		}
	}
	if len(found) > 1 {
		return ipld.CID{}, &state.AmbiguousError{What: "block", Name: name}
	}
	for c := range found {
		return c, nil
	}
	return ipld.CID{}, &state.NotFoundError{What: "block", Name: name}
}
