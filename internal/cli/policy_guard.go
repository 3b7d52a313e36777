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
// refuses the changes that it does not allow, and the loss of commits that others have signed; nil for
// people, and a guard of changes where there is a policy. It is asked for whatever writes, by stamp.
func (c *cli) guard(
	name, agent string,
) (repo.Guard, func(*repo.SignedError) error, error) {
	if agent == "" && !c.app.Remote { // who calls a server is an agent, named or not
		return nil, nil, nil
	}
	p, err := c.policyFor(agent, name)
	if err != nil {
		return nil, nil, err
	}
	signed := func(lost *repo.SignedError) error {
		if key, ok := c.ownKey(); ok && key == lost.Key {
			return nil
		}
		return p.Signed(agent, name, lost)
	}
	guard := p.Guard(agent, name)
	if guard == nil {
		return nil, signed, nil
	}
	return func(t repo.Touch) error { return policyHint(guard(t)) }, signed, nil
}

// policyFor returns the policy, nil for none, or an error where it does not allow an agent an operation.
func (c *cli) policyFor(agent, name string) (*policy.Policy, error) {
	path, err := c.policyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // the command says so where it needs a repository
	}
	if err != nil {
		return nil, err
	}
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	if slices.Contains(recording(), name) {
		return p, nil
	}
	return p, policyHint(p.Operation(agent, name))
}

// configuring are the operations that change no memory but what governs it: settings, keys and tokens.
// Policies speak of them as well.
func configuring() []string {
	return []string{
		"config_set", "config_unset", "key_import", "key_new", "key_revoke", "key_rm", "key_trust",
		"key_untrust", "token_new", "token_revoke",
	}
}

// configures refuses such a command to an agent whom the policy does not allow it.
func (c *cli) configures(cmd *cobra.Command) error {
	agent, name := c.env("MNEM_AGENT"), operationName(cmd)
	if agent == "" && !c.app.Remote || !slices.Contains(configuring(), name) {
		return nil
	}
	_, err := c.policyFor(agent, name)
	return err
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
