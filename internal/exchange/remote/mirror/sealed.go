package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"filippo.io/age"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// KeySuffix ends the name of the file next to a mirror that remembers the key of an encrypted store.
	KeySuffix = ".key"
	maxSeen   = 4 << 10
)

// unlock returns the box of a text with a header, and what follows that. The box is nil for a text without one.
func (m *mirror) unlock(text []byte) (*seal.Box, []byte, error) {
	if !seal.Sealed(text) {
		return nil, text, nil
	}
	seen, err := m.seen()
	if err != nil {
		return nil, nil, err
	}
	box, rest, err := seal.Unlock(text, seal.Keys{
		Seen: seen, Passphrase: m.host.Passphrase,
		Identities: func() ([]age.Identity, error) { return m.host.Identities(m.remote.Identity) },
	})
	switch {
	case errors.Is(err, seal.ErrNoIdentity) && seen != nil:
		err = verb.Hintf(fmt.Errorf("%w: the key of the %s was changed: %w", state.ErrInvalid, m.what, err),
			"name a file with your identity: MNEM_IDENTITY=FILE; if you were removed, ask a reader to add you: 'mnem remote readers NAME --encrypt KEY'")
	case errors.Is(err, seal.ErrNoIdentity):
		err = verb.Hintf(fmt.Errorf("%w: the %s is encrypted: %w", state.ErrInvalid, m.what, err),
			"name a file with your identity: MNEM_IDENTITY=FILE, or --identity FILE of 'mnem clone' and 'mnem remote add'")
	case errors.Is(err, seal.ErrDamaged):
		err = m.errNone("%v", err)
	}
	return box, rest, err
}

// admit checks what was read against what is remembered of the store, and remembers it.
func (m *mirror) admit(box *seal.Box) error {
	seen, err := m.seen()
	if err != nil {
		return err
	}
	if box == nil {
		if seen != nil || len(m.remote.Encrypt) > 0 {
			return verb.Hintf(fmt.Errorf("%w: the %s is not encrypted, but %s must be", state.ErrInvalid, m.what, m.remote.Name),
				"somebody else may have written it: ask who keeps it, or use another prefix or ref")
		}
		m.box = nil
		return nil
	}
	if seen != nil {
		err = box.Follows(*seen)
	}
	if err != nil {
		return verb.Hintf(fmt.Errorf("%w: the %s was replaced: %w", state.ErrInvalid, m.what, err),
			"if you restored it yourself, accept that with 'mnem remote readers %s --accept'", m.remote.Name)
	}
	return m.pin(box)
}

// seen returns what is remembered of the store, nil if nothing is.
func (m *mirror) seen() (*seal.Seen, error) {
	data, err := filestate.Read(m.seenFile, maxSeen)
	if err != nil || data == nil {
		return nil, err
	}
	var seen seal.Seen
	if err := json.Unmarshal(data, &seen); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, m.seenFile, err)
	}
	return &seen, nil
}

