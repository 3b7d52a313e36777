package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		GroupID: groupStart,
		Short:   "Print a script that completes command lines",
		Long: "Print a script for a shell, which then completes commands, flags, branches, tags,\n" +
			"sessions, stages and config keys. Load it in the shell's start-up file.",
		Example: "  source <(mnem completion bash)\n" +
			"  mnem completion zsh >\"${fpath[1]}/_mnem\"\n" +
			"  mnem completion fish >~/.config/fish/completions/mnem.fish\n" +
			"  mnem completion powershell | Out-String | Invoke-Expression",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		root := cmd.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(c.out, true)
		case "zsh":
			return root.GenZshCompletion(c.out)
		case "fish":
			return root.GenFishCompletion(c.out, true)
		}
		return root.GenPowerShellCompletionWithDesc(c.out)
	})
}

// completer lists what a flag or argument may be, from a repository that is open for reading.
type completer func(ctx context.Context, r *repo.Repo) ([]string, error)

// completeRefs completes the names of refs in the namespaces given.
func completeRefs(namespaces ...string) completer {
	return func(ctx context.Context, r *repo.Repo) ([]string, error) {
		refs, err := r.Refs(ctx)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, ref := range refs {
			for _, ns := range namespaces {
				if name, ok := strings.CutPrefix(string(ref.Name), ns); ok {
					names = append(names, name)
				}
			}
		}
		return names, nil
	}
}

func completeBranches(ctx context.Context, r *repo.Repo) ([]string, error) {
	return completeRefs(graph.Heads)(ctx, r)
}

func completeTags(ctx context.Context, r *repo.Repo) ([]string, error) {
	return completeRefs(graph.Tags)(ctx, r)
}

func completeStages(ctx context.Context, r *repo.Repo) ([]string, error) {
	return completeRefs(graph.Stages)(ctx, r)
}

func completeSessions(ctx context.Context, r *repo.Repo) ([]string, error) {
	return completeRefs(graph.Sessions)(ctx, r)
}

func completeRevs(ctx context.Context, r *repo.Repo) ([]string, error) {
	names, err := completeRefs(graph.Heads, graph.Tags)(ctx, r)
	if err != nil {
		return nil, err
	}
	brought, err := completeRefs(graph.Imported)(ctx, r)
	for _, name := range brought {
		names = append(names, strings.TrimPrefix(graph.Imported, "refs/")+name)
	}
	return append([]string{string(graph.Head)}, names...), err
}

// complete registers the completion of a flag.
func (c *cli) complete(cmd *cobra.Command, flag string, from completer) {
	c.completeBy(cmd, flag,
		func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return c.completions(cmd, prefix, from), cobra.ShellCompDirectiveNoFileComp
		})
}

// completing reports whether a command line is one that a shell completes another one by.
func completing(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// completeBy registers what completes a flag, in a command line that completes one: it is never
// forgotten again, which a process that runs many command lines would feel.
func (c *cli) completeBy(cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if cmd.Flag(flag) == nil {
		panic("no flag --" + flag) // seen by the first test that builds the commands
	}
	if !completing(c.args) {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic(err) // registered twice, seen by the first test that completes
	}
}

// completeArg is for cobra.Command.ValidArgsFunction: it completes the first argument.
func (c *cli) completeArg(from completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) (
		[]string, cobra.ShellCompDirective,
	) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.completions(cmd, prefix, from), cobra.ShellCompDirectiveNoFileComp
	}
}

// completions never waits and never fails: who presses a key has not asked for an answer yet.
func (c *cli) completions(cmd *cobra.Command, prefix string, from completer) []string {
	dir, err := c.dir()
	if err != nil {
		return nil
	}
	r, done, names := c.openToComplete(cmd.Context(), dir)
	if r == nil {
		return names
	}
	defer done()
	all, err := from(cmd.Context(), r)
	if err != nil {
		return nil
	}
	for _, name := range all {
		if strings.HasPrefix(name, prefix) {
			names = append(names, line(name))
		}
	}
	return names
}

// openToComplete returns the repository, shared or opened for reading, and what ends its use; or nil
// and what the process that has it open completes.
func (c *cli) openToComplete(
	ctx context.Context, dir string,
) (r *repo.Repo, done func(), names []string) {
	if h := c.app.Holder; h != nil && h.covers(dir) {
		if own, err := h.enter(c.app.forwarded); err == nil && own != nil {
			return own.repo, own.users.Done, nil
		}
	}
	if c.app.forwarded {
		return nil, nil, nil // another process is asked once
	}
	client, err := dial(dir, 0)
	if err != nil {
		return nil, nil, nil
	}
	if client != nil {
		return nil, nil, c.completedElsewhere(ctx, client)
	}
	r, err = repo.Open(dir, repo.Options{ReadOnly: true, PID: c.app.PID})
	if err != nil {
		return nil, nil, nil
	}
	return r, func() { _ = r.Close() }, nil // opened for reading only
}
