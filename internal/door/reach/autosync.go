package reach

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
)

// idleSync is the time after which a long-running process without remotes to sync looks again.
const idleSync = 5 * time.Minute

// syncLater has a background process sync remotes after a command that may have written, once its answer is out.
func syncLater(c *line.Line, spec *verb.Spec, req any) {
	if c.App.Detach == nil || spec.EffectOf(req) == verb.Reads || verb.WritingOf(req).DryRun {
		return
	}
	if dir, err := c.Dir(); err == nil && AutoSyncs(c.UserConfig(), dir) && c.Out.Flush() == nil {
		StartSync(c.App, dir)
	}
}

const (
	// consentFile, next to the user's configuration, lists the repositories that are synced automatically, a path a line.
	// What a repository says itself is not enough: it may come from someone else, with remotes of theirs.
	consentFile = "autosync"
	// maxConsents bounds the file in bytes.
	maxConsents = 1 << 20
)

// AutoSyncs reports whether the repository in a directory has remotes that are synced automatically, and the user with
// a configuration agreed to that.
func AutoSyncs(config, dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, core.DirName, branching.AutoSyncFile)); err != nil || config == "" {
		return false
	}
	data, err := filestate.Read(filepath.Join(filepath.Dir(config), consentFile), maxConsents)
	return err == nil && slices.Contains(strings.Split(string(data), "\n"), canonical(dir))
}

// ConsentToSync notes that the user wants the repository in a directory to be synced automatically, or no longer.
func ConsentToSync(ctx context.Context, config, dir string, wanted bool) error {
	if config == "" {
		return line.Hint(fmt.Errorf("%w: there is no directory for the user's configuration", state.ErrInvalid),
			"set XDG_CONFIG_HOME")
	}
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		return err
	}
	path, own := filepath.Join(filepath.Dir(config), consentFile), canonical(dir)
	return filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxConsents}, func(data []byte) ([]byte, error) {
		list := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
		list = slices.DeleteFunc(list, func(known string) bool { return known == own })
		if wanted {
			list = append(list, own)
		}
		if len(list) == 0 {
			return nil, nil
		}
		return []byte(strings.Join(list, "\n") + "\n"), nil
	})
}

// canonical returns the path by which a directory is known, whatever way leads to it.
func canonical(dir string) string {
	if at, err := filepath.Abs(dir); err == nil {
		dir = at
	}
	if at, err := filepath.EvalSymlinks(dir); err == nil {
		dir = at
	}
	return dir
}

// StartSync notes that something was written, and starts a background process that syncs unless one runs.
func StartSync(app *line.App, dir string) {
	path := filepath.Join(dir, core.DirName, branching.AutoSyncTouched)
	if now := app.Now(); os.Chtimes(path, now, now) != nil {
		_ = filestate.Create(path, nil)
	}
	// The lock is tried after the note: the process that holds it looks for notes once more after releasing it.
	startSync(app, dir)
}

// startSync starts a background process that syncs unless one runs. Errors are left to the next attempt.
func startSync(app *line.App, dir string) {
	path := filepath.Join(dir, core.DirName, branching.AutoSyncTouched)
	if unlock, err := LockSync(path); err == nil && unlock() == nil {
		_ = app.Detach("sync", "--auto", "run", "--quiet", "--repo", dir)
	}
}

// LockSync takes the lock of automatic syncs. It does not wait.
func LockSync(path string) (unlock func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return filestate.Lock(ctx, path)
}

// syncRegularly has remotes synced when a long-running process starts, and regularly until ctx ends.
func syncRegularly(ctx context.Context, app *line.App, config, dir string) {
	for {
		pause := idleSync
		list, err := branching.AutoSyncs(filepath.Join(dir, core.DirName))
		if err == nil && AutoSyncs(config, dir) {
			startSync(app, dir)
		}
		for _, a := range list {
			if every, err := a.Period(); err == nil {
				pause = min(pause, every)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// SyncTouched returns when there was last something to sync.
func SyncTouched(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
