package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"filippo.io/age/agessh"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/ipld"
)

// AskHost returns this program as transfers see it.
func AskHost(c *line.Line) *place.Host {
	shown := c.Progress()
	h := &place.Host{
		Agent: c.Agent(), Task: line.FirstOf(c.Global.Task, c.By.Task), Time: c.Global.Time,
		Getenv: c.App.Getenv, Now: c.App.Now, Spread: c.App.PID, Rand: c.App.Rand,
		Dir: c.App.Dir, Config: c.UserConfig(), Stderr: c.App.Stderr, Terminal: c.App.ErrTTY,
		Progress: shown.Bytes, Over: shown.Done,
	}
	h.Side = func(dir string, try bool) remote.Side { return &directory{c: c, dir: dir, try: try} }
	h.Init = func(ctx context.Context, dir, branch string) error { return initMirror(ctx, c, dir, branch) }
	h.Author = func() (string, error) { return authorHere(c) }
	h.Pause = func(ctx context.Context, d time.Duration) error { return sleep(ctx, c, d) }
	h.Helper = func() (string, error) { // a repository's own names no program: it may be somebody else's
		got, err := c.LookUp(place.HelperKey, true)
		return got.Text(), err
	}
	h.Passphrase = func() (string, error) { return passphrase(c) }
	h.Identities = func(path string) ([]age.Identity, error) { return identities(c, path, h.Passphrase) }
	h.TrustPurge = func() (func(commit.Key) bool, error) { return trustPurge(c) }
	return h
}

// KeepOpen opens the repository in a directory once, for writing, when it is asked first, and keeps it open until the
// command ends. Other processes are answered while it is open. It is for commands that write.
func KeepOpen(c *line.Line, dir string) {
	if c.Kept == nil {
		c.Kept = make(map[string]*peers.Holder)
	}
	if _, ok := c.Kept[dir]; !ok {
		c.Kept[dir] = nil
	}
}

func initMirror(ctx context.Context, c *line.Line, dir, branch string) error {
	by, err := c.StampOf()
	if err != nil {
		return err
	}
	opt, err := Options(c)
	if err != nil {
		return err
	}
	opt.Branch = branch
	by.Guard, by.Signed, by.Head = nil, nil, nil
	r, err := care.Init(ctx, dir, by, opt)
	if err != nil {
		return err
	}
	return r.Close()
}

func authorHere(c *line.Line) (string, error) {
	if name := line.FirstOf(c.Global.Author, c.By.Author); name != "" {
		return name, nil
	}
	return c.Setting("author")
}

