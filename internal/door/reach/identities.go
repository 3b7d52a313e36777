package reach

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/door/line"
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
// the user's keys of ssh that need no passphrase.
func identities(c *line.Line, path string) ([]age.Identity, error) {
	if path == "" {
		path = c.App.Getenv(identityVar)
	}
	if path != "" {
		data, err := regular.Read(c.Absolute(path), maxIdentity)
		if err != nil {
			return nil, fmt.Errorf("read the identity: %w", err)
		}
		list, err := seal.ParseIdentities(data, func() (string, error) { return passphrase(c) })
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
func Readers(c *line.Line, given []string) (list []seal.Reader, err error) {
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
