package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// withRepo opens the repository, for reading only unless write, runs fn and closes it. If this process shares one it
// runs fn with that, and where another process has it open and answers that runs the verb.
func withRepo(
	ctx context.Context, c *line.Line, write bool, fn func(ctx context.Context, r *core.Repo) error,
) (err error) {
	if err := c.Follow(); err != nil {
		return err
	}
	if c.Opened != nil {
		return fn(verb.Follow(ctx, c.By.Following), c.Opened)
	}
	r, done, err := openRepo(ctx, c, write)
	if err != nil {
		return err
	}
	c.Opened = r
	defer func() {
		c.Opened = nil
		err = line.FirstError(err, done())
	}()
	if c.By.Following, err = gitfollow.Origins(ctx, r, c.By.Following); err != nil {
		return err
	}
	ctx = verb.Follow(ctx, c.By.Following)
	if err := fn(ctx, r); err != nil {
		return err
	}
	if f := c.By.Following; f != nil && f.Unknown {
		c.Remark("warning: the git branch that the memory follows is not known: %s", line.OneLine(f.ReadOnly))
	}
	if !write {
		return nil
	}
	autoGC(ctx, c, r)
	if c.InUse == nil { // else it is done before the holder ends, or next to its calls
		embedLeft(ctx, c, r)
	}
	return nil
}

// there refuses a command that asks a model about a repository which is not there: nothing else is worth a word then.
func there(c *line.Line) error {
	dir, err := c.Dir()
	if err != nil || c.Linked() {
		return err
	}
	if _, err = os.Stat(filepath.Join(dir, core.DirName)); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening says what else is wrong
	}
	_, done, err := openRepo(c.Doing.Ctx, c, false)
	if err == nil {
		err = done() // it has just been made
	}
	return err
}

// Options say how the repository of a command line is opened.
func Options(c *line.Line) (core.Options, error) {
	opt := core.Options{
		Wait: c.Global.Wait, PID: c.App.PID, AcceptHead: c.AcceptHead,
		Since: c.App.Clock().String(), Now: c.App.Clock, Opened: c.App.Opened,
	}
	err := setCaches(c, &opt)
	if err == nil && c.Linked() {
		opt.Client, err = c.ClientName(c.Doing.Ctx)
	}
	if err != nil {
		return opt, err
	}
	if c.Doing.Wait {
		return opt, settings.CheckWait(opt.Wait)
	}
	s := c.Env("MNEM_WAIT")
	if s == "" {
		if s, err = c.Setting("wait"); s == "" || err != nil {
			return opt, err
		}
	}
	opt.Wait, err = settings.ParseWait(s)
	return opt, err
}

func setCaches(c *line.Line, opt *core.Options) error {
	v, err := c.Configured(settings.CacheKey)
	if err != nil {
		return err
	}
	if v != "" {
		opt.Memory, err = settings.ParseSize(v)
	} else if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		opt.Memory = max(settings.MinSize, limit/2)
	}
	return err
}

// collecting says what a collection after a write keeps, nil for no collection.
func collecting(c *line.Line) *peers.Collect {
	most, err := VerbHost{c}.Setting(upkeep.KeepOpsEnv, upkeep.KeepOpsKey)
	if err != nil || most == "0" {
		return nil
	}
	keep := &upkeep.GCRequest{KeepOps: care.DefaultKeepOps, Grace: upkeep.DefaultGrace}
	if keep.Configure(VerbHost{c}.Setting) != nil {
		return nil
	}
	if !mayCollect(c, c.Agent()) {
		keep.Grace = max(keep.Grace, upkeep.DefaultGrace)
	}
	return &peers.Collect{KeepOps: keep.KeepOps, Grace: keep.Grace}
}

// autoGC collects after a write if that is worth while. An error is a remark: the write succeeded.
func autoGC(ctx context.Context, c *line.Line, r *core.Repo) {
	keep := collecting(c)
	if keep == nil || c.Out.Flush() != nil {
		return
	}
	opt := care.GCOptions{KeepOps: keep.KeepOps, Grace: keep.Grace}
	res, err := upkeep.CollectAfter(ctx, r, opt, func() (state.Stamp, error) { return c.Stamp() })
	if err != nil {
		c.Remark("note: collecting garbage failed: %s", line.OneLine(err.Error()))
	} else if res != nil {
		collected(c, res)
	}
}

func collected(c *line.Line, res *core.GCResult) {
	c.Remark("collected %s, %s", line.Plural(res.Blocks, "block"), line.Plural(int(res.Bytes), "byte"))
}

// mayCollect reports whether the caller may collect garbage. Callers of a server are taken for such
// as may not, since they may write without being allowed to destroy.
func mayCollect(c *line.Line, agent string) bool {
	if c.By.Remote {
		return false
	}
	if agent == "" {
		return true
	}
	path, err := c.PolicyPath()
	if err != nil {
		return false
	}
	p, _ := policy.Read(path) // a damaged one refuses
	return p.Operation(agent, "gc") == nil
}

// embedsLeft reports whether nodes that a write leaves without vectors are embedded afterwards. If commits are signed
// they are not, since no key would sign those commits.
func embedsLeft(c *line.Line) (bool, error) {
	m, err := c.Meaning()
	if m == nil || err != nil {
		return false, err
	}
	sign, err := c.Configured("sign")
	if err != nil || sign == "true" {
		return false, err
	}
	required, err := c.Configured("require-signed")
	return required == "" || required == "none", err
}

