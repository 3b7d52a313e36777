package branching

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// AutoSyncFile, in a repository's directory, lists the remotes that are synced automatically. AutoSyncTouched is
	// empty; its time changes with every write.
	AutoSyncFile    = "autosync.json"
	AutoSyncTouched = "autosync"
	// maxAutoSync bounds the file in bytes.
	maxAutoSync = 64 << 10

	// MinAutoSync and MaxAutoSync bound how often a long-running process syncs a remote without writes here.
	MinAutoSync = time.Second
	MaxAutoSync = 24 * time.Hour
)

// AutoSync is a remote that is synced automatically, and what came of it.
type AutoSync struct {
	Remote    string        `json:"remote"`
	Every     string        `json:"every"`  // a duration
	Worked    graph.OptTime `json:"worked"` // when both sides were last made equal; null for never
	Tried     graph.OptTime `json:"tried"`  // likewise, of the newest attempt
	Failed    verb.Text     `json:"failed"` // the error code of that, null if it worked
	Message   string        `json:"message,omitempty"`
	Conflicts string        `json:"conflicts,omitempty"` // a Rule; "" for the configured one
	All       bool          `json:"all,omitempty"`
	Tags      bool          `json:"tags,omitempty"`
	Sessions  bool          `json:"sessions,omitempty"`
}

// Period returns how often a long-running process syncs the remote.
func (a *AutoSync) Period() (time.Duration, error) {
	d, err := time.ParseDuration(a.Every)
	if err != nil || d < MinAutoSync || d > MaxAutoSync {
		return 0, fmt.Errorf("%w: every %q: want a duration from %s to %s", state.ErrInvalid, a.Every, MinAutoSync,
			MaxAutoSync)
	}
	return d, nil
}

// AutoSyncs returns the remotes that the repository in a directory syncs automatically, by name.
func AutoSyncs(dir string) ([]AutoSync, error) {
	path := filepath.Join(dir, AutoSyncFile)
	data, err := filestate.Read(path, maxAutoSync)
	if err != nil {
		return nil, fmt.Errorf("read which remotes are synced automatically: %w", err)
	}
	return parseAutoSyncs(path, data)
}

func parseAutoSyncs(path string, data []byte) (list []AutoSync, err error) {
	if data == nil {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&list); err == nil && dec.More() {
		err = errors.New("more than one JSON value")
	}
	for i := range list {
		if err == nil {
			err = graph.ValidateImport(list[i].Remote)
		}
		if err == nil {
			_, err = list[i].Period()
		}
		if rule := list[i].Conflicts; err == nil && rule != "" {
			err = CheckRule(rule)
		}
	}
	if err != nil {
		return nil, verb.Hintf(fmt.Errorf("%w: %s: %w", state.ErrInvalid, path, err), "repair or remove the file")
	}
	return list, nil
}

// EditAutoSyncs changes the list atomically.
func EditAutoSyncs(ctx context.Context, dir string, edit func([]AutoSync) ([]AutoSync, error)) error {
	path := filepath.Join(dir, AutoSyncFile)
	err := filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxAutoSync}, func(data []byte) ([]byte, error) {
		list, err := parseAutoSyncs(path, data)
		if err != nil {
			return nil, err
		}
		if list, err = edit(list); err != nil || len(list) == 0 {
			return nil, err
		}
		out, err := json.MarshalIndent(list, "", "  ")
		if len(out) >= maxAutoSync {
			return nil, fmt.Errorf("%w: the list would have more than %d bytes", state.ErrInvalid, maxAutoSync)
		}
		return append(out, '\n'), err
	})
	if err != nil {
		return fmt.Errorf("write which remotes are synced automatically: %w", err)
	}
	return nil
}

// StopAutoSync takes a remote off the list, and returns how many are left on it; -1 if it was not there.
func StopAutoSync(ctx context.Context, dir, remote string) (left int, err error) {
	its := func(a AutoSync) bool { return a.Remote == remote }
	if list, err := AutoSyncs(dir); err != nil || !slices.ContainsFunc(list, its) {
		return -1, err
	}
	err = EditAutoSyncs(ctx, dir, func(list []AutoSync) ([]AutoSync, error) {
		list = slices.DeleteFunc(list, its)
		left = len(list)
		return list, nil
	})
	return left, err
}
