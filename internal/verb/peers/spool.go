package peers

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// maxHeld is how many bytes of what is spooled are in memory.
const maxHeld = 1 << 20

// Spool reads all that another process or a person has to say, so that nobody waits for it while it is
// used. What is longer than 1 MiB is in a file of the directory meanwhile.
func Spool(dir string, from io.Reader) (io.ReadCloser, error) {
	head, err := io.ReadAll(io.LimitReader(from, maxHeld))
	if err != nil {
		return nil, err
	}
	if len(head) < maxHeld {
		return io.NopCloser(bytes.NewReader(head)), nil
	}
	return SpoolFile(dir, io.MultiReader(bytes.NewReader(head), from))
}

// TempFile is a file that is gone when it is closed.
type TempFile struct {
	*os.File
	Size    int64
	removed bool
}

// SpoolFile copies what is read into a file of the directory.
func SpoolFile(dir string, from io.Reader) (*TempFile, error) {
	f, err := os.CreateTemp(dir, "import-*")
	if err != nil {
		return nil, err
	}
	// Where the system allows it the name goes at once, so that nothing is left behind whatever
	// happens; elsewhere when the file is closed.
	out := &TempFile{File: f, removed: os.Remove(f.Name()) == nil}
	if out.Size, err = io.Copy(f, from); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Close closes the file, and removes it where that could not be done before.
func (f *TempFile) Close() error {
	err := f.File.Close()
	if !f.removed {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
