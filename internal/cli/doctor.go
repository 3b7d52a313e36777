package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// Levels of findings, from what is well to what must be put right.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelWarning = "warning"
	levelError   = "error"
)

// findingJSON is one thing that was looked at.
type findingJSON struct {
	Level   string   `json:"level" shape:"ok|note|warning|error"`
	Check   string   `json:"check"`
	Message string   `json:"message"`
	Fix     ops.Text `json:"fix"` // null where nothing is to be done
}

type doctorJSON struct {
	Findings []findingJSON `json:"findings"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
}

// doctor is an examination under way.
type doctor struct {
	c       *cli
	cmd     *cobra.Command
	out     doctorJSON
	corrupt bool // whether an error is of stored bytes
	network bool
}

func (c *cli) doctorCommand() *cobra.Command {
	d := &doctor{c: c, out: doctorJSON{Findings: []findingJSON{}}}
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: groupCare,
		Short:   "Check that all is set up well, and say what to do if not",
		Long: "Look at the repository and its permissions, its store and index, the configuration, the policy,\n" +
			"the models that are configured, the clients that were integrated, and the space on the disk.\n" +
			"Each finding is ok, a note, a warning or an error, and comes with what to do about it. Nothing\n" +
			"is changed. Models are asked only with --network.\n\n" +
			"The exit code is 0 unless there is an error: 4 where stored bytes are damaged, else 1. What is\n" +
			"stored is not read from end to end: that is what 'mnem fsck' does.",
		Example: "  mnem doctor\n  mnem doctor --json",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&d.network, "network", false, "ask the models that are configured whether they answer")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		d.cmd = cmd
		if err := d.examine(); err != nil {
			return err
		}
		return d.print()
	})
}

// find notes a finding.
func (d *doctor) find(level, check, fix, format string, args ...any) {
	switch level {
	case levelError:
		d.out.Errors++
	case levelWarning:
		d.out.Warnings++
	}
	d.out.Findings = append(d.out.Findings, findingJSON{
		level, check, fmt.Sprintf(format, args...), ops.Text(fix),
	})
}

// failed notes an error that a check ran into, with the fix that comes with it.
func (d *doctor) failed(check, fix string, err error) {
	if fix == "" {
		fix = ops.HintGiven(err)
	}
	d.corrupt = d.corrupt || errors.Is(err, store.ErrCorrupt)
	d.find(levelError, check, fix, "%v", err)
}

// examine looks at everything. Its errors are those of examining, not of what is examined.
func (d *doctor) examine() error {
	dir, err := d.c.dir()
	if err != nil {
		d.failed("repository", "", err)
		d.clients()
		return nil
	}
	path := filepath.Join(dir, repo.DirName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.find(levelError, "repository", "mnem init --repo "+dir, "there is no repository in %s", dir)
	case err != nil:
		d.failed("repository", "", err)
	case !info.IsDir():
		d.find(levelError, "repository", "move it away", "%s is no directory", path)
	default:
		d.permissions(path, info)
		d.socket(path)
		d.disk(path)
		if d.configuration() {
			d.models()
			if err := d.repository(path); err != nil {
				return err
			}
		}
		d.policy()
	}
	d.clients()
	return nil
}

// permissions looks at who may read and write the repository.
func (d *doctor) permissions(path string, info os.FileInfo) {
	switch {
	case ofOther(info):
		d.find(levelWarning, "permissions", "chown -R \"$USER\" "+path, "%s belongs to another user", path)
	case openToOthers(info):
		d.find(levelWarning, "permissions", "chmod -R go-w "+path, "others may write in %s", path)
	default:
		d.find(levelOK, "permissions", "", "%s is yours", path)
	}
}

// socket looks at where the process that has the repository open answers others.
func (d *doctor) socket(path string) {
	path = filepath.Join(path, "socket")
	info, err := os.Lstat(path)
	switch {
	case err != nil: // nobody answers, or elsewhere
	case info.Mode()&os.ModeSocket == 0:
		d.find(levelWarning, "socket", "rm "+path, "%s is no socket", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		d.find(levelError, "socket", "chmod 600 "+path, "others may use %s", path)
	default:
		d.find(levelOK, "socket", "", "%s is open to you alone", path)
	}
}

const (
	fewBytes = 256 << 20 // of free space: worth a warning
	noBytes  = 16 << 20  // writes will fail soon
)

func (d *doctor) disk(path string) {
	free, known := freeSpace(path)
	switch {
	case !known:
		d.find(levelNote, "disk", "", "the system does not tell how much space is left")
	case free < noBytes:
		d.find(levelError, "disk", "make room, or run 'mnem gc'", "%d MiB are left on the disk", free>>20)
	case free < fewBytes:
		d.find(levelWarning, "disk", "make room, or run 'mnem gc'", "%d MiB are left on the disk", free>>20)
	default:
		d.find(levelOK, "disk", "", "%d MiB are left", free>>20)
	}
}

// configuration reports whether the configurations can be read, which all else needs.
func (d *doctor) configuration() bool {
	if _, err := d.c.configs(); err != nil {
		d.failed("config", "repair or remove the file", err)
		return false
	}
	author, err := d.c.configured("author")
	switch {
	case err != nil:
		d.failed("config", "", err)
	case author == "":
		d.find(levelWarning, "config", "mnem config set author NAME", "no author is configured for writes")
	default:
		d.find(levelOK, "config", "", "changes are by %s", line(author))
	}
	return true
}

func (d *doctor) policy() {
	out, err := d.c.readPolicy()
	switch {
	case err != nil:
		d.failed("policy", "repair or remove the file; 'mnem policy check' checks it", err)
	case !out.Present:
		d.find(levelOK, "policy", "", "none: agents may do everything")
	case len(out.Unknown) > 0:
		d.find(levelWarning, "policy", "mnem policy check --operations", "%s: %q fits no operation",
			policy.FileName, out.Unknown[0])
	default:
		d.find(levelOK, "policy", "", "%s", plural(len(out.Rules), "rule"))
	}
}

// models looks at the model that texts are embedded by, and with --network asks it.
func (d *doctor) models() {
	spec, err := d.c.configured(keyEmbedModel)
	if err != nil {
		d.failed("models", "", err)
		return
	}
	if spec == "" {
		d.find(levelOK, "models", "", "none is configured: texts are found by their words")
		return
	}
	e, err := d.c.embedder("", "--embed", embed.Options{Options: model.Options{Attempts: 1}})
	if err != nil {
		d.failed("models", "mnem config set "+keyEmbedModel+" SPEC", err)
		return
	}
	if !d.network {
		d.find(levelOK, "models", "", "%s embeds texts; --network asks it", line(spec))
		return
	}
	if _, err := e.Embed(d.cmd.Context(), []string{"hello"}, embed.Query); err != nil {
		d.failed("models", "start its server, or see 'mnem help environment' for its address and key", err)
		return
	}
	d.find(levelOK, "models", "", "%s answers", line(spec))
}

// repository opens the repository and looks at HEAD and its index.
func (d *doctor) repository(path string) error {
	err := d.c.withRepo(d.cmd, false, func(ctx context.Context, r *repo.Repo) error {
		d.find(levelOK, "store", "", "%s opens", path)
		if err := d.clock(ctx, r); err != nil {
			return err
		}
		return d.head(ctx, r)
	})
	var elsewhere *forwardedError
	switch {
	case err == nil:
	case errors.As(err, &elsewhere):
		return err // the process that has it open has said all there is to say
	case errors.Is(err, store.ErrBusy):
		d.find(levelWarning, "store", "wait longer with --wait, or stop the other process", "%v", err)
	case errors.Is(err, store.ErrCorrupt):
		d.failed("store", "mnem fsck", err)
	default:
		d.failed("store", "", err)
	}
	return nil
}

// maxAhead is how far the newest operation may be ahead of the clock: time zones set wrongly, and the
// clocks of machines that share a repository, differ by less.
const maxAhead = 24 * time.Hour

// clock looks whether the newest operation is later than now. Those that follow are not before it
// then, and no grace ends.
func (d *doctor) clock(ctx context.Context, r *repo.Repo) error {
	op, err := r.Operation(ctx, "@")
	if err != nil {
		return err
	}
	at, now := op.Operation.Time, d.c.app.clock()
	if at <= now+graph.Time(maxAhead.Microseconds()) {
		d.find(levelOK, "clock", "", "no operation is later than now")
		return nil
	}
	d.find(levelWarning, "clock", "set the clock of this machine right; where it is, 'mnem gc --grace 0s' "+
		"collects by number alone", "operation %d was recorded at %s, and now it is %s: gc keeps all "+
		"operations until then", op.Operation.Seq, at, now)
	return nil
}

func (d *doctor) head(ctx context.Context, r *repo.Repo) error {
	branch, at, err := r.Branch(ctx)
	if err != nil {
		return err
	}
	s, err := r.At(ctx, at)
	if err != nil {
		return err
	}
	switch nodes, _, _, _ := s.Sizes(); {
	case branch == "":
		d.find(levelNote, "head", "mnem switch NAME", "HEAD is on no branch: writes need --branch")
	case !at.Defined():
		d.find(levelNote, "head", "mnem remember TEXT", "nothing was committed yet")
	default:
		d.find(levelOK, "head", "", "branch %s has %d nodes", line(branch), nodes)
	}
	if !at.Defined() {
		return nil
	}
	stats, err := s.IndexStats(ctx)
	switch {
	case err != nil:
		d.failed("index", "mnem index rebuild", err)
	case !stats.Manifest.Defined():
		d.find(levelNote, "index", "mnem index rebuild", "the newest commit has no index: the first "+
			"retrieval makes it")
	default:
		d.find(levelOK, "index", "", "%s", plural(stats.Segments, "segment"))
	}
	return nil
}
