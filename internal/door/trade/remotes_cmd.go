package trade

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/exchange/remote/mirror"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

type (
	// remoteAt is a remote and where it is.
	remoteAt struct {
		Name  string `op:",arg"`
		URL   string `op:"url,arg"`
		Force bool   `op:"" doc:"change where a remote is that there is already"`
		encrypts
	}
	// encrypts says who can read what is stored elsewhere.
	encrypts struct {
		Encrypt  []string `op:"" doc:"encrypt what is stored there to this {RECIPIENT}" note:" (repeatable)"`
		Identity string   `op:"" doc:"the {FILE} with the identity that opens it"`
	}
	remoteReaders struct {
		Name   string   `op:",arg"`
		Add    []string `op:"encrypt" doc:"let this {RECIPIENT} read it too" note:" (repeatable)"`
		Remove []string `op:"" doc:"encrypt everything again, without this {RECIPIENT}" note:" (repeatable)"`
		Accept bool     `op:"" doc:"take it as it is, though it is older than before or was replaced"`
		verb.Actor
	}
	remoteNamed struct {
		Name string `op:",arg"`
		verb.Actor
	}
)

// RemoteCommands are the commands for the list of remotes.
func RemoteCommands() []*line.Bound {
	one := []any{place.Remote{}}
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "remote add", Right: verb.OwnRight, Usage: "NAME URL", Title: "Add a remote",
			Doc: "Give another repository a name: 1 to 64 letters, digits, and . - _ inside. It is not contacted\n" +
				"before the first fetch or push, except for a bucket: eight writers at once test whether its store\n" +
				"keeps writers apart, and one that does not is refused. A relative path is stored as an absolute one.\n\n" +
				"With --encrypt a git repository, a bucket or a directory learns sizes and times only. A recipient is\n" +
				"a key of age (age1…) or ssh (ssh-ed25519 …, ssh-rsa …), a file of these, or the word passphrase. To\n" +
				"read it, each machine needs an identity: --identity FILE, MNEM_IDENTITY, else ~/.ssh/id_ed25519 or\n" +
				"id_rsa; or MNEM_PASSPHRASE.\n\n" +
				"--force changes where the remote NAME is. What was fetched from it, its encryption and its identity\n" +
				"stay; redactions wait again.",
			Example: "  mnem remote add origin ../team\n  mnem remote add laptop file:///mnt/laptop/notes\n" +
				"  mnem remote add disk /mnt/disk/memory --encrypt team.keys\n  mnem remote add origin /mnt/disk/memory --force", Answers: one,
		}, remoteAdd),
		reach.Local(verb.Spec{
			Command: "remote readers", Right: verb.OwnRight, Usage: "NAME",
			Title: "List or change who can read an encrypted remote",
			Doc: "List the recipients of an encrypted remote. --encrypt lets another one read it. --remove\n" +
				"makes another key, encrypts everything again and deletes the old objects: a removed reader can still\n" +
				"read copies made before, but nothing stored later. If it was interrupted, run it again. If the remote\n" +
				"is older than when it was last read, or its key does not follow the one it had, it is refused. After\n" +
				"you have restored it from a backup, --accept takes it as it is.",
			Example: "  mnem remote readers disk\n  mnem remote readers disk --encrypt bob.pub\n" +
				"  mnem remote readers disk --remove bob.pub", Answers: []any{mirror.Readers{}},
		}, readersOf),
		reach.LocalLines(verb.Spec{
			Command: "remote list", Right: verb.NoRight, Title: "List remotes",
			Doc:     "List the names of other repositories and where they are. With --json, one object a line.",
			Example: "  mnem remote list\n  mnem remote list --json", Answers: one,
		}, remoteList),
		reach.Local(verb.Spec{
			Command: "remote rm", Right: verb.OwnRight, Runs: []string{"pack_take"},
			Usage: "NAME", Title: "Remove a remote",
			Doc: "Forget another repository: its name, and the refs under refs/remotes/NAME. Branches and tags of\n" +
				"this repository stay, and nothing is changed there.",
			Example: "  mnem remote rm laptop", Answers: one,
		}, removeRemote),
	}
}

