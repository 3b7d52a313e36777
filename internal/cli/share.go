package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
)

// transfer is a transfer between the repository here and another one.
type transfer struct {
	c      *cli
	remote remoteJSON
	here   *verbSide
	there  remote.Side
	opt    remote.Options
	shown  *progress
}

// gitSuffix ends the name of the directory with what is kept of a git repository.
const gitSuffix = ".git"

// transferWith connects to the remote of a name. end must be called.
func (c *cli) transferWith(ctx context.Context, name string, signed, dryRun bool) (*transfer, error) {
	here, err := c.hereSide(signed)
	if err != nil {
		return nil, err
	}
	r, err := c.findRemote(name)
	if err != nil {
		return nil, err
	}
	there, err := c.sideOf(ctx, r.URL, filepath.Join(here.dir, repo.DirName, remotesDir, r.Name+gitSuffix))
	if err != nil {
		return nil, err
	}
	return c.transfer(r, here, there, dryRun), nil
}

func (c *cli) transfer(r remoteJSON, here *verbSide, there remote.Side, dryRun bool) *transfer {
	limit := int64(remote.MaxPack)
	if free, ok := freeSpace(filepath.Join(here.dir, repo.DirName)); ok {
		limit = int64(min(uint64(limit), free/2)) // what another side sends must not fill the disk
	}
	t := &transfer{c: c, remote: r, here: here, there: there, shown: c.progress()}
	t.opt = remote.Options{
		Name: r.Name, Dir: filepath.Join(here.dir, repo.DirName, remotesDir, r.Name), DryRun: dryRun,
		MaxPack: max(limit, 1), Progress: t.shown.bytes,
	}
	if side, ok := there.(*httpSide); ok {
		side.progress = t.shown.bytes
	}
	return t
}

// end ends the transfer.
func (t *transfer) end() {
	t.shown.done()
	_ = t.there.Close() // all was said
}

// bytes shows how many bytes have come or gone.
func (p *progress) bytes(what string, n int64) {
	if now := p.c.app.Now(); !now.Before(p.next) && p.visible() {
		p.next = now.Add(progressEvery)
		p.show(what + " " + bytesText(n))
	}
}

// fetchJSON is what a fetch did.
type fetchJSON struct {
	Remote    string                  `json:"remote"`
	Refs      ops.List[ops.RefMoved]  `json:"refs"`
	Clashing  ops.List[graph.RefName] `json:"clashing"` // tags that are elsewhere here, and stay
	Bytes     int64                   `json:"bytes"`
	NewBlocks int                     `json:"new_blocks"`
	Skewed    ops.List[skewJSON]      `json:"clock_ahead"`
	learnedJSON
	DryRun bool `json:"dry_run"`
}

// learnedJSON is what a fetch learned of what was erased there.
type learnedJSON struct {
	Gaps    int `json:"gaps"`    // blocks that did not come since they were erased there
	Learned int `json:"learned"` // redactions that are new in quarantine
	Waiting int `json:"waiting"` // redactions in quarantine that are neither accepted nor rejected
	Erased  int `json:"erased"`  // blocks that were erased here, where this is accepted without being asked
}

func (l *learnedJSON) add(more learnedJSON) {
	l.Gaps, l.Learned, l.Erased = l.Gaps+more.Gaps, l.Learned+more.Learned, l.Erased+more.Erased
	l.Waiting = more.Waiting
}

// fetch brings what the remote has.
func (t *transfer) fetch(ctx context.Context, prune bool) (*fetchJSON, error) {
	opt := remote.FetchOptions{Options: t.opt, Prune: prune, AcceptPurge: t.remote.AcceptPurge == acceptAlways}
	if ring, err := t.c.ring(); err == nil {
		list, err := ring.Trusted()
		if err != nil {
			return nil, err
		}
		opt.Trusted = func(told repo.ToldRedaction) bool {
			key, signed := signerOf(told)
			return signed && list.TrustPurge(key)
		}
	}
	res, err := remote.Fetch(ctx, t.here, t.there, opt)
	t.shown.done()
	if err != nil {
		return nil, err
	}
	skewed, err := t.skewed(ctx, res.Refs)
	if err != nil {
		return nil, err
	}
	return &fetchJSON{
		Remote: t.remote.Name, Refs: ops.MovedOf(res.Refs), Clashing: res.Clashing, Bytes: res.Bytes,
		NewBlocks: res.Blocks, Skewed: skewed, DryRun: t.opt.DryRun,
		learnedJSON: learnedJSON{Gaps: res.Gaps, Learned: res.Learned, Waiting: res.Waiting, Erased: res.Erased},
	}, nil
}

