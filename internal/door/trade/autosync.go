package trade

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// settleFor is how long no write may follow the last one before remotes are synced; settleMost bounds the wait.
	settleFor  = 2 * time.Second
	settleMost = 30 * time.Second
	// autoLimit bounds a background process: what is left is done by the next one.
	autoLimit = 10 * time.Minute
	// defaultEvery is how often a server syncs if nothing else is said.
	defaultEvery = 5 * time.Minute
)

type autoJSON struct {
	Remote string `json:"remote"`
	Auto   bool   `json:"auto"`
	Every  string `json:"every,omitempty"`
}

// autoSync turns automatic syncs on or off, or is the background process that makes them.
func autoSync(ctx context.Context, c *line.Line, q *syncRequest) error {
	every := defaultEvery
	switch q.Auto {
	case "run":
		return runAutoSync(ctx, c)
	case "on", "off":
	default:
		var err error
		if every, err = time.ParseDuration(q.Auto); err != nil {
			return line.Usagef("--auto %q: want on, off, or how often, as 10m", q.Auto)
		}
		if every < branching.MinAutoSync || every > branching.MaxAutoSync {
			return line.Usagef("--auto %s: want a duration from %s to %s", q.Auto, branching.MinAutoSync, branching.MaxAutoSync)
		}
	}
	dir, err := c.RepoFile("")
	if err != nil {
		return err
	}
	r, err := reach.FindRemote(c, q.Remote)
	if err != nil {
		return err
	}
	name := line.OneLine(r.Name)
	if q.Auto == "off" {
		if err := stopAutoSync(ctx, c, dir, r.Name); err != nil {
			return err
		}
		return c.Say(&autoJSON{Remote: r.Name}, "%s is synced only by 'mnem sync'\n", name)
	}
	if err := reach.Unattended(ctx, c, r); err != nil {
		return err
	}
	if err := turnOn(ctx, c, q, every, dir, r.Name); err != nil {
		return err
	}
	if c.App.Detach != nil {
		reach.StartSync(c.App, filepath.Dir(dir))
	}
	return c.Say(&autoJSON{r.Name, true, every.String()}, "%s is synced after writes here, and every %s while a server runs\n",
		name, every)
}

func turnOn(ctx context.Context, c *line.Line, q *syncRequest, every time.Duration, dir, remote string) error {
	a := branching.AutoSync{Remote: remote, Every: every.String(), All: q.All, Tags: q.Tags, Sessions: q.Sessions}
	if _, err := a.Period(); err != nil {
		return line.Usagef("--auto: %w", err)
	}
	if q.Given("conflicts") {
		a.Conflicts = q.Conflicts
		if err := branching.CheckRule(a.Conflicts); err != nil {
			return line.Usagef("--conflicts: %w", err)
		}
	}
	err := branching.EditAutoSyncs(ctx, dir, func(list []branching.AutoSync) ([]branching.AutoSync, error) {
		for i := range list {
			if list[i].Remote == a.Remote {
				a.Worked, a.Tried, a.Failed, a.Message = list[i].Worked, list[i].Tried, list[i].Failed, list[i].Message
				list[i] = a
				return list, nil
			}
		}
		return append(list, a), nil
	})
	if err != nil {
		return err
	}
	return reach.ConsentToSync(ctx, c.UserConfig(), filepath.Dir(dir), true)
}

// stopAutoSync takes a remote off the list, and with the last one the user's consent.
func stopAutoSync(ctx context.Context, c *line.Line, dir, remote string) error {
	left, err := branching.StopAutoSync(ctx, dir, remote)
	if err != nil || left != 0 {
		return err
	}
	return reach.ConsentToSync(ctx, c.UserConfig(), filepath.Dir(dir), false)
}

