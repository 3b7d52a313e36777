package line

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/state"
)

// ErrRevoked is a refusal to sign with a key that counts for nothing.
var ErrRevoked = errors.New("the key is revoked")

// Signs reports whether commits are signed if no flag says so.
func (c *Line) Signs() (bool, error) {
	if c.By.NoSign {
		return false, nil
	}
	v, err := c.Configured("sign")
	return v == "true", err
}

// OwnKey returns the key that this caller signs with, and whether it signs. Callers of a server have no
// key of theirs here.
func (c *Line) OwnKey() (commit.Key, bool) {
	if c.By.Remote {
		return commit.Key{}, false
	}
	want := c.Global.Sign || c.Global.Key != ""
	if on, err := c.Signs(); !want && (err != nil || !on || c.Global.NoSign) {
		return commit.Key{}, false
	}
	ring, err := c.Ring()
	if err != nil {
		return commit.Key{}, false
	}
	name, err := c.SigningKey(ring)
	if err != nil {
		return commit.Key{}, false
	}
	secret, err := ring.Secret(name)
	return secret.Key(), err == nil
}

// SigningKey returns the name of the key to sign with.
func (c *Line) SigningKey(ring *keyring.Ring) (string, error) {
	if c.Global.Key != "" {
		return c.Global.Key, nil
	}
	name, err := c.Configured("key")
	if name != "" || err != nil {
		return name, err
	}
	names, err := ring.Names()
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", Hint(fmt.Errorf("%w: there is no key to sign with", store.ErrNotFound),
			"make one with 'mnem key new NAME'")
	case len(names) > 1:
		return "", Hint(fmt.Errorf("%w: there are %d keys to sign with", state.ErrInvalid, len(names)),
			"name one with --key, or with 'mnem config set key NAME'")
	}
	return names[0], nil
}

// Configured returns the value of a config key that applies unless a flag overrides it, "" for none.
func (c *Line) Configured(name string) (string, error) {
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

// Ring returns the directory of the user's keys: MNEM_KEYS, or the default next to the user's configuration.
func (c *Line) Ring() (*keyring.Ring, error) {
	if dir := c.Env("MNEM_KEYS"); dir != "" {
		return keyring.New(c.Absolute(dir)), nil
	}
	config := c.UserConfig()
	if config == "" {
		return nil, Hint(fmt.Errorf("%w: the system names no directory for the user's keys",
			store.ErrNotFound), "name one with MNEM_KEYS")
	}
	return keyring.New(filepath.Join(filepath.Dir(config), "keys")), nil
}

// MissingKey tells a key that does not exist as such.
func MissingKey(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &state.NotFoundError{What: "key", Name: name}
	}
	return err
}

// Trusted returns the user's trust list.
func (c *Line) Trusted() (*keyring.TrustList, error) {
	ring, err := c.Ring()
	if err != nil {
		return nil, err
	}
	return ring.Trusted()
}