// embedLeft embeds what writes left without vectors, when their answers are out: at most core.LeftNodes nodes, as other
// commands wait. What goes wrong is a remark: the writes succeeded, and 'mnem embed' goes on.
func embedLeft(ctx context.Context, c *line.Line, r *core.Repo) {
	select {
	case <-r.Embeddings().Left():
	default:
		return
	}
	embeds, err := embedsLeft(c)
	if !embeds && err == nil || ctx.Err() != nil || c.Out.Flush() != nil {
		return
	}
	left := 0
	p := c.Progress()
	defer p.Done()
	if err == nil {
		left, err = r.Embeddings().Few(ctx, c.App.Meaning, func(done, total int) { p.Set("embedded:", done, total) })
	}
	switch lacking, _ := r.Embeddings().Missing(ctx); {
	case err != nil:
		c.Remark("note: some nodes have no vectors yet, 'mnem embed' makes them: %s", line.OneLine(err.Error()))
	case left > 0 && lacking <= core.LeftNodes: // else the answer says it
		c.Remark("note: %s have vectors of older texts, 'mnem embed --stale' makes new ones", show.Plural(left, "node"))
	}
}

// permit refuses operations that the policy does not allow an agent, "" for a person, who is not bound. Who calls a
// server is an agent, named or not.
func permit(c *line.Line, agent string, rights []string) error {
	if len(rights) == 0 || agent == "" && !c.By.Remote {
		return nil
	}
	path, err := c.PolicyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err != nil {
		return err
	}
	return verb.Permit(path, agent, rights)
}

// confined returns the branch that the caller is confined to, "" for none, and keeps what a policy says of it.
func confined(c *line.Line, agent string) (string, error) {
	agent = line.FirstOf(agent, c.Agent())
	switch {
	case c.By.Only != "" && c.ServerURL() != "":
		return "", line.Usagef("--only is for a repository of this machine: the token of a server confines its callers")
	case c.By.Only != "" || agent == "" && !c.By.Remote || c.ServerURL() != "":
		return c.By.Only, nil
	}
	path, err := c.PolicyPath()
	if errors.Is(err, store.ErrNotFound) {
		return "", nil // the command says so where it needs a repository
	}
	if err == nil {
		c.By.Only, err = verb.PolicyOnly(path, agent)
	}
	return c.By.Only, err
}

// permits refuses a command that the policy does not allow the caller, before it does anything around its verb. A
// server decides for its own repository.
func permits(c *line.Line, v *line.Bound, req any) error {
	agent := line.FirstOf(verb.WritingOf(req).Agent, c.Agent())
	only, err := confined(c, agent)
	if err == nil && only != "" {
		err = v.Spec.Confine(req, only)
	}
	switch here := v.Spec.Local && v.Spec.NoRepo; { // of this machine, as what repairs a policy
	case err != nil && (only != "" || !here):
		return err
	case v.Spec.Right == verb.PeopleOnly && v.Spec.EffectOf(req) != verb.Reads && (agent != "" || c.By.Remote):
		return line.Hint(fmt.Errorf("%w: agents do not write policies", policy.ErrDenied),
			"do it as a person, without MNEM_AGENT")
	case c.ServerURL() != "" && !v.Spec.Local:
		return nil
	}
	return permit(c, agent, v.Spec.Rights(req))
}

// signer returns what signs commits of a time, nil if they are not to be signed.
func signer(c *line.Line, at graph.Time) (commit.SignFunc, error) {
	want, err := c.Global.Sign || c.Global.Key != "", error(nil)
	if !want && !c.Global.NoSign {
		want, err = c.Signs()
	}
	if !want || err != nil {
		return nil, err
	}
	ring, err := c.Ring()
	if err != nil {
		return nil, err
	}
	name, err := c.SigningKey(ring)
	if err != nil {
		return nil, err
	}
	secret, err := ring.Secret(name)
	if err != nil {
		return nil, line.MissingKey(err, name)
	}
	list, err := ring.Trusted()
	if err != nil {
		return nil, err
	}
	if list.Trust(secret.Key(), at).State == commit.Revoked {
		return nil, fmt.Errorf("key %s: %w", name, line.ErrRevoked)
	}
	if c.App.Signer != nil {
		return c.App.Signer(secret.Sign), nil
	}
	return secret.Sign, nil
}

// requireSigned returns what checks the commits that a command takes in, nil if no rule says
// that they must be signed, as given does. The command is ruleMerge or ruleImport.
func requireSigned(c *line.Line, command string, given bool) (
	func(iter.Seq2[commit.LogEntry, error]) error, error,
) {
	if !given {
		rule, err := c.Configured("require-signed")
		if err != nil || rule != command && rule != settings.RuleAll {
			return nil, err
		}
	}
	trusted, err := c.Trusted()
	if err != nil {
		return nil, err
	}
	return verb.RequireSigned(trusted), nil
}

func keyNames(c *line.Line) ([]string, cobra.ShellCompDirective) {
	ring, err := c.Ring()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := ring.Names()
	return names, cobra.ShellCompDirectiveNoFileComp
}