func sleep(ctx context.Context, c *line.Line, d time.Duration) error {
	if c.App.Sleep != nil {
		return c.App.Sleep(ctx, d)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// trustPurge returns what says which keys may erase here, nil if there are no keys.
func trustPurge(c *line.Line) (func(commit.Key) bool, error) {
	ring, err := c.Ring()
	if err != nil {
		return nil, nil
	}
	list, err := ring.Trusted()
	if err != nil {
		return nil, err
	}
	return list.TrustPurge, nil
}

// HereSide returns the repository of the command.
func HereSide(c *line.Line, signed bool) (*trade.Local, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	if _, err := c.RepoFile(""); err != nil {
		return nil, err
	}
	d := &directory{c: c, dir: dir, signed: signed}
	run := func(ctx context.Context, v *verb.Spec, req any, emit func(any) error) error {
		return d.run(ctx, v, req, nil, nil, emit)
	}
	return &trade.Local{Side: d, Asker: branching.Asker{Run: run, Time: c.Global.Time}, Dir: dir, Signed: signed}, nil
}

// TransferWith connects to the remote of a name. End must be called.
func TransferWith(ctx context.Context, c *line.Line, name string, signed, dryRun bool) (*trade.Transfer, error) {
	here, err := HereSide(c, signed)
	if err != nil {
		return nil, err
	}
	if !dryRun {
		KeepOpen(c, here.Dir)
	}
	r, err := FindRemote(c, name)
	if err != nil {
		return nil, err
	}
	return trade.Open(ctx, AskHost(c), here, r, dryRun)
}

// RemotesPath returns the path of the file with the list of remotes.
func RemotesPath(c *line.Line) (string, error) {
	dir, err := c.RepoFile("")
	return filepath.Join(dir, place.ListFile), err
}

// Remotes returns the other repositories that are known here, by name.
func Remotes(c *line.Line) ([]place.Remote, error) {
	path, err := RemotesPath(c)
	if err != nil {
		return nil, err
	}
	return place.List(path)
}

// EditRemotes changes the list.
func EditRemotes(ctx context.Context, c *line.Line, edit func([]place.Remote) ([]place.Remote, error)) error {
	path, err := RemotesPath(c)
	if err != nil {
		return err
	}
	return place.Edit(ctx, path, edit)
}

// FindRemote returns the remote of a name: if none is given origin, or else the only one.
func FindRemote(c *line.Line, name string) (place.Remote, error) {
	list, err := Remotes(c)
	if err != nil {
		return place.Remote{}, err
	}
	return place.Find(list, name)
}

const (
	// identityVar names a file with the identity that opens encrypted remotes, passphraseVar has the passphrase.
	identityVar   = "MNEM_IDENTITY"
	passphraseVar = "MNEM_PASSPHRASE"
	// maxIdentity bounds the file of an identity in bytes.
	maxIdentity = 1 << 20
)

// identities returns the identities in a file. For "" it returns those of the file that the environment names, or else
// the user's keys of ssh that need no passphrase. secret is asked for the passphrase of a named file.
func identities(c *line.Line, path string, secret func() (string, error)) ([]age.Identity, error) {
	if path == "" {
		path = c.App.Getenv(identityVar)
	}
	if path != "" {
		data, err := regular.Read(c.Absolute(path), maxIdentity)
		if err != nil {
			return nil, fmt.Errorf("read the identity: %w", err)
		}
		list, err := seal.ParseIdentities(data, secret)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, path, err)
		}
		return list, nil
	}
	var list []age.Identity
	for _, name := range []string{"id_ed25519", "id_rsa"} {
		if c.App.Home == "" {
			break
		}
		data, err := regular.Read(filepath.Join(c.App.Home, ".ssh", name), maxIdentity)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the identity: %w", err)
		}
		if ids, err := seal.ParseIdentities(data, func() (string, error) { return "", errLocked }); err == nil {
			list = append(list, ids...)
		}
	}
	return list, nil
}

// errLocked is returned for a default key with a passphrase: only a named key is worth asking for one.
var errLocked = errors.New("the key has a passphrase: name it by " + identityVar)

// Unattended refuses an encrypted remote that this machine opens only with a passphrase. It notes the file of the identity
// that the environment names: processes in the background may not have that variable.
func Unattended(ctx context.Context, c *line.Line, r place.Remote) error {
	if len(r.Encrypt) == 0 {
		return nil
	}
	asks := func(what string) error { // for a passphrase
		return line.Hint(fmt.Errorf("%w: %s, which a sync in the background cannot ask for", state.ErrInvalid, what),
			"name an identity without a passphrase, which is a reader: mnem remote add %s URL --force --identity FILE", plain.Shell(r.Name))
	}
	list, err := identities(c, r.Identity, func() (string, error) { return "", asks("the identity has a passphrase") })
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(list, func(id age.Identity) bool { _, locked := id.(*agessh.EncryptedSSHIdentity); return locked }):
		return asks("the identity has a passphrase")
	case len(list) == 0 || !slices.ContainsFunc(r.Encrypt, func(text string) bool { return text != seal.Passphrase }):
		return asks("no identity here opens the remote without a passphrase")
	}
	path := c.App.Getenv(identityVar)
	if r.Identity != "" || path == "" {
		return nil
	}
	path = c.Absolute(path)
	return EditRemotes(ctx, c, place.Change(r.Name, func(r *place.Remote) { r.Identity = path }))
}

