package seal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

const (
	// Passphrase is the reader that is a passphrase and not a key.
	Passphrase = "passphrase"
	// maxWork is the largest cost of trying a passphrase that a store may ask for, as log2: some seconds.
	maxWork = 20
	// ageFile begins an age file, as an identity that is itself encrypted.
	ageFile = "age-encryption.org/"
)

// workFactor is log2 of the cost of trying a passphrase; tests make it small.
var workFactor = 18

// Recipient is who can read a store: a recipient of age.
type Recipient struct {
	Text      string // the recipient's text form without a comment, or Passphrase
	recipient age.Recipient
}

// ParseReader parses recipients as they are given: "age1…", "ssh-ed25519 …", "ssh-rsa …", or Passphrase, for which it
// asks secret; or lines of these, as in a file, in which # begins a comment.
func ParseReader(text string, secret func() (string, error)) (readers []Recipient, err error) {
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		if row == "" || row[0] == '#' {
			continue
		}
		r, err := parseReader(row, secret)
		if err != nil {
			return nil, err
		}
		readers = append(readers, r)
	}
	if len(readers) == 0 {
		return nil, errors.New("no recipient: want age1…, ssh-ed25519 …, ssh-rsa …, a file of these, or passphrase")
	}
	return readers, nil
}

func parseReader(row string, secret func() (string, error)) (Recipient, error) {
	switch {
	case row == Passphrase:
		pass, err := secret()
		if err != nil {
			return Recipient{}, err
		}
		r, err := age.NewScryptRecipient(pass)
		if err != nil {
			return Recipient{}, err
		}
		r.SetWorkFactor(workFactor)
		return Recipient{row, r}, nil
	case strings.HasPrefix(row, "ssh-"):
		if words := strings.Fields(row); len(words) > 2 {
			row = words[0] + " " + words[1]
		}
		r, err := agessh.ParseRecipient(row)
		if err != nil {
			return Recipient{}, fmt.Errorf("recipient: %w", err)
		}
		return Recipient{row, r}, nil
	case strings.HasPrefix(row, "AGE-SECRET-KEY-"):
		return Recipient{}, errors.New("recipient: this is a secret identity; give the recipient that 'age-keygen -y' prints")
	}
	list, err := age.ParseRecipients(strings.NewReader(row))
	if err != nil || len(list) != 1 {
		return Recipient{}, errors.New("no recipient: want age1…, ssh-ed25519 …, ssh-rsa …, a file of these, or passphrase")
	}
	return Recipient{row, list[0]}, nil
}

func passphraseIdentity(pass string) (age.Identity, error) {
	id, err := age.NewScryptIdentity(pass)
	if err != nil {
		return nil, err
	}
	id.SetMaxWorkFactor(maxWork)
	return id, nil
}

// ParseIdentities parses a file of identities: of age, itself encrypted by a passphrase or not, or a private key of
// ssh. secret is asked for the file's passphrase if it has one. Errors do not quote the file.
func ParseIdentities(data []byte, secret func() (string, error)) ([]age.Identity, error) {
	switch {
	case bytes.HasPrefix(data, []byte(ageFile)):
		pass, err := secret()
		if err != nil {
			return nil, err
		}
		id, err := passphraseIdentity(pass)
		if err != nil {
			return nil, err
		}
		if data, err = decrypt(data, maxRecord, id); err != nil {
			return nil, errors.New("the passphrase does not open it")
		}
	case bytes.Contains(data, []byte("PRIVATE KEY-----")):
		return parseSSH(data, secret)
	}
	list, err := age.ParseIdentities(bytes.NewReader(data))
	if err != nil || len(list) == 0 {
		return nil, errors.New("no identity: want a file of age-keygen, or a private key of ssh")
	}
	return list, nil
}

// parseSSH parses a private key of ssh.
func parseSSH(data []byte, secret func() (string, error)) ([]age.Identity, error) {
	id, err := agessh.ParseIdentity(data)
	if locked := (*ssh.PassphraseMissingError)(nil); errors.As(err, &locked) && locked.PublicKey != nil {
		enc, err := agessh.NewEncryptedSSHIdentity(locked.PublicKey, data, func() ([]byte, error) {
			pass, err := secret()
			return []byte(pass), err
		})
		if err != nil {
			return nil, errors.New("no identity: this kind of ssh key cannot be used")
		}
		return []age.Identity{enc}, nil
	}
	if err != nil {
		return nil, errors.New("no identity: want an ssh-ed25519 or ssh-rsa private key")
	}
	return []age.Identity{id}, nil
}