// remoteAdd notes where a remote is, once that was tried.
func remoteAdd(ctx context.Context, c *line.Line, q *remoteAt) error {
	url, err := place.Kept(c.App.Dir, q.URL)
	if err != nil {
		return err
	}
	r := place.Remote{Name: q.Name, URL: url}
	if err := q.to(c, &r); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	// Refs and messages have the name.
	if err := (state.SecretOptions{}).Refuse(guard.Text("remote", r.Name)); err != nil {
		return err
	}
	if err := tryRemote(ctx, c, r); err != nil {
		return err
	}
	edit := func(list []place.Remote) ([]place.Remote, error) {
		if slices.Contains(place.Names(list), r.Name) {
			return nil, line.Hint(line.Already(fs.ErrExist, "remote %q", r.Name), "--force changes where it is")
		}
		return append(list, r), nil
	}
	if q.Force {
		edit = place.Change(r.Name, func(known *place.Remote) {
			if len(r.Encrypt) == 0 {
				r.Encrypt = known.Encrypt // it stays encrypted wherever it is
			}
			if r.Identity == "" {
				r.Identity = known.Identity
			}
			*known = r // what was trusted of the old place is not trusted of the new one
		})
	}
	if err := reach.EditRemotes(ctx, c, edit); err != nil {
		return err
	}
	return show.Answer(&c.Console, r, answers.Remote)
}

// to sets the recipients and the identity of a remote.
func (q *encrypts) to(c *line.Line, r *place.Remote) error {
	readers, err := reach.Readers(c, q.Encrypt)
	for _, reader := range readers {
		r.Encrypt = append(r.Encrypt, reader.Text)
	}
	if q.Identity != "" {
		r.Identity = c.Absolute(q.Identity)
	}
	return err
}

func readersOf(ctx context.Context, c *line.Line, q *remoteReaders) error {
	r, err := reach.FindRemote(c, q.Name)
	if err != nil {
		return err
	}
	here, err := reach.HereSide(c, false)
	if err != nil {
		return err
	}
	change := mirror.ReadersChange{Accept: q.Accept}
	if change.Add, err = reach.Readers(c, q.Add); err == nil {
		change.Remove, err = reach.Readers(c, q.Remove)
	}
	if err != nil {
		return err
	}
	got, err := trade.Readers(ctx, reach.AskHost(c), here, r, change)
	if err != nil {
		return err
	}
	if len(got.Removed) > 0 {
		c.Remark("a removed reader can still read copies made before: their own, backups, and old versions that the host keeps")
	}
	return c.Say(got, "%s\n", strings.Join(got.Readers, "\n"))
}

func remoteList(_ context.Context, c *line.Line, _ *struct{}) error {
	list, err := reach.Remotes(c)
	if err != nil {
		return err
	}
	return show.PrintList(&c.Console, list, func(r place.Remote) []show.Cell {
		return show.Row(line.OneLine(r.Name), show.Cyan, line.OneLine(r.URL), "")
	})
}

func removeRemote(ctx context.Context, c *line.Line, q *remoteNamed) error {
	here, err := reach.HereSide(c, false)
	if err != nil {
		return err
	}
	path, err := reach.RemotesPath(c)
	if err != nil {
		return err
	}
	was, err := trade.Forget(ctx, here, path, q.Name)
	if err == nil {
		err = stopAutoSync(ctx, c, here.Path(), q.Name)
	}
	if err != nil {
		return err
	}
	return c.Say(was, "forgot %s, which is %s\n", c.Paint(show.Cyan, line.OneLine(q.Name)), line.OneLine(was.URL))
}

// tryRemote tries whether the place of a remote keeps writers apart, if that is in doubt.
func tryRemote(ctx context.Context, c *line.Line, r place.Remote) error {
	here, err := reach.HereSide(c, false)
	if err != nil {
		return err
	}
	tried, err := trade.Try(ctx, reach.AskHost(c), here, r)
	if err == nil && !tried {
		c.Remark("%s cannot be written with these keys: it was not tried whether it keeps writers apart", line.OneLine(r.URL))
	}
	return err
}

// BindRedactions binds the verb about what remotes say was erased to the setting of the remote. If no
// remote is named it is about the one that other commands are about.
func BindRedactions() *line.Bound {
	v := reach.Bind(transfer.RemoteRedactions, answers.Quarantine)
	v.Around = func(ctx context.Context, c *line.Line, req any, run func(context.Context) error) error {
		if c.By.Remote {
			return run(ctx)
		}
		q := req.(*transfer.RemoteRedactionsRequest)
		r, err := reach.FindRemote(c, q.Name)
		if err == nil && q.Auto != "" {
			err = acceptPurge(ctx, c, r.Name, q.Auto == "on")
		}
		if err != nil {
			return err
		}
		q.Name = r.Name
		return run(ctx)
	}
	return v
}

func acceptPurge(ctx context.Context, c *line.Line, name string, always bool) error {
	return reach.EditRemotes(ctx, c, place.Change(name, func(r *place.Remote) {
		r.AcceptPurge = ""
		if always {
			r.AcceptPurge = place.AcceptAlways
		}
	}))
}
