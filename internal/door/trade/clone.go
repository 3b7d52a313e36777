package trade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/setup"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

type (
	cloneRequest struct {
		From string `op:",arg"`
		Dir  string `op:",arg"`
		verb.Actor
		takesSigned
		withSessions
		encrypts
	}
)

func cloneHere(ctx context.Context, c *line.Line, q *cloneRequest) error {
	res, err := clone(ctx, c, q)
	if err != nil {
		return err
	}
	answers.RemarkLearned(&c.Console, place.DefaultName, res.Learned)
	if !res.Commit.Defined() {
		return c.Say(res, "cloned into %s: nothing is there yet\n", line.OneLine(res.Path))
	}
	return c.Say(res, "cloned into %s: branch %s at %s, %s, %s\n", line.OneLine(res.Path), c.Paint(show.Cyan, line.OneLine(res.Branch)),
		c.Paint(show.Yellow, show.ShortCID(res.Commit)), line.Plural(res.Refs, "ref"), plain.Bytes(res.Bytes))
}

func clone(ctx context.Context, c *line.Line, q *cloneRequest) (res *trade.Cloned, err error) {
	if c.Global.Repo != "" || c.Global.User {
		return nil, line.Usagef("--repo and --global do not go with clone: name the directory after the URL")
	}
	from := place.Remote{Name: place.DefaultName}
	if err := q.to(c, &from); err != nil {
		return nil, err
	}
	if from.URL, err = place.Kept(c.App.Dir, q.From); err != nil {
		return nil, err
	}
	dir := q.Dir
	if dir == "" {
		if dir, err = cloneDir(from.URL); err != nil {
			return nil, err
		}
	}
	dir = c.Absolute(dir)
	path := filepath.Join(dir, core.DirName)
	if _, err := os.Lstat(path); err == nil {
		return nil, setup.RepoExists(fs.ErrExist, path)
	}
	if c.Global.Author, _, err = setup.FirstAuthor(c); err != nil {
		return nil, err
	}
	if info, err := os.Stat(from.URL); err == nil && !info.IsDir() {
		if err := regular.Check(q.From, info); err != nil {
			return nil, err
		}
		return cloneInto(ctx, c, dir, core.DefaultBranch, q.Signed, func(ctx context.Context, here *trade.Local) (*trade.Cloned, error) {
			return trade.CloneFile(ctx, here, from.URL)
		})
	}
	there, err := trade.Connect(ctx, reach.AskHost(c), from, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = there.Close() }() // all was said
	st, err := there.Look(ctx, remote.Question{})
	if err != nil {
		return nil, err
	}
	if readers := trade.EncryptedFor(there); readers != nil {
		from.Encrypt = readers
	}
	branch := core.DefaultBranch
	if name, ok := st.Head.Branch(); ok {
		if err := graph.ValidateRef(st.Head); err != nil {
			return nil, fmt.Errorf("%w: HEAD there: %w", state.ErrInvalid, err)
		}
		branch = name
	}
	return cloneInto(ctx, c, dir, branch, q.Signed, func(ctx context.Context, here *trade.Local) (*trade.Cloned, error) {
		err := reach.EditRemotes(ctx, c, func([]place.Remote) ([]place.Remote, error) { return []place.Remote{from}, nil })
		if err != nil {
			return nil, err
		}
		return trade.Between(reach.AskHost(c), here, from, there, false).WithSessions(q.Sessions).Clone(ctx, branch)
	})
}

// cloneInto makes a repository and has it filled. Nothing half written stays.
func cloneInto(
	ctx context.Context, c *line.Line, dir, branch string, signed bool,
	fill func(ctx context.Context, here *trade.Local) (*trade.Cloned, error),
) (res *trade.Cloned, err error) {
	_, statErr := os.Lstat(dir)
	if err := setup.MakeRepo(ctx, c, dir, branch); err != nil {
		return nil, err
	}
	c.Global.Repo, c.Conf = dir, nil
	here, err := reach.HereSide(c, signed)
	if err == nil {
		reach.KeepOpen(c, here.Dir)
		res, err = fill(ctx, here)
	}
	if err != nil {
		err = errors.Join(err, c.CloseKept(), os.RemoveAll(filepath.Join(dir, core.DirName)))
		if errors.Is(statErr, fs.ErrNotExist) {
			_ = os.Remove(dir) // unless something else is in it
		}
		return nil, err
	}
	return res, nil
}

// cloneDir returns the directory that a clone of a URL is made in.
func cloneDir(at string) (string, error) {
	u, err := place.ParseURL(at)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(filepath.ToSlash(u.Path), "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/"+core.DirName), ".git")
	name := path[strings.LastIndexByte(path, '/')+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".mnem"), ".car")
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, ":\\") {
		return "", line.Usagef("name the directory of the clone after the URL")
	}
	return name, nil
}
