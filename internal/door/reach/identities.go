package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
	"github.com/mnem-project/mnem/internal/state"
)

const (
	// identityVar names a file with the identity that opens encrypted remotes, passphraseVar has the passphrase.
	identityVar   = "MNEM_IDENTITY"
	passphraseVar = "MNEM_PASSPHRASE"
	// maxIdentity bounds the file of an identity in bytes.
	maxIdentity = 1 << 20
)

// identities returns the identities in a file. For "" it returns those of the file that the environment names, or else
// the user's keys of ssh that need no passphrase. secret is asked for the passphrase of a named file.
func identities(c *line.Line, path string, secret func() (string, error)) ([]age.Identity, error) {
	if path == "" {
		path = c.App.Getenv(identityVar)
	}
	if path != "" {
		data, err := regular.Read(c.Absolute(path), maxIdentity)
		if err != nil {
			return nil, fmt.Errorf("read the identity: %w", err)
		}
		list, err := seal.ParseIdentities(data, secret)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, path, err)
		}
		return list, nil
	}
	var list []age.Identity
	for _, name := range []string{"id_ed25519", "id_rsa"} {
		if c.App.Home == "" {
			break
		}
		data, err := regular.Read(filepath.Join(c.App.Home, ".ssh", name), maxIdentity)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the identity: %w", err)
		}
		if ids, err := seal.ParseIdentities(data, func() (string, error) { return "", errLocked }); err == nil {
			list = append(list, ids...)
		}
	}
	return list, nil
}

// errLocked is returned for a default key with a passphrase: only a named key is worth asking for one.
var errLocked = errors.New("the key has a passphrase: name it by " + identityVar)

// Unattended refuses an encrypted remote that this machine opens only with a passphrase. It notes the file of the identity
// that the environment names: processes in the background may not have that variable.
func Unattended(ctx context.Context, c *line.Line, r place.Remote) error {
	if len(r.Encrypt) == 0 {
		return nil
	}
	asks := func(what string) error { // for a passphrase
		return line.Hint(fmt.Errorf("%w: %s, which a sync in the background cannot ask for", state.ErrInvalid, what),
			"name an identity without a passphrase, which is a reader: mnem remote add %s URL --force --identity FILE", plain.Shell(r.Name))
	}
	list, err := identities(c, r.Identity, func() (string, error) { return "", asks("the identity has a passphrase") })
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(list, func(id age.Identity) bool { _, locked := id.(*agessh.EncryptedSSHIdentity); return locked }):
		return asks("the identity has a passphrase")
	case len(list) == 0 || !slices.ContainsFunc(r.Encrypt, func(text string) bool { return text != seal.Passphrase }):
		return asks("no identity here opens the remote without a passphrase")
	}
	path := c.App.Getenv(identityVar)
	if r.Identity != "" || path == "" {
		return nil
	}
	path = c.Absolute(path)
	return EditRemotes(ctx, c, place.Change(r.Name, func(r *place.Remote) { r.Identity = path }))
}

// passphrase returns the passphrase of encrypted remotes, which it asks the user for if the environment has none.
func passphrase(c *line.Line) (string, error) {
	if pass := c.App.Getenv(passphraseVar); pass != "" {
		return pass, nil
	}
	if c.App.Hidden == nil {
		return "", line.Hint(line.Usagef("a passphrase is needed, and there is no terminal to ask"), "set %s", passphraseVar)
	}
	pass, err := c.App.Hidden("passphrase: ")
	if err == nil && len(pass) == 0 {
		err = line.Usagef("the passphrase is empty")
	}
	return string(pass), err
}

// maxRecipients bounds a file of recipients in bytes.
const maxRecipients = 64 << 10

// Readers parses recipients as they are given: texts of keys, or files with these.
func Readers(c *line.Line, given []string) (list []seal.Recipient, err error) {
	for _, text := range given {
		if !strings.HasPrefix(text, "age1") && !strings.HasPrefix(text, "ssh-") && text != seal.Passphrase {
			data, err := regular.Read(c.Absolute(text), maxRecipients)
			if err != nil {
				return nil, line.Hint(fmt.Errorf("read recipients: %w", err),
					"name a key that begins with age1 or ssh-, a file with keys, or '%s'", seal.Passphrase)
			}
			text = string(data)
		}
		readers, err := seal.ParseReader(text, func() (string, error) { return passphrase(c) })
		if err != nil {
			return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
		}
		list = append(list, readers...)
	}
	return list, nil
}