func (c *cli) printFetch(f *fetchJSON) error {
	if c.global.json {
		return c.printJSON(f)
	}
	did := "fetched"
	if f.DryRun {
		did = "would fetch"
	}
	if err := c.printRefMoves(f.Refs); err != nil {
		return err
	}
	for _, tag := range f.Clashing {
		c.remark("note: %s is elsewhere here and stays; it is under %s", line(string(tag)),
			line(string(remote.Tracking(f.Remote, tag))))
	}
	c.remarkLearned(f.Remote, f.learnedJSON)
	c.remarkSkewed(f.Skewed)
	if len(f.Refs) == 0 {
		return c.printf("nothing new from %s\n", line(f.Remote))
	}
	return c.printf("%s %s from %s: %s, %s new\n", did, plural(len(f.Refs), "ref"), line(f.Remote),
		bytesText(f.Bytes), plural(f.NewBlocks, "block"))
}

// remarkLearned says what was erased where something came from.
func (c *cli) remarkLearned(name string, l learnedJSON) {
	if n := l.Gaps; n > 0 {
		c.remark("note: %s of what came %s erased at %s: they are gaps here", plural(n, "block"), wasWere(n), line(name))
	}
	if n := l.Erased; n > 0 {
		c.remark("note: %s %s erased here, as at %s", plural(n, "block"), wasWere(n), line(name))
	}
	if n := l.Waiting; n > 0 && l.Learned > 0 {
		c.remark("note: %s says that %s %s erased, which has no effect here: 'mnem remote redactions %s' lists them, "+
			"--accept erases them here too", line(name), plural(n, "block"), wasWere(n), shellWord(name))
	}
}

// printRefMoves prints where refs moved.
func (c *cli) printRefMoves(list []ops.RefMoved) error {
	var rows [][]cell
	for _, ref := range list {
		from, to := "(new)", "(removed)"
		if ref.From.Defined() {
			from = shortCID(ref.From)
		}
		if ref.To.Defined() {
			to = shortCID(ref.To)
		}
		rows = append(rows, []cell{{line(string(ref.Ref)), styleCyan}, {from, styleDim}, {"->", styleDim},
			{to, styleYellow}})
	}
	return c.table(rows)
}

// pushJSON is what a push did.
type pushJSON struct {
	Remote string                 `json:"remote"`
	Refs   ops.List[ops.RefMoved] `json:"refs"` // of the remote
	Bytes  int64                  `json:"bytes"`
	Erased int                    `json:"erased"` // blocks that were erased there
	// Untold is whether blocks that were erased here may be there still.
	Untold bool `json:"untold"`
	DryRun bool `json:"dry_run"`
}

// pushFlags say what is pushed.
type pushFlags struct{ all, tags, remove, force, redactions, dryRun bool }

// push brings refs to the remote.
func (t *transfer) push(ctx context.Context, refs []graph.RefName, f pushFlags) (*pushJSON, error) {
	opt := remote.PushOptions{Options: t.opt, Refs: refs, Force: f.force, Redactions: f.redactions}
	if f.remove {
		opt.Refs, opt.Remove = nil, refs
	}
	res, err := remote.Push(ctx, t.here, t.there, opt)
	t.shown.done()
	if errors.Is(err, repo.ErrConflict) {
		name := t.remote.Name
		return nil, hint(err, "fetch and merge what is there first: 'mnem sync %s' does all of it", shellWord(name))
	}
	if err != nil {
		return nil, err
	}
	return &pushJSON{t.remote.Name, ops.MovedOf(res.Refs), res.Bytes, res.Erased, res.Untold, t.opt.DryRun}, nil
}

func (c *cli) printPush(p *pushJSON) error {
	if c.global.json {
		return c.printJSON(p)
	}
	did := "pushed"
	if p.DryRun {
		did = "would push"
	}
	c.remarkUntold(p.Remote, p.Untold)
	if p.Erased > 0 {
		if err := c.printf("%s erased at %s\n", plural(p.Erased, "block"), line(p.Remote)); err != nil {
			return err
		}
	}
	if len(p.Refs) == 0 {
		return c.printf("nothing to push: %s has all of it\n", line(p.Remote))
	}
	if err := c.printRefMoves(p.Refs); err != nil {
		return err
	}
	return c.printf("%s %s to %s: %s\n", did, plural(len(p.Refs), "ref"), line(p.Remote), bytesText(p.Bytes))
}

// remarkUntold says that what was erased here may be at the remote.
func (c *cli) remarkUntold(name string, untold bool) {
	if untold {
		c.remark("note: what was purged here may still be at %s: 'mnem push %s --redactions' erases it there", line(name),
			shellWord(name))
	}
}

