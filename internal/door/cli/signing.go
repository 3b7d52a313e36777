package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// signFlags are the flags of commands that make commits. Signing happens here, where the user's
// keys are, whoever keeps the repository.
type signFlags struct {
	sign, noSign bool
	key          string
	require      bool
}

// errRevoked is a refusal to sign with a key that counts for nothing.
var errRevoked = errors.New("the key is revoked")

// signer returns what signs commits of a time, nil where they are not to be signed.
func (c *cli) signer(at graph.Time) (commit.SignFunc, error) {
	want := c.signing.sign || c.signing.key != ""
	if !want && !c.signing.noSign {
		var err error
		if want, err = c.signs(); err != nil {
			return nil, err
		}
	}
	if !want {
		return nil, nil
	}
	ring, err := c.ring()
	if err != nil {
		return nil, err
	}
	name, err := c.signingKey(ring)
	if err != nil {
		return nil, err
	}
	secret, err := ring.Secret(name)
	if err != nil {
		return nil, missingKey(err, name)
	}
	list, err := ring.Trusted()
	if err != nil {
		return nil, err
	}
	if list.Trust(secret.Key(), at).State == commit.Revoked {
		return nil, fmt.Errorf("key %s: %w", name, errRevoked)
	}
	return secret.Sign, nil
}

// signs reports whether commits are signed where no flag says so.
func (c *cli) signs() (bool, error) {
	if c.by.Sign != "" {
		return c.by.Sign == "true", nil
	}
	v, err := c.configured("sign")
	return v == "true", err
}

// ownKey returns the key that this caller signs with, and whether it signs. Callers of a server have no
// key of theirs here.
func (c *cli) ownKey() (commit.Key, bool) {
	if c.by.Remote {
		return commit.Key{}, false
	}
	want := c.signing.sign || c.signing.key != ""
	if on, err := c.signs(); !want && (err != nil || !on || c.signing.noSign) {
		return commit.Key{}, false
	}
	ring, err := c.ring()
	if err != nil {
		return commit.Key{}, false
	}
	name, err := c.signingKey(ring)
	if err != nil {
		return commit.Key{}, false
	}
	secret, err := ring.Secret(name)
	return secret.Key(), err == nil
}

// signingKey returns the name of the key to sign with.
func (c *cli) signingKey(ring *keyring.Ring) (string, error) {
	if c.signing.key != "" {
		return c.signing.key, nil
	}
	name, err := c.configured("key")
	if name != "" || err != nil {
		return name, err
	}
	names, err := ring.Names()
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", hint(fmt.Errorf("%w: there is no key to sign with", store.ErrNotFound),
			"make one with 'mnem key new NAME'")
	case len(names) > 1:
		return "", hint(fmt.Errorf("%w: there are %d keys to sign with", state.ErrInvalid, len(names)),
			"name one with --key, or with 'mnem config set key NAME'")
	}
	return names[0], nil
}

// configured returns the value of a config key that applies beside flags, "" for none.
func (c *cli) configured(name string) (string, error) {
	key, err := settings.KeyOf(name)
	if err != nil {
		return "", err
	}
	got, err := c.lookUp(key, false)
	if got.Value == nil || err != nil {
		return "", err
	}
	if err := key.Check(*got.Value); err != nil {
		return "", fmt.Errorf("%s from the %s: %w", name, got.From, err)
	}
	return *got.Value, nil
}

// ring returns the directory of the user's keys: --keys, MNEM_KEYS, or beside the user's
// configuration.
func (c *cli) ring() (*keyring.Ring, error) {
	if dir := firstOf(c.keysDir, c.env("MNEM_KEYS")); dir != "" {
		return keyring.New(c.absolute(dir)), nil
	}
	config := c.userConfig()
	if config == "" {
		return nil, hint(fmt.Errorf("%w: the system names no directory for the user's keys",
			store.ErrNotFound), "name one with MNEM_KEYS")
	}
	return keyring.New(filepath.Join(filepath.Dir(config), "keys")), nil
}

// missingKey tells a key that does not exist as such.
func missingKey(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &state.NotFoundError{What: "key", Name: name}
	}
	return err
}

// requireSigned returns what checks the commits that a command takes in, nil where no rule says
// that they must be signed. The command is ruleMerge or ruleImport.
func (c *cli) requireSigned(command string) (
	func(iter.Seq2[commit.LogEntry, error]) error, error,
) {
	if !c.signing.require {
		rule, err := c.configured("require-signed")
		if err != nil || rule != command && rule != settings.RuleAll {
			return nil, err
		}
	}
	trusted, err := c.trusted()
	if err != nil {
		return nil, err
	}
	return verb.RequireSigned(trusted), nil
}

// trusted returns the user's trust list.
func (c *cli) trusted() (*keyring.TrustList, error) {
	ring, err := c.ring()
	if err != nil {
		return nil, err
	}
	return ring.Trusted()
}

// keyNames completes the names of the user's keys.
func (c *cli) keyNames(_ *cobra.Command, _ []string, _ string) (
	[]string, cobra.ShellCompDirective,
) {
	ring, err := c.ring()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := ring.Names()
	if err != nil {
		names = nil
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
