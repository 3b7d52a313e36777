package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// recording are the operations that change nothing of the memory themselves though they may write:
// they record what was read, run others, or make a repository, which has no policy yet. Policies do
// not speak of them.
func recording() []string {
	return []string{
		"retrieve", "recall", "session_start", "session_advance", "session_end", "init", "mcp", "serve",
	}
}

// operationName is how policies name a command: "op_restore", "cherry_pick".
func operationName(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())[1:]
	return strings.ReplaceAll(strings.Join(words, "_"), "-", "_")
}

// policyPath returns the path of the repository's policy.
func (c *cli) policyPath() (string, error) {
	dir, err := c.dir()
	return filepath.Join(dir, repo.DirName, policy.FileName), err
}

// guard refuses a command that the repository's policy does not allow the agent, and returns what
// refuses the changes that it does not allow; nil for people, and where there is no policy. It is
// asked for whatever writes, by stamp.
func (c *cli) guard(cmd *cobra.Command, agent string) (repo.Guard, error) {
	if agent == "" && !c.app.Remote { // who calls a server is an agent, named or not
		return nil, nil
	}
	path, err := c.policyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // the command says so where it needs a repository
	}
	if err != nil {
		return nil, err
	}
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	name := operationName(cmd)
	if !slices.Contains(recording(), name) {
		if err := p.Operation(agent, name); err != nil {
			return nil, policyHint(err)
		}
	}
	guard := p.Guard(agent, name)
	if guard == nil {
		return nil, nil
	}
	return func(t repo.Touch) error { return policyHint(guard(t)) }, nil
}

// policyHint says what to do about a refusal.
func policyHint(err error) error {
	switch {
	case errors.Is(err, policy.ErrDamaged):
		return hint(err, "'mnem policy check' tells what is wrong with the file; people may write meanwhile")
	case errors.Is(err, policy.ErrDenied):
		return hint(err, "ask the repository's owner; 'mnem policy show' prints what is allowed")
	}
	return err
}
