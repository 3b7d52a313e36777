package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/mirror"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/ipld"
)

// Cloned is the result of a clone.
type Cloned struct {
	Path      string   `json:"path"`
	URL       string   `json:"url"`
	Branch    string   `json:"branch"`
	Commit    ipld.CID `json:"commit" shape:"null"`
	Refs      int      `json:"refs"`
	Bytes     int64    `json:"bytes"`
	NewBlocks int      `json:"new_blocks"`
	remote.Learned
}

// Clone transfers the remote's content into a new repository.
func (t *Transfer) Clone(ctx context.Context, branch string) (*Cloned, error) {
	defer t.host.Over()
	got, err := t.Fetch(ctx, false)
	if err != nil {
		return nil, err
	}
	b := &Branch{Branch: branch}
	if err := t.Merge(ctx, b, SyncOptions{Conflicts: branching.Stop}); err != nil {
		return nil, err
	}
	return &Cloned{
		Path: t.here.Path(), URL: t.remote.URL, Branch: branch, Commit: b.Commit, Refs: len(got.Refs),
		Bytes: got.Bytes, NewBlocks: got.NewBlocks, Learned: got.Learned,
	}, nil
}

// CloneFile imports a backup into a new repository.
func CloneFile(ctx context.Context, here *Local, file string) (*Cloned, error) {
	req := &transfer.ImportRequest{File: file, RequireSigned: here.Signed}
	req.Time = here.Time
	answer, err := here.Answer(ctx, &transfer.Import.Spec, req)
	if err != nil {
		return nil, fmt.Errorf("clone %s: %w", file, err)
	}
	a := answer.(*transfer.Imported)
	out := &Cloned{
		Path: here.Path(), URL: file, Branch: cmp.Or(string(a.Head), core.DefaultBranch),
		Refs: len(a.Refs), Bytes: a.Bytes, NewBlocks: a.NewBlocks,
	}
	for _, ref := range a.Refs {
		if name, ok := ref.Ref.Branch(); ok && name == out.Branch {
			out.Commit = ref.To
		}
	}
	return out, nil
}

// Forget removes a remote: its entry in the list, its files, and its tracking refs.
func Forget(ctx context.Context, here *Local, list, name string) (was place.Remote, err error) {
	if err := graph.ValidateImport(name); err != nil {
		return was, fmt.Errorf("%w: remote: %w", state.ErrInvalid, err)
	}
	known, err := place.List(list)
	if err != nil {
		return was, err
	}
	at := slices.Index(place.Names(known), name)
	if at < 0 {
		return was, place.Missing(name)
	}
	st, err := here.Look(ctx, remote.Question{Tracking: true})
	if err != nil {
		return was, err
	}
	news := remote.News{Tracking: name}
	for _, ref := range st.Refs {
		if strings.HasPrefix(string(ref.Name), remote.Prefix(name)) {
			news.Updates = append(news.Updates, exchange.RefUpdate{Ref: ref.Name})
		}
	}
	if len(news.Updates) > 0 {
		if _, err := here.Take(ctx, news); err != nil {
			return was, err
		}
	}
	err = place.Edit(ctx, list, func(list []place.Remote) ([]place.Remote, error) {
		return slices.DeleteFunc(list, func(r place.Remote) bool { return r.Name == name }), nil
	})
	if err == nil {
		err = cmp.Or(os.RemoveAll(here.Kept(name)), os.RemoveAll(here.Mirror(name)), os.RemoveAll(here.Mirror(name)+mirror.KeySuffix))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return known[at], err
}