// passphrase returns the passphrase of encrypted remotes, which it asks the user for if the environment has none.
func passphrase(c *line.Line) (string, error) {
	if pass := c.App.Getenv(passphraseVar); pass != "" {
		return pass, nil
	}
	if c.App.Hidden == nil {
		return "", line.Hint(line.Usagef("a passphrase is needed, and there is no terminal to ask"), "set %s", passphraseVar)
	}
	pass, err := c.App.Hidden("passphrase: ")
	if err == nil && len(pass) == 0 {
		err = line.Usagef("the passphrase is empty")
	}
	return string(pass), err
}

const maxRecipients = 64 << 10

// Readers parses recipients as they are given: texts of keys, or files with these.
func Readers(c *line.Line, given []string) (list []seal.Recipient, err error) {
	for _, text := range given {
		if !strings.HasPrefix(text, "age1") && !strings.HasPrefix(text, "ssh-") && text != seal.Passphrase {
			data, err := regular.Read(c.Absolute(text), maxRecipients)
			if err != nil {
				return nil, line.Hint(fmt.Errorf("read recipients: %w", err),
					"name a key that begins with age1 or ssh-, a file with keys, or '%s'", seal.Passphrase)
			}
			text = string(data)
		}
		readers, err := seal.ParseReader(text, func() (string, error) { return passphrase(c) })
		if err != nil {
			return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
		}
		list = append(list, readers...)
	}
	return list, nil
}

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

// directory is the repository in a directory as a side of a transfer. Each question opens it, unless it is kept open
// here; if another process has it open, that one is asked by verbs.
type directory struct {
	c      *line.Line
	dir    string // that holds .mnem
	signed bool   // whether commits that come must be signed
	try    bool   // whether what comes is only checked
}

var _ remote.Side = (*directory)(nil)

func (d *directory) Look(ctx context.Context, q remote.Question) (st *remote.State, err error) {
	err = d.ask(ctx, &transfer.PackRefs.Spec, func(s remote.Side) error { st, err = s.Look(ctx, q); return err })
	return st, err
}

func (d *directory) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	return d.ask(ctx, &transfer.PackSend.Spec, func(s remote.Side) error { return s.Send(ctx, w, want, from) })
}

func (d *directory) Take(ctx context.Context, news remote.News) (out *remote.Taken, err error) {
	err = d.ask(ctx, &transfer.PackTake.Spec, func(s remote.Side) error { out, err = s.Take(ctx, news); return err })
	return out, err
}

func (d *directory) Redactions(
	ctx context.Context, after ipld.CID,
) (list []care.ToldRedaction, more bool, err error) {
	err = d.ask(ctx, &transfer.PackRedactions.Spec, func(s remote.Side) error {
		list, more, err = s.Redactions(ctx, after)
		return err
	})
	return list, more, err
}

func (d *directory) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (out *care.AcceptedRedactions, err error) {
	err = d.ask(ctx, &transfer.PackRedact.Spec, func(s remote.Side) error {
		out, err = s.Accept(ctx, list, tracking)
		return err
	})
	return out, err
}

func (d *directory) Close() error { return nil }