// refsToPush returns the refs that arguments and flags name: without any the current branch.
func (t *transfer) refsToPush(ctx context.Context, names []string, f pushFlags) ([]graph.RefName, error) {
	st, err := t.here.Look(ctx, remote.Question{})
	if err != nil {
		return nil, err
	}
	there := make(map[graph.RefName]bool)
	var refs []graph.RefName
	for _, ref := range st.Refs {
		there[ref.Name] = true
		tag := strings.HasPrefix(string(ref.Name), graph.Tags)
		if f.tags && tag || f.all && !tag {
			refs = append(refs, ref.Name)
		}
	}
	for _, name := range names {
		ref := graph.RefName(name)
		if !strings.HasPrefix(name, "refs/") {
			ref = graph.BranchRef(name)
			if tag := graph.RefName(graph.Tags + name); !there[ref] && there[tag] {
				ref = tag
			}
		}
		refs = append(refs, ref)
	}
	switch {
	case len(refs) > 0 || f.all || f.tags:
		return refs, nil
	case st.Head == "":
		return nil, hint(usagef("HEAD is on no branch"), "name the branch to push")
	case !there[st.Head]:
		return nil, nil // there is no commit yet
	}
	return []graph.RefName{st.Head}, nil
}

func (c *cli) fetchCommand() *cobra.Command {
	var prune, dryRun, signed bool
	cmd := &cobra.Command{
		Use:     "fetch [REMOTE]",
		GroupID: groupTrade,
		Short:   "Download branches and tags of another repository",
		Long: "Bring the branches and tags of another repository here, by default of origin. Its branch main is\n" +
			"then refs/remotes/REMOTE/heads/main, which can be read with --at and merged; no branch of this\n" +
			"repository moves. A tag that is not here becomes one here too; one that is elsewhere here stays.\n\n" +
			"What comes is verified block by block before a ref moves, all or nothing. A fetch that was cut\n" +
			"goes on where it was. --prune forgets what the other repository has no more. The bytes follow\n" +
			"what is new.",
		Example: "  mnem fetch\n  mnem fetch origin --prune\n  mnem fetch --dry-run",
		Args:    cobra.MaximumNArgs(1),
	}
	c.writeFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&prune, "prune", false, "forget branches and tags that the remote has no more")
	f.BoolVar(&dryRun, "dry-run", false, "say which refs would change and change none")
	c.requireFlag(cmd, &signed)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), signed, dryRun)
		if err != nil {
			return err
		}
		defer t.end()
		res, err := t.fetch(cmd.Context(), prune)
		if err != nil {
			return err
		}
		return c.printFetch(res)
	})
}

// requireFlag adds --require-signed.
func (c *cli) requireFlag(cmd *cobra.Command, signed *bool) {
	cmd.Flags().BoolVar(signed, "require-signed", false, "refuse commits that no key you trust has signed "+
		"(MNEM_REQUIRE_SIGNED; config: require-signed)")
}

// argAt returns a positional argument, "" for none.
func argAt(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

func (c *cli) pushCommand() *cobra.Command {
	var f pushFlags
	cmd := &cobra.Command{
		Use:     "push [REMOTE] [BRANCH|TAG…]",
		GroupID: groupTrade,
		Short:   "Upload branches and tags to another repository",
		Long: "Bring branches and tags to another repository, by default the current branch to origin: all or\n" +
			"nothing. A branch there moves forward only, so that nothing is lost: where it has commits that are\n" +
			"not in the branch here the push is refused with exit code 5, and 'mnem sync' fetches, merges and\n" +
			"pushes. A tag stays where it is.\n\n" +
			"--force-with-lease replaces what is there, if it is where the last fetch or push found it. --delete\n" +
			"removes branches and tags there.\n\n" +
			"What was purged here is erased there with --redactions, which a server allows a token of scope\n" +
			"admin alone. All that was ever purged here is told then: what, when, by whom and why.",
		Example: "  mnem push\n  mnem push origin draft v1\n  mnem push --all --tags\n" +
			"  mnem push origin draft --delete\n  mnem push --force-with-lease",
		Args: cobra.ArbitraryArgs,
	}
	c.writeFlags(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.all, "all", false, "push every branch")
	fl.BoolVar(&f.tags, "tags", false, "push every tag")
	fl.BoolVar(&f.remove, "delete", false, "remove the branches and tags from the remote")
	fl.BoolVar(&f.force, "force-with-lease", false, "replace what is there, if it is where the last fetch found it")
	fl.BoolVar(&f.redactions, "redactions", false, "erase there for good what was purged here, in its branches and tags")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say which refs would change and change none")
	cmd.MarkFlagsMutuallyExclusive("redactions", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("all", "delete")
	cmd.MarkFlagsMutuallyExclusive("tags", "delete")
	cmd.MarkFlagsMutuallyExclusive("force-with-lease", "delete")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		names := args[min(1, len(args)):]
		if f.remove && len(names) == 0 {
			return usagef("name what to remove: push REMOTE BRANCH --delete")
		}
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), false, f.dryRun)
		if err != nil {
			return err
		}
		defer t.end()
		refs, err := t.refsToPush(cmd.Context(), names, f)
		if err != nil {
			return err
		}
		res, err := t.push(cmd.Context(), refs, f)
		if err != nil {
			return err
		}
		return c.printPush(res)
	})
}
