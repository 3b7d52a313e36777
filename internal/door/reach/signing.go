package reach

import (
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
)

// signer returns what signs commits of a time, nil if they are not to be signed.
func signer(c *line.Line, at graph.Time) (commit.SignFunc, error) {
	want := c.Signing.Sign || c.Signing.Key != ""
	if !want && !c.Signing.NoSign {
		var err error
		if want, err = c.Signs(); err != nil {
			return nil, err
		}
	}
	if !want {
		return nil, nil
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
// that they must be signed. The command is ruleMerge or ruleImport.
func requireSigned(c *line.Line, command string) (
	func(iter.Seq2[commit.LogEntry, error]) error, error,
) {
	if !c.Signing.Require {
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

// keyNames completes the names of the user's keys.
func keyNames(c *line.Line, _ *cobra.Command, _ []string, _ string) (
	[]string, cobra.ShellCompDirective,
) {
	ring, err := c.Ring()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := ring.Names()
	if err != nil {
		names = nil
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