// ask calls fn with the repository, which is asked what v would be: the caller has the right to that, and the operation
// log names it.
func (d *directory) ask(ctx context.Context, v *verb.Spec, fn func(remote.Side) error) error {
	side, err := d.aside(ctx)
	if err != nil {
		return err
	}
	side.Doing.Name, side.Doing.Words = v.Name(), strings.Fields(v.Command)
	if err := permit(side, side.Agent(), v.Rights(v.Request())); err != nil {
		return err
	}
	if err := side.Follow(); err != nil {
		return err
	}
	here := &remote.Here{Stamp: side.Stamp, DryRun: d.try}
	if v == &transfer.PackTake.Spec {
		if here.Verify, err = (VerbHost{side}).Require("import", d.signed); err != nil {
			return err
		}
	}
	opt, err := Options(side)
	if err != nil {
		return err
	}
	opt.ReadOnly = d.try || v.Effect == verb.Reads
	r, done, client, err := reach(ctx, side, d.dir, opt)
	if err != nil {
		return side.OpenHint(err)
	}
	if client != nil {
		_ = client.Close() // nothing was sent: another process may have it open by the time that it is asked
		return fn(transfer.Verbs{Do: d.do, Time: d.c.Global.Time, Signed: d.signed, DryRun: d.try})
	}
	here.Repo = r
	if err = fn(here); err == nil && !opt.ReadOnly {
		autoGC(ctx, side, r)
		if side.InUse == nil {
			embedLeft(ctx, side, r)
		}
	}
	side.Release(err)
	return line.FirstError(err, done())
}

// do runs a verb with one answer, as of transfer.Verbs.
func (d *directory) do(
	ctx context.Context, v *verb.Spec, req, _ any, in io.Reader, out io.Writer,
) (answer any, err error) {
	err = d.run(ctx, v, req, in, out, func(got any) error { answer = got; return nil })
	return answer, err
}

// run runs a verb, which reads what it reads from in and writes what it writes to out.
func (d *directory) run(
	ctx context.Context, v *verb.Spec, req any, in io.Reader, out io.Writer, emit func(any) error,
) error {
	side, err := d.aside(ctx)
	if err != nil {
		return err
	}
	if in != nil {
		side.App.Stdin = in
	}
	if out != nil {
		side.Terminal = false
		side.Out = line.Buffered(out)
	}
	if err = AskAside(ctx, side, v, req, emit); err == nil {
		err = side.Out.Flush()
	}
	if _, told := errors.AsType[*operation.Error](err); told && verb.OutcomeOf(ctx, err) == operation.Conflict {
		err = transfer.Conflict(err) // as those of this process say it
	}
	return err
}

// aside returns the command line by which the repository is asked, on behalf of the one here.
func (d *directory) aside(ctx context.Context) (side *line.Line, err error) {
	c := d.c
	side = Aside(ctx, c, d.dir)
	side.Global.Time = c.Global.Time
	if h, kept := c.Kept[d.dir]; kept && (c.App.Holder == nil || !c.App.Holder.Covers(d.dir)) {
		if h == nil {
			if h, err = NewHolder(side); err != nil {
				return nil, err
			}
			c.Kept[d.dir] = h
		}
		side.App.Holder = h
	}
	side.By.Agent, side.By.Task = line.FirstOf(c.Global.Agent, side.By.Agent), line.FirstOf(c.Global.Task, side.By.Task)
	side.By.Author, err = authorHere(c) // of a change elsewhere as well
	return side, err
}

// Global implements verb.Caller.
func (h VerbHost) Global() (verb.Runner, error) {
	c := h.C
	if c.By.Remote && !c.By.Global {
		return nil, fmt.Errorf("%w: another repository than the one that is served", line.ErrRemote)
	}
	project, err := c.Dir()
	if err != nil {
		return nil, err
	}
	global, err := c.HasGlobal()
	if err != nil {
		return nil, err
	}
	if global == project {
		return nil, line.Usagef("--with-global: %s is the user's own repository itself", project)
	}
	return func(ctx context.Context, v *verb.Spec, req any, emit func(any) error) error {
		return askGlobal(ctx, c, global, v, req, emit)
	}, nil
}

// WithGlobal is the field that asks for the user's own repository as well.
const WithGlobal = "with-global"

