// Package seal encrypts the contents of a store of packs, so that the store's host learns sizes and times only.
//
// A store has a key of its own, an X25519 identity of age. Everything in the store is an age file for that key. The key
// itself is there once for each reader, as an age file for the reader's recipient. To add a reader is to add one such
// copy; to remove one is to make another key and to encrypt everything again.
//
// age does not authenticate the writer: a recipient is enough to encrypt a file. A record inside, which the host
// cannot read, therefore has a serial number that only grows and the keys that were used before. A client remembers
// the key and number that it saw last, and refuses a store that is older, or whose writer cannot have had that key.
package seal

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

const (
	// Magic is the first line of a text that is encrypted.
	Magic = "mnem encrypted 1\n"
	// MaxReaders bounds the readers of a store, and maxCopy the bytes of a copy of its key.
	MaxReaders = 64
	maxCopy    = 8 << 10
	// maxFormer bounds the former keys, and maxRecord the bytes of a record.
	maxFormer = 1000
	maxRecord = 1 << 20
	// copyRow begins a line with a copy of the key, in base64.
	copyRow = "reader "
	// keyRow begins the line with the key's fingerprint.
	keyRow = "key "
)

var (
	// ErrNoIdentity is returned if no identity opens a copy of the store's key.
	ErrNoIdentity = errors.New("none of your identities is a reader of it")
	// ErrDamaged is returned for a text that no writer wrote.
	ErrDamaged = errors.New("it is damaged, or not what was encrypted")
)

// Record is known to the clients of a store and not to its host.
type Record struct {
	Serial  uint64   `json:"serial"`  // of the write; each write has a larger one
	Readers []string `json:"readers"` // their recipients, as they were given
	// Former are the keys that the store had before, the oldest first: who names them had one.
	Former []string `json:"former,omitempty"`
}

// Box encrypts and decrypts the content of one store. Its methods do not change it.
type Box struct {
	Record
	key    *age.X25519Identity
	copies [][]byte // of the key, one for each reader
}

// New returns a box with a new key for some readers.
func New(readers []Recipient) (*Box, error) { return (&Box{}).renewed(readers) }

// renewed returns a box with another key.
func (b *Box) renewed(readers []Recipient) (*Box, error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	next := &Box{key: key, Record: Record{Serial: b.Serial}}
	if b.key != nil {
		next.Former = append(slices.Clone(b.Former), b.key.String())
	}
	if len(next.Former) > maxFormer {
		return nil, fmt.Errorf("the key was changed %d times: begin another store", maxFormer)
	}
	return next.With(readers)
}

// With returns a box with the same key that further readers can open.
func (b *Box) With(readers []Recipient) (*Box, error) {
	next := *b
	next.Readers, next.copies = slices.Clone(b.Readers), slices.Clone(b.copies)
	for _, r := range readers {
		if slices.Contains(next.Readers, r.Text) {
			continue
		}
		var buf bytes.Buffer
		err := encrypt(&buf, strings.NewReader(b.key.String()), r.recipient)
		if err != nil {
			return nil, fmt.Errorf("encrypt to %s: %w", r.Text, err)
		}
		next.Readers, next.copies = append(next.Readers, r.Text), append(next.copies, buf.Bytes())
	}
	if len(next.Readers) > MaxReaders {
		return nil, fmt.Errorf("more than %d readers", MaxReaders)
	}
	return &next, nil
}

// Without returns a box with another key, for all readers but some. secret returns the passphrase if the store has one.
func (b *Box) Without(gone []string, secret func() (string, error)) (*Box, error) {
	var left []Recipient
	for _, text := range b.Readers {
		if slices.Contains(gone, text) {
			continue
		}
		r, err := ParseReader(text, secret)
		if err != nil {
			return nil, err
		}
		left = append(left, r...)
	}
	if len(left) == 0 {
		return nil, errors.New("no reader would be left")
	}
	return b.renewed(left)
}

// Next returns the box for the next write.
func (b *Box) Next() *Box {
	next := *b
	next.Serial++
	return &next
}

// Header returns the copies of the key as text: Magic, a line that tells keys apart, a line for each reader, and an
// empty line.
func (b *Box) Header() []byte {
	out := fmt.Appendf(nil, "%s%s%s\n", Magic, keyRow, fingerprint(b.key))
	for _, c := range b.copies {
		out = fmt.Appendf(out, "%s%s\n", copyRow, base64.StdEncoding.EncodeToString(c))
	}
	return append(out, '\n')
}

// Sealed reports whether a text begins as a header.
func Sealed(text []byte) bool { return bytes.HasPrefix(text, []byte(Magic)) }

// fingerprint tells keys apart without revealing them.
func fingerprint(key *age.X25519Identity) string {
	sum := sha256.Sum256([]byte(key.Recipient().String()))
	return hex.EncodeToString(sum[:16])
}

// Keys open stores.
type Keys struct {
	// Seen is the state of the store that the client remembers, nil for none. If the store still has its key, nothing
	// else is asked for.
	Seen *Seen
	// Identities returns the identities of a reader. Passphrase is asked if the store has one and no identity opens it.
	Identities func() ([]age.Identity, error)
	Passphrase func() (string, error)
}

