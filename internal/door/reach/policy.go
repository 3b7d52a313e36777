package reach

import (
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/policy"
)

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
