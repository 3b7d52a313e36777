package verbs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/access"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/setup"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

type doctor struct {
	upkeep.Diagnosis
	c       *line.Line
	req     *upkeep.DoctorRequest
	ctx     context.Context
	corrupt bool // whether an error is of stored bytes
}

// bindDoctor binds the verb that looks at the repository to what looks at everything else.
func bindDoctor() *line.Bound {
	around := func(ctx context.Context, c *line.Line, req any, _ func(context.Context) error) error {
		d := &doctor{c: c, req: req.(*upkeep.DoctorRequest), ctx: ctx}
		d.req.Now, c.Quietly = c.App.Clock(), true
		d.examine()
		return d.print()
	}
	return &line.Bound{Spec: &upkeep.Doctor.Spec, Around: around}
}

func (d *doctor) failed(check, fix string, err error) {
	d.corrupt = d.Failed(check, fix, err) != nil || d.corrupt
}

func (d *doctor) examine() {
	dir, err := d.c.Dir()
	defer func() { setup.Integrating(d.c, setup.Integration{}).Examine(&d.Diagnosis, dir) }()
	if err != nil {
		dir = ""
		d.failed("repository", "", err)
		return
	}
	if d.c.OfMain(dir) {
		d.Find(upkeep.LevelNote, "repository", "", "this git work tree uses the memory of the main one, in %s", dir)
	}
	path := filepath.Join(dir, core.DirName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.Find(upkeep.LevelError, "repository", "mnem init --repo "+dir, "there is no repository in %s", dir)
	case err != nil:
		d.failed("repository", "", err)
	case !info.IsDir():
		d.Find(upkeep.LevelError, "repository", "move it away", "%s is no directory", path)
	default:
		d.permissions(path, info)
		d.socket(path)
		d.disk(path)
		if d.configuration() {
			d.models()
			d.repository(path)
			d.synced(path)
		}
		d.policy()
	}
}