// Unlock returns a box with the key that a header has for somebody's keys, and what follows the header. The box lacks
// its record.
func Unlock(text []byte, keys Keys) (*Box, []byte, error) {
	rest, ok := bytes.CutPrefix(text, []byte(Magic+keyRow))
	print, rest, end := bytes.Cut(rest, []byte("\n"))
	if !ok || !end {
		return nil, nil, ErrDamaged
	}
	b := &Box{}
	for {
		row, after, ok := bytes.Cut(rest, []byte("\n"))
		if rest = after; !ok {
			return nil, nil, ErrDamaged
		}
		if len(row) == 0 && len(b.copies) > 0 {
			break
		}
		if len(b.copies) == MaxReaders {
			return nil, nil, ErrDamaged
		}
		coded, ok := bytes.CutPrefix(row, []byte(copyRow))
		if !ok || len(coded) > 2*maxCopy {
			return nil, nil, ErrDamaged
		}
		c, err := base64.StdEncoding.AppendDecode(nil, coded)
		if err != nil {
			return nil, nil, ErrDamaged
		}
		b.copies = append(b.copies, c)
	}
	if keys.Seen != nil {
		if key, err := age.ParseX25519Identity(keys.Seen.Key); err == nil && fingerprint(key) == string(print) {
			b.key = key
			return b, rest, nil
		}
	}
	var err error
	if b.key, err = openKey(b.copies, keys); err == nil && fingerprint(b.key) != string(print) {
		err = ErrDamaged
	}
	return b, rest, err
}

// openKey returns the key in the first copy that an identity opens, else in one that the passphrase opens.
func openKey(copies [][]byte, keys Keys) (*age.X25519Identity, error) {
	identities, err := keys.Identities()
	if err != nil {
		return nil, err
	}
	if len(identities) > 0 {
		for _, c := range copies {
			text, err := decrypt(c, maxCopy, identities...)
			if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
				continue
			}
			if err != nil {
				return nil, err
			}
			return parseKey(text)
		}
	}
	at := slices.IndexFunc(copies, func(c []byte) bool { return bytes.Contains(c, []byte("\n-> scrypt ")) })
	if at < 0 {
		return nil, ErrNoIdentity
	}
	pass, err := keys.Passphrase()
	if err != nil {
		return nil, err
	}
	id, err := passphraseIdentity(pass)
	if err != nil {
		return nil, err
	}
	text, err := decrypt(copies[at], maxCopy, id)
	if err != nil {
		return nil, fmt.Errorf("%w: the passphrase is another one", ErrNoIdentity)
	}
	return parseKey(text)
}

func parseKey(text []byte) (*age.X25519Identity, error) {
	key, err := age.ParseX25519Identity(string(text))
	if err != nil {
		return nil, ErrDamaged // the error of age may quote the key
	}
	return key, nil
}

// Read reads the record of a box from its JSON form.
func (b *Box) Read(data []byte) error {
	if len(data) > maxRecord {
		return ErrDamaged
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var r Record
	if dec.Decode(&r) != nil {
		return ErrDamaged
	}
	return b.Take(r)
}

// Take sets the record of a box.
func (b *Box) Take(r Record) error {
	if len(r.Former) > maxFormer || len(r.Readers) != len(b.copies) {
		return ErrDamaged
	}
	b.Record = r
	return nil
}

// Seen identifies the state of a store, for a client to remember.
type Seen struct {
	Key    string `json:"key"`
	Serial uint64 `json:"serial"`
}

// Seen returns what to remember of the store.
func (b *Box) Seen() Seen { return Seen{b.key.String(), b.Serial} }

var (
	// ErrOlder is returned for a store in an older state than one that was seen.
	ErrOlder = errors.New("it is in an older state than before")
	// ErrStranger is returned for a store whose key was made without the one that was seen.
	ErrStranger = errors.New("its key is another one, and does not follow the one it had")
)

// Follows returns an error of ErrOlder or ErrStranger unless the store can have become what it is since it was seen.
func (b *Box) Follows(seen Seen) error {
	if key := b.key.String(); key != seen.Key && !slices.Contains(b.Former, seen.Key) {
		return ErrStranger
	}
	if b.Serial < seen.Serial {
		return ErrOlder
	}
	return nil
}

// Seal compresses and encrypts what r has.
func (b *Box) Seal(w io.Writer, r io.Reader) error {
	out, err := age.Encrypt(w, b.key.Recipient())
	if err != nil {
		return err
	}
	small, err := flate.NewWriter(out, flate.DefaultCompression)
	if err == nil {
		_, err = io.Copy(small, r)
	}
	if err == nil {
		err = small.Close()
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// SealText encrypts a text.
func (b *Box) SealText(text []byte) ([]byte, error) {
	var buf bytes.Buffer
	err := b.Seal(&buf, bytes.NewReader(text))
	return buf.Bytes(), err
}

// Open decrypts what r has, at most limit bytes. What was written to w is complete and genuine only if the error is nil.
func (b *Box) Open(w io.Writer, r io.Reader, limit int64) error {
	in, err := age.Decrypt(r, b.key)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	rest := bufio.NewReader(in) // which flate reads no further than its stream
	n, err := io.Copy(w, io.LimitReader(flate.NewReader(rest), limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err == nil {
		if _, end := rest.ReadByte(); end == nil {
			err = errors.New("something follows")
		} else if !errors.Is(end, io.EOF) {
			err = end // its end is not genuine
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// OpenText decrypts a text of at most limit bytes.
func (b *Box) OpenText(data []byte, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	err := b.Open(&buf, bytes.NewReader(data), limit)
	return buf.Bytes(), err
}

func encrypt(w io.Writer, r io.Reader, to age.Recipient) error {
	out, err := age.Encrypt(w, to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, r); err != nil {
		return err
	}
	return out.Close()
}

func decrypt(data []byte, limit int64, with ...age.Identity) ([]byte, error) {
	plain, err := age.Decrypt(bytes.NewReader(data), with...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(plain, limit))
}

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
