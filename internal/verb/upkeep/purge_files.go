package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/internal/state"
)

const (
	remotesFile    = "remotes.json"
	maxRemotesFile = 64 << 10
)

// purgedFiles erases from the files of a repository that are no part of its store.
type purgedFiles struct {
	dir  string // .mnem, "" for a repository that is not on disk
	text string // that is purged, "" for a node
	list []layout.File
}

// erase is care.PurgeOptions.Files.
func (p *purgedFiles) erase(ctx context.Context, holds func(string) bool, dry bool) (held bool, err error) {
	files, err := layout.Erase(ctx, p.dir, layout.EraseOptions{Holds: holds, DryRun: dry})
	if err != nil {
		return false, remote.FilesBusy(err)
	}
	for _, f := range files {
		held = held || f.Held
		f.Held = false // the dry run before may have listed it, found or not
		if !slices.Contains(p.list, f) {
			p.list = append(p.list, f)
		}
	}
	if !held && dry && p.text != "" {
		held, err = p.inMirrors(ctx)
	}
	return held, err
}

// inMirrors reports whether a mirror of a remote holds the text.
func (p *purgedFiles) inMirrors(ctx context.Context) (bool, error) {
	list, err := filepath.Glob(filepath.Join(p.dir, "remotes", "*", "mirror"))
	if err != nil {
		return false, err
	}
	for _, dir := range list {
		held, err := mirrorHolds(ctx, dir, p.text)
		if held || err != nil {
			return held, err
		}
	}
	return false, nil
}

func mirrorHolds(ctx context.Context, dir, text string) (held bool, err error) {
	r, err := care.Open(dir, core.Options{ReadOnly: true})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case errors.Is(err, store.ErrCorrupt): // its content is unknown; the next transfer rebuilds it
		return true, nil
	case err != nil:
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	by := state.Stamp{Author: "mnem", Time: graph.MinTime}
	_, err = care.PurgeText(ctx, r, text, care.PurgeOptions{Stamp: by, DryRun: true})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (p *purgedFiles) remotes() (names []string, err error) {
	if p.dir == "" {
		return nil, nil
	}
	data, err := filestate.Read(filepath.Join(p.dir, remotesFile), maxRemotesFile)
	if err != nil || data == nil {
		return nil, err
	}
	var list struct{ Remotes []struct{ Name string } }
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, remotesFile, err)
	}
	for _, r := range list.Remotes {
		names = append(names, r.Name)
	}
	return names, nil
}