func (d *doctor) permissions(path string, info os.FileInfo) {
	switch {
	case line.OfOther(info):
		d.Find(upkeep.LevelWarning, "permissions", "chown -R \"$USER\" "+path, "%s belongs to another user", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0: // Windows has other ways to say so
		d.Find(upkeep.LevelWarning, "permissions", "chmod -R go-w "+path, "others may write in %s", path)
	default:
		d.Find(upkeep.LevelOK, "permissions", "", "%s is yours", path)
	}
}

// socket looks at where the process that has the repository open answers others.
func (d *doctor) socket(path string) {
	path = filepath.Join(path, "socket")
	info, err := os.Lstat(path)
	switch {
	case err != nil: // no process answers, or one elsewhere
	case info.Mode()&os.ModeSocket == 0:
		d.Find(upkeep.LevelWarning, "socket", "rm "+path, "%s is no socket", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		d.Find(upkeep.LevelError, "socket", "chmod 600 "+path, "others may use %s", path)
	default:
		d.Find(upkeep.LevelOK, "socket", "", "%s is open to you alone", path)
	}
}

const (
	fewBytes = 256 << 20 // of free space: worth a warning
	noBytes  = 16 << 20  // writes will fail soon
)

func (d *doctor) disk(path string) {
	free, known := filestate.FreeSpace(path)
	switch {
	case !known:
		d.Find(upkeep.LevelNote, "disk", "", "the system does not tell how much space is left")
	case free < fewBytes:
		level := upkeep.LevelWarning
		if free < noBytes {
			level = upkeep.LevelError
		}
		d.Find(level, "disk", "make room, or run 'mnem gc'", "%d MiB are left on the disk", free>>20)
	default:
		d.Find(upkeep.LevelOK, "disk", "", "%d MiB are left", free>>20)
	}
}

// configuration reports whether the configurations can be read, which all else needs.
func (d *doctor) configuration() bool {
	if _, err := d.c.Configs(); err != nil {
		d.failed("config", "repair or remove the file", err)
		return false
	}
	author, err := d.c.Configured("author")
	switch {
	case err != nil:
		d.failed("config", "", err)
	case author == "":
		d.Find(upkeep.LevelWarning, "config", "mnem config set author NAME", "no author is configured for writes")
	default:
		d.Find(upkeep.LevelOK, "config", "", "changes are by %s", line.OneLine(author))
	}
	return true
}

func (d *doctor) policy() {
	out, err := access.ReadPolicy(d.c)
	switch {
	case err != nil:
		d.failed("policy", "repair or remove the file; 'mnem config policy' checks it", err)
	case !out.Present:
		d.Find(upkeep.LevelOK, "policy", "", "none: agents may do everything")
	case len(out.Unknown) > 0:
		d.Find(upkeep.LevelWarning, "policy", "mnem config policy", "%s: %q fits no operation",
			policy.FileName, out.Unknown[0])
	default:
		d.Find(upkeep.LevelOK, "policy", "", "%s", line.Plural(len(out.Rules), "rule"))
	}
}

// models looks at the model that texts are embedded by, and with --full asks it.
func (d *doctor) models() {
	spec, err := d.c.Configured(settings.EmbedModel)
	if err != nil {
		d.failed("models", "", err)
		return
	}
	switch m, _ := d.c.Meaning(); {
	case m != nil:
		d.Find(upkeep.LevelOK, "models", "", "%s, a part of this program, embeds texts", m.Model())
		return
	case spec == "" || spec == embed.Off:
		d.Find(upkeep.LevelOK, "models", "", "none is configured: texts are found by their words")
		return
	}
	e, err := reach.Embedder(d.c, "", "--embed", embed.OpenOptions{ProviderOptions: model.ProviderOptions{Attempts: 1}})
	if err != nil {
		d.failed("models", "mnem config set "+settings.EmbedModel+" SPEC", err)
		return
	}
	if !d.req.Network {
		d.Find(upkeep.LevelOK, "models", "", "%s embeds texts; --full asks it", line.OneLine(spec))
		return
	}
	if _, err := e.Embed(d.ctx, []string{"hello"}, embed.Query); err != nil {
		d.failed("models", "start its server, or see 'mnem help environment' for its address and key", err)
		return
	}
	d.Find(upkeep.LevelOK, "models", "", "%s answers", line.OneLine(spec))
}

// repository has the repository opened, and what is in it looked at.
func (d *doctor) repository(path string) {
	err := reach.Ask(d.ctx, d.c, &upkeep.Doctor.Spec, d.req, func(answer any) error {
		d.Find(upkeep.LevelOK, "store", "", "%s opens", path)
		d.Add(answer.(*upkeep.Diagnosis).Findings...)
		return nil
	})
	_, news := errors.AsType[*verb.News](err)
	switch {
	case err == nil:
	case news:
		d.corrupt = true
	case line.OutcomeOf(d.ctx, err) == operation.Busy:
		d.Find(upkeep.LevelWarning, "store", "wait longer with --wait, or stop the other process", "%v", err)
	case errors.Is(err, store.ErrCorrupt):
		d.failed("store", "mnem fsck", err)
	default:
		d.failed("store", "", err)
	}
}

func (d *doctor) synced(path string) {
	list, err := branching.AutoSyncs(path)
	if err != nil {
		d.failed("sync", "", err)
	}
	for _, a := range list {
		name, worked := line.OneLine(a.Remote), "never"
		if a.Worked.Given {
			worked = "at " + a.Worked.String()
		}
		fix := "mnem sync " + a.Remote
		switch {
		case a.Failed == "conflict":
			d.Find(upkeep.LevelWarning, "sync", "mnem review", "%s waits for a decision; last synced %s", name, worked)
		case a.Failed != "":
			d.Find(upkeep.LevelWarning, "sync", fix, "%s was last synced %s; since then: %s", name, worked, line.OneLine(a.Message))
		case !a.Worked.Given:
			d.Find(upkeep.LevelNote, "sync", fix, "%s was not synced yet", name)
		default:
			d.Find(upkeep.LevelOK, "sync", "", "%s was last synced %s", name, worked)
		}
	}
}

func (d *doctor) print() error {
	c := d.c
	if d.Errors > 0 {
		c.Exit = 1
	}
	if d.corrupt {
		c.Exit = 4
	}
	if c.InJSON {
		return c.PrintJSON(d.Diagnosis)
	}
	styles := map[string]string{
		upkeep.LevelOK: show.Green, upkeep.LevelNote: show.Dim, upkeep.LevelWarning: show.Yellow, upkeep.LevelError: show.Red,
	}
	var rows [][]show.Cell
	for _, f := range d.Findings {
		rows = append(rows, show.Row(f.Level, styles[f.Level], f.Check, show.Bold, line.OneLine(f.Message), ""))
		if f.Fix != "" {
			rows = append(rows, show.Row("", "", "", "", "→ "+line.OneLine(string(f.Fix)), ""))
		}
	}
	c.PutTable(rows)
	if d.Errors+d.Warnings == 0 {
		return c.Printf("all is well\n")
	}
	return c.Printf("%s, %s\n", line.Plural(d.Errors, "error"), line.Plural(d.Warnings, "warning"))
}
