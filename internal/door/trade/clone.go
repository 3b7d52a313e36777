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
	"github.com/mnem-project/mnem/internal/verb/transfer"
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
	backupRequest struct {
		To string `op:",arg"`
		encrypts
	}
)

// ReadsOnly reports whether the backup is a file: then it only reads, as an export does.
func (q *backupRequest) ReadsOnly() bool { return !strings.Contains(q.To, "://") }

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

// backupJSON is a file that a backup wrote.
type backupJSON struct {
	File     string     `json:"file"`
	Refs     []core.Ref `json:"refs"`
	Blocks   int        `json:"blocks"`
	Bytes    int64      `json:"bytes"`
	Redacted int        `json:"redacted"` // blocks that were erased and are not in it
}

func backup(ctx context.Context, c *line.Line, q *backupRequest) error {
	here, err := reach.HereSide(c, false)
	if err != nil {
		return err
	}
	if q.To == line.StdinName {
		return line.Usagef("name a file: 'mnem export --all -o -' writes to standard output")
	}
	if !q.ReadsOnly() {
		reach.KeepOpen(c, here.Dir)
		return backupTo(ctx, c, q, here)
	}
	if len(q.Encrypt) > 0 {
		return line.Hint(line.Usagef("--encrypt goes with a URL"), "use %s for a directory", plain.Shell("file://"+filepath.ToSlash(c.Absolute(q.To))))
	}
	answer, err := here.Answer(ctx, &transfer.Export.Spec, &transfer.ExportRequest{All: true, Output: c.Absolute(q.To)})
	if err != nil {
		return err
	}
	a := answer.(*transfer.Exported)
	out := &backupJSON{a.File, a.Refs, a.Blocks, a.Bytes, a.Redacted}
	return c.Say(out, "%s, %s, %s in %s\n", line.Plural(len(out.Refs), "ref"), line.Plural(out.Blocks, "block"), plain.Bytes(out.Bytes),
		line.OneLine(q.To))
}

// backupRemote is the name of the remote that a backup goes to if none has its URL.
const backupRemote = "backup"

// backupTo brings every branch, tag and session to another repository.
func backupTo(ctx context.Context, c *line.Line, q *backupRequest, here *trade.Local) error {
	url := q.To
	r := place.Remote{Name: backupRemote, URL: url}
	err := q.to(c, &r)
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return err
	}
	list, err := reach.Remotes(c)
	if err != nil {
		return err
	}
	for _, known := range list {
		if known.URL == url {
			if len(r.Encrypt) > 0 && len(known.Encrypt) == 0 {
				return fmt.Errorf("%w: the remote %s is not encrypted", state.ErrInvalid, known.Name)
			}
			r = known
			break
		}
		if known.Name == backupRemote {
			return line.Hint(fmt.Errorf("%w: the remote %s has another URL", state.ErrInvalid, backupRemote),
				"'mnem remote add NAME %s' gives this one a name of its own", plain.Shell(url))
		}
	}
	t, err := trade.Open(ctx, reach.AskHost(c), here, r, false)
	if err != nil {
		return err
	}
	defer t.End()
	refs, err := t.Refs(ctx, nil, true, true)
	if err != nil {
		return err
	}
	res, err := t.WithSessions(true).Push(ctx, remote.PushOptions{Refs: refs, Force: true})
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, res, answers.Push)
}
