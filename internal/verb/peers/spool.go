package peers

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/mnem-project/mnem/internal/verb"
)

// maxHeld is how many bytes of what is spooled are in memory.
const maxHeld = 1 << 20

// spool reads all of from, the inputs of another process, so that no caller waits for it while reading the
// result. Input longer than 1 MiB goes to a temporary file in dir.
func spool(dir string, from io.Reader) (*verb.File, error) {
	head, err := io.ReadAll(io.LimitReader(from, maxHeld))
	if err != nil {
		return nil, err
	}
	if len(head) < maxHeld {
		return &verb.File{ReaderAt: bytes.NewReader(head), Size: int64(len(head)), Close: func() {}}, nil
	}
	f, err := SpoolFile(dir, io.MultiReader(bytes.NewReader(head), from))
	if err != nil {
		return nil, err
	}
	return &verb.File{ReaderAt: f, Size: f.Size, Close: func() { _ = f.Close() }}, nil // only read from
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
	// Remove the name at once if the system allows it, so that nothing is left behind whatever happens;
	// otherwise when the file is closed.
	out := &TempFile{File: f, removed: os.Remove(f.Name()) == nil}
	if out.Size, err = io.Copy(f, from); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Close closes the file, and removes it if that could not be done before.
func (f *TempFile) Close() error {
	err := f.File.Close()
	if !f.removed {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