// GlobalTypes returns the types of memories that the user's own repository keeps.
func GlobalTypes(c *line.Line) ([]string, error) {
	v, err := OfUser(c, settings.TypesKey, settings.NoTypes)
	if v == "" || v == settings.NoTypes {
		return nil, err
	}
	return strings.Split(v, ","), err
}

// OfUser returns a setting about using a project's memory and the user's own together. A project's configuration can
// only say no, because someone else may have written it.
func OfUser(c *line.Line, name, no string) (string, error) {
	got, err := c.LookUp(name, false)
	if err == nil && got.From == settings.FromRepository && *got.Value != no {
		got, err = c.LookUp(name, true)
	}
	return got.Text(), err
}

// GlobalDir returns the directory of the user's own repository if questions go to it as well without saying so, "" if
// they do not. It does so only for callers that act for the user.
func GlobalDir(c *line.Line) string {
	if only, err := confined(c, ""); only != "" || err != nil || c.Global.User || c.By.Remote && !c.By.Global {
		return ""
	}
	if !c.By.Global {
		if types, err := GlobalTypes(c); len(types) == 0 || err != nil {
			return ""
		}
	}
	project, err := c.Dir()
	if err != nil {
		return "" // which the verb says
	}
	if global, err := c.HasGlobal(); err == nil && global != project {
		return global
	}
	return ""
}

// AskBoth adds the user's own repository to a question if GlobalDir has it, and returns the names of the fields that
// say so.
func AskBoth(c *line.Line, req any, given []string) []string {
	q, ok := req.(interface{ AskGlobal([]string) bool })
	if !ok || slices.Contains(given, WithGlobal) || GlobalDir(c) == "" || !q.AskGlobal(given) {
		return nil
	}
	return []string{WithGlobal}
}

// keeper returns the directory of the user's own repository if a request's memory belongs there, else "".
func keeper(c *line.Line, req any) (string, error) {
	q, ok := req.(interface{ Movable() string })
	if !ok || q.Movable() == "" {
		return "", nil
	}
	types, err := GlobalTypes(c)
	if err != nil || !slices.Contains(types, q.Movable()) {
		return "", err
	}
	return GlobalDir(c), nil
}

// keepElsewhere has the user's own repository store a request's memory.
func keepElsewhere(ctx context.Context, c *line.Line, dir string, v *verb.Spec, req any, emit func(any) error) error {
	return askGlobal(ctx, c, dir, v, req, func(answer any) error {
		if r, ok := answer.(interface{ KeptElsewhere() }); ok {
			r.KeptElsewhere()
		}
		return emit(answer)
	})
}

// askGlobal runs a verb on the user's own repository, here or where another process has it open.
func askGlobal(
	ctx context.Context, c *line.Line, dir string, v *verb.Spec, req any, emit func(any) error,
) error {
	side := Aside(ctx, c, dir)
	side.By.Branch = "" // of the project
	return AskAside(ctx, side, v, req, emit)
}

// Aside returns a line that runs a verb on the repository in dir and returns the answer to this process.
func Aside(ctx context.Context, c *line.Line, dir string) *line.Line {
	app := *c.App
	app.Stdin = strings.NewReader("")
	side := &line.Line{
		App: &app, Console: line.ConsoleOf(&app, line.Buffered(io.Discard)), Started: true,
		Doing: line.Doing{Ctx: ctx, Wait: c.Doing.Wait}, By: c.By, Quietly: true,
	}
	side.By.Session, side.By.Following = "", nil
	side.Global, side.InJSON, side.Quiet = line.GlobalFlags{Repo: dir, Wait: c.Global.Wait}, true, true
	return side
}

// AskAside runs a verb on the line of another repository, and ends its use.
func AskAside(ctx context.Context, c *line.Line, v *verb.Spec, req any, emit func(any) error) error {
	c.Doing.Name, c.Doing.Words = v.Name(), strings.Fields(v.Command)
	err := Ask(ctx, c, v, req, emit)
	c.Release(err)
	return err
}