// pin remembers a box and uses it from now on.
func (m *mirror) pin(box *seal.Box) error {
	if m.box = box; box == nil {
		return nil
	}
	data, err := json.Marshal(box.Seen())
	if err != nil {
		return err
	}
	return filestate.Replace(m.seenFile, fileMode, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

// forget is admit for a store without anything.
func (m *mirror) forget() error {
	m.box = nil
	seen, err := m.seen()
	if err == nil && seen != nil {
		err = verb.Hintf(fmt.Errorf("%w: the %s is missing or empty, and was not before", state.ErrInvalid, m.what),
			"connect or mount it; if you removed it yourself, accept that with 'mnem remote readers %s --accept'", m.remote.Name)
	}
	return err
}

// begin makes the box of an empty store that must be encrypted.
func (m *mirror) begin() error {
	if m.box != nil || len(m.remote.Encrypt) == 0 {
		return nil
	}
	var readers []seal.Recipient
	for _, text := range m.remote.Encrypt {
		r, err := seal.ParseReader(text, m.host.Passphrase)
		if err != nil {
			return fmt.Errorf("%w: %w", state.ErrInvalid, err)
		}
		readers = append(readers, r...)
	}
	box, err := seal.New(readers)
	if err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	m.box = box
	return nil
}

// sealing calls fn with a pack in the form that the store keeps.
func (m *mirror) sealing(pack *io.SectionReader, fn func(*io.SectionReader) error) error {
	if m.box == nil {
		return fn(pack)
	}
	return m.inFile(func(f *os.File) error { return m.box.Seal(f, io.NewSectionReader(pack, 0, pack.Size())) }, fn)
}

// opening returns what writes a pack that write writes in the form that the store keeps.
func (m *mirror) opening(write func(*os.File) error) func(*os.File) error {
	box := m.box
	if box == nil {
		return write
	}
	return func(f *os.File) error {
		return m.inFile(write, func(r *io.SectionReader) error {
			if err := box.Open(f, r, remote.MaxPack); err != nil {
				return m.errNone("%v", err)
			}
			return nil
		})
	}
}

// openTexts decrypts texts, if they are encrypted; those that are empty are missing.
func (m *mirror) openTexts(texts []string) error {
	if m.box == nil {
		return nil
	}
	for i, text := range texts {
		if text == "" {
			continue
		}
		data, err := m.box.OpenText([]byte(text), maxText)
		if err != nil {
			return m.errNone("%v", err)
		}
		texts[i] = string(data)
	}
	return nil
}

// EncryptedFor returns the readers of the store, nil if it is not encrypted.
func (m *mirror) EncryptedFor() []string {
	if m.box == nil {
		return nil
	}
	return m.box.Readers
}

// Readers are who can read an encrypted store.
type Readers struct {
	Readers []string `json:"readers"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// ReadersChange says who shall read a store from now on.
type ReadersChange struct {
	Add, Remove []seal.Recipient
	Accept      bool // take the store as it is, whatever was seen before
}

const (
	// readersTries is how often a change of readers is tried while others push, and readersPause the pause in between.
	readersTries = 20
	readersPause = 100 * time.Millisecond
)

// Readers lists the readers of an encrypted store, after a change of them. To remove one gives the store another
// key, and replaces all packs.
func (m *mirror) Readers(ctx context.Context, c ReadersChange) (out *Readers, err error) {
	err = m.locked(ctx, func() error {
		if c.Accept {
			if err := os.Remove(m.seenFile); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		for n := 1; ; n++ {
			err := m.refresh(ctx)
			if err == nil {
				out, err = m.changeReaders(ctx, c)
			}
			if !errors.Is(err, state.ErrConflict) || n == readersTries {
				return err
			}
			if err := m.host.Pause(ctx, readersPause); err != nil {
				return err
			}
		}
	})
	return out, err
}

func (m *mirror) changeReaders(ctx context.Context, c ReadersChange) (*Readers, error) {
	if m.box == nil {
		if len(m.remote.Encrypt) > 0 {
			return nil, verb.Hintf(fmt.Errorf("%w: nothing is stored there yet", state.ErrInvalid), "the first push makes it: mnem push %s", m.remote.Name)
		}
		return nil, verb.Hintf(fmt.Errorf("%w: the %s is not encrypted", state.ErrInvalid, m.what),
			"add a remote with --encrypt, at another prefix or ref, and push to it")
	}
	out := &Readers{Readers: m.box.Readers}
	if len(c.Add)+len(c.Remove) == 0 {
		return out, nil
	}
	finished, err := m.backend.finish(ctx)
	if err != nil {
		return nil, err
	}
	was := m.box
	next, err := was.With(c.Add)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	var gone []string
	for _, r := range c.Remove {
		switch {
		case slices.Contains(next.Readers, r.Text):
			gone = append(gone, r.Text)
		case finished:
			out.Removed = append(out.Removed, r.Text) // by the run that was interrupted
		default:
			return nil, &state.NotFoundError{What: "reader", Name: r.Text}
		}
	}
	if len(gone) > 0 {
		if next, err = next.Without(gone, m.host.Passphrase); err != nil {
			return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
		}
		if err := m.stays(was, next); err != nil {
			return nil, err
		}
	}
	if out.Readers = next.Readers; slices.Equal(next.Readers, was.Readers) {
		return out, nil
	}
	for _, text := range next.Readers {
		if !slices.Contains(was.Readers, text) {
			out.Added = append(out.Added, text)
		}
	}
	out.Removed = append(out.Removed, gone...)
	m.box = next
	if err := m.backend.replace(ctx, m.erased, next.Seen().Key == was.Seen().Key); err != nil {
		m.box = was
		return nil, err
	}
	return out, nil
}

// stays refuses to remove the reader that this machine is: afterwards it could not check the result.
func (m *mirror) stays(was, next *seal.Box) error {
	own := func(box *seal.Box) error {
		_, _, err := seal.Unlock(box.Header(), seal.Keys{
			Passphrase: m.host.Passphrase, Identities: func() ([]age.Identity, error) { return m.host.Identities(m.remote.Identity) },
		})
		return err
	}
	if err := own(next); own(was) == nil && errors.Is(err, seal.ErrNoIdentity) {
		return verb.Hintf(fmt.Errorf("%w: without them: %w", state.ErrInvalid, err),
			"have another reader remove your key, or add your new one and name its identity first: MNEM_IDENTITY=FILE")
	}
	return nil
}

// parse reads the mutable object, which may be encrypted.
func (b *Bucket) parse(data []byte) error {
	box, data, err := b.unlock(data)
	if err != nil {
		return err
	}
	if box != nil {
		if data, err = box.OpenText(data, maxText); err != nil {
			return b.errNone("%v", err)
		}
	}
	m, err := parseS3Memory(data)
	if err != nil {
		return err
	}
	if (box == nil) != (m.Encrypted == nil) {
		return b.errNone("it is encrypted in part")
	}
	if box != nil {
		if err := box.Take(*m.Encrypted); err != nil {
			return b.errNone("%v", err)
		}
	}
	if err := b.admit(box); err != nil {
		return err
	}
	b.last = *m
	return nil
}

// form returns the bytes of the mutable object, and the box that they are encrypted with, nil for none.
func (b *Bucket) form(next s3Memory) (data []byte, box *seal.Box, err error) {
	next.Encrypted = nil
	if b.box != nil {
		box = b.box.Next()
		next.Encrypted = &box.Record
	}
	data, err = json.MarshalIndent(next, "", " ")
	if err != nil || box == nil {
		return data, nil, err
	}
	text, err := box.SealText(data)
	return append(box.Header(), text...), box, err
}