// runAutoSync syncs remotes once writes have paused, again while others follow, and ends. If another process does so
// already, that one finds the newest write.
func runAutoSync(ctx context.Context, c *line.Line) error {
	dir, err := c.RepoFile("")
	if err != nil {
		return err
	}
	if !reach.AutoSyncs(c.UserConfig(), filepath.Dir(dir)) {
		return line.Hint(fmt.Errorf("%w: nothing is synced automatically here", state.ErrInvalid),
			"'mnem sync --auto on' turns it on")
	}
	ctx, cancel := context.WithTimeout(ctx, autoLimit)
	defer cancel()
	c.App.Detach = nil // its own writes need no other process
	c.App.Hidden = nil // it has no user to ask
	path := filepath.Join(dir, branching.AutoSyncTouched)
	done := time.Time{}
	for first := true; first || reach.SyncTouched(path) != done && ctx.Err() == nil; {
		unlock, err := reach.LockSync(path)
		if err != nil {
			return nil
		}
		for ; first || reach.SyncTouched(path) != done && ctx.Err() == nil; first = false {
			done = quiet(ctx, path)
			err = errors.Join(err, syncAll(ctx, c, dir))
		}
		if err = errors.Join(err, unlock()); err != nil {
			return err
		}
	}
	return nil
}

// quiet waits until no write has followed another for a while, and returns the time of the last one.
func quiet(ctx context.Context, path string) time.Time {
	last := reach.SyncTouched(path)
	for waited := time.Duration(0); waited < settleMost; waited += settleFor {
		select {
		case <-ctx.Done():
			return last
		case <-time.After(settleFor):
		}
		next := reach.SyncTouched(path)
		if next == last {
			break
		}
		last = next
	}
	return last
}

// syncAll syncs every remote of the list once, and notes what came of it. It returns only errors of the list.
func syncAll(ctx context.Context, c *line.Line, dir string) error {
	list, err := branching.AutoSyncs(dir)
	for _, a := range list {
		tried := c.App.Clock()
		failed := syncOne(ctx, c, &a)
		_ = c.CloseKept() // what was acknowledged is on disk
		if errors.As(failed, new(*state.NotFoundError)) && !known(c, a.Remote) {
			err = errors.Join(err, stopAutoSync(ctx, c, dir, a.Remote))
			continue
		}
		note := func(list []branching.AutoSync) ([]branching.AutoSync, error) {
			if i := slices.IndexFunc(list, func(b branching.AutoSync) bool { return b.Remote == a.Remote }); i >= 0 {
				noteSync(ctx, &list[i], tried, failed)
			}
			return list, nil
		}
		err = errors.Join(err, branching.EditAutoSyncs(context.WithoutCancel(ctx), dir, note))
	}
	return err
}

func known(c *line.Line, name string) bool {
	list, err := reach.Remotes(c)
	return err != nil || slices.Contains(place.Names(list), name)
}

// noteSync notes an attempt. Messages of conflicts have texts of the memory, and are not noted.
func noteSync(ctx context.Context, a *branching.AutoSync, tried graph.Time, failed error) {
	a.Tried, a.Failed, a.Message = graph.At(tried), "", ""
	if failed == nil {
		a.Worked = a.Tried
		return
	}
	outcome := line.OutcomeOf(ctx, failed)
	if a.Failed = verb.Text(outcome.Code); outcome != operation.Conflict {
		a.Message = line.OneLine(failed.Error())
	}
}

// syncOne makes both sides equal. A merge whose conflicts were all decided since is finished first.
func syncOne(ctx context.Context, c *line.Line, a *branching.AutoSync) error {
	rule, err := c.Configured(settings.ConflictsKey)
	if a.Conflicts != "" {
		rule, err = a.Conflicts, nil
	}
	if err != nil {
		return err
	}
	c.Kept = nil
	t, err := reach.TransferWith(ctx, c, a.Remote, false, false)
	if err != nil {
		return err
	}
	defer t.End()
	names, err := branchesToSync(ctx, c, t, "", a.All)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := t.Continue(ctx, name); err != nil {
			return err
		}
	}
	_, err = t.WithSessions(a.Sessions).Sync(ctx, trade.SyncOptions{Branches: names, Conflicts: rule, Tags: a.Tags})
	return err
}
