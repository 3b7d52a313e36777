package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

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

// guard refuses a command that the repository's policy does not allow the agent of a stamp, and adds to
// the stamp what refuses the changes that it does not allow; nothing for people, and a guard of changes
// where there is a policy. It is asked for whatever writes, by stamp.
func (c *cli) guard(by *repo.Stamp, name string) error {
	if by.Agent == "" && !c.by.Remote { // who calls a server is an agent, named or not
		return nil
	}
	path, err := c.policyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err != nil {
		return err
	}
	return ops.Guard(by, path, name, c.ownKey)
}

// configuring are the operations that change no memory but what governs it, or bring it elsewhere: settings,
// keys, tokens and other repositories. Policies speak of them as well.
func configuring() []string {
	return []string{
		"config_set", "config_unset", "fetch", "git_follow", "git_hook", "git_unfollow", "key_import", "key_new",
		"key_revoke", "key_rm", "key_trust", "key_untrust", "pull", "push", "remote_add", "remote_prune", "remote_redactions", "remote_rm",
		"remote_set_url", "sync", "token_new",
		"token_revoke",
	}
}

// configures refuses such a command to an agent whom the policy does not allow it.
func (c *cli) configures(cmd *cobra.Command) error {
	agent, name := c.by.Agent, operationName(cmd)
	if agent == "" || !slices.Contains(configuring(), name) {
		return nil
	}
	path, err := c.policyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err == nil {
		_, err = ops.PolicyFor(path, agent, name)
	}
	return err
}
