package chats

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/internal/base/sqlite"
)

const (
	// maxUnpacked bounds the bytes read from a packed file, since a small file may unpack to any size.
	maxUnpacked = 4 << 30
	// maxWindow bounds the memory of a zstd decoder's window.
	maxWindow = 128 << 20
	// maxEntries is how many files an archive may have.
	maxEntries = 200_000
)

// errUnpacked is returned for a packed file that unpacks to more than maxUnpacked bytes.
var errUnpacked = errors.New("it unpacks to more than 4 GiB")

// unpack reads a file that may be packed by what reads one that is not.
func unpack(in io.Reader, h Handler, read func(io.Reader, Handler) error) error {
	b := bufio.NewReaderSize(in, 1<<16)
	switch head, _ := b.Peek(4); {
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return unzstd(b, h, read)
	case bytes.Equal(head, []byte("PK\x03\x04")):
		at, ok := in.(archive)
		if !ok {
			return ErrFormat
		}
		return unzip(at, h, read)
	}
	return read(b, h)
}

func unzstd(in io.Reader, h Handler, read func(io.Reader, Handler) error) error {
	dec, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	defer dec.Close()
	return readUnpacked(dec, h, "the compressed file", read)
}

// readUnpacked reads decompressed data. If that fails midway, the part read so far is kept.
func readUnpacked(in io.Reader, h Handler, what string, read func(io.Reader, Handler) error) error {
	u := &unpacked{in: in, left: maxUnpacked}
	err := read(u, h)
	if u.err != nil && !errors.Is(err, ErrFormat) { // otherwise nothing could be read
		h.Skipped(Damaged, fmt.Sprintf("%s: %v", what, u.err))
	}
	return err
}

// archive is the interface that reading a zip archive needs.
type archive interface {
	io.ReaderAt
	io.Seeker
}

// exported are the files of conversations in an export.
var exported = pattern.New(`^conversations(?:-[0-9]+)?\.json$`)

func unzip(in archive, h Handler, read func(io.Reader, Handler) error) error {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(in, size)
	if err != nil || len(z.File) > maxEntries {
		return ErrFormat
	}
	slices.SortStableFunc(z.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	found := false
	for _, f := range z.File {
		base := path.Base(f.Name)
		switch {
		case f.FileInfo().IsDir():
			continue
		case !exported().MatchString(base):
			h.Skipped(leftFile(base), "")
			continue
		}
		found = true
		data, err := f.Open()
		if err != nil {
			h.Skipped(Damaged, f.Name)
			continue
		}
		err = readUnpacked(data, h, f.Name, read)
		_ = data.Close() // only read
		if errors.Is(err, ErrFormat) {
			h.Skipped(Damaged, f.Name)
		} else if err != nil {
			return err
		}
	}
	if !found {
		return ErrFormat
	}
	return nil
}

// leftFile returns the kind under which an unread file of an export is counted: the name of a JSON file, otherwise the
// file's extension.
func leftFile(base string) string {
	ext := strings.ToLower(path.Ext(base))
	if ext == ".json" {
		return label(base)
	}
	if ext == "" {
		return file
	}
	return label(ext + " file")
}

// companions are JSON files that programs store with conversations but that contain none.
var companions = []string{
	"logs.json", "settings.json", "oauth_creds.json", "google_accounts.json", "projects.json", "user.json", "users.json",
	"user_settings.json", "message_feedback.json", "shared_conversations.json", "group_chats.json",
	"model_comparisons.json", "sora.json", "shopping.json", "library_files.json", "export_manifest.json",
	"conversation_asset_file_names.json", "memories.json", "tasks.json",
}

// Wants reports, by its name, whether a file in a directory may have a format. left is the kind under which another
// file of the same program is counted.
func Wants(format, name string) (wants bool, left string) {
	endings := map[string][]string{
		"claude-code": {".jsonl"}, "codex": {".jsonl", ".jsonl.zst"}, "gemini": {".json", ".jsonl"},
		"opencode": {".json", ".db"}, "cursor": {".jsonl", "state.vscdb"}, "copilot": {".json", ".jsonl"},
		"chatgpt": {".json", ".zip"}, "claude": {".json", ".zip"}, "server-memory": {".json", ".jsonl"}, "mem0": {".json"},
	}[format]
	base := path.Base(name)
	switch format {
	case "cursor":
		if strings.HasSuffix(base, ".txt") && path.Base(path.Dir(name)) == "agent-transcripts" {
			return false, "transcript of an older version"
		}
	case "copilot-cli":
		if base == "events.jsonl" || strings.HasSuffix(base, ".jsonl") && path.Base(path.Dir(name)) == "session-state" {
			return true, ""
		}
		return strings.HasSuffix(base, ".jsonl") && !strings.Contains(name, "/"), ""
	case "copilot":
		if dir := path.Base(path.Dir(name)); strings.Contains(name, "/") && !strings.HasSuffix(strings.ToLower(dir), "chatsessions") {
			return false, ""
		}
	case "cline":
		if base == "api_conversation_history.json" {
			return false, base
		}
		return base == "ui_messages.json" || strings.HasSuffix(base, ".messages.json"), ""
	}
	if slices.Contains(companions, base) {
		return false, base
	}
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(base, e) }), ""
}

// unpacked reads a packed file up to the first error or the limit.
type unpacked struct {
	in   io.Reader
	left int64
	err  error // why it ended early
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.left <= 0 {
		u.err = errUnpacked
		return 0, io.EOF
	}
	n, err := u.in.Read(p[:min(int64(len(p)), u.left)])
	u.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		u.err = err
		err = io.EOF // the part read so far is kept
	}
	return n, err
}

// Neighbour is implemented by files that can open the file whose path is theirs with an ending more. It is closed by
// the caller, and nil if there is none.
type Neighbour interface {
	Next(ending string) (SizedFile, error)
}

// SizedFile is a file of known size.
type SizedFile interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// databases has a reader for each format that has databases.
var databases = map[string]func(*sqlite.Database, Handler) error{
	"cursor": cursorDatabase, "opencode": openCodeDatabase,
}

// maxRows is how many rows of a database are put in order.
const maxRows = 4_000_000

// errRows is returned for a database of more rows.
var errRows = errors.New("more than 4,000,000 rows of messages")

// readDatabase reads a file of a format that may be a database; is reports whether it is one.
func readDatabase(format string, in io.Reader, h Handler) (is bool, err error) {
	read, file := databases[format], sqlite.Sized{}
	at, ok := in.(archive)
	if read == nil || !ok {
		return false, nil
	}
	head := make([]byte, len(sqlite.Magic))
	if n, _ := at.ReadAt(head, 0); string(head[:n]) != sqlite.Magic {
		return false, nil
	}
	file.ReaderAt = at
	if file.Size, err = at.Seek(0, io.SeekEnd); err != nil {
		return true, err
	}
	var log sqlite.Sized
	if n, ok := in.(Neighbour); ok {
		beside, err := n.Next("-wal")
		if err != nil {
			return true, err
		}
		if beside != nil {
			defer func() { _ = beside.Close() }() // only read
			log = sqlite.Sized{ReaderAt: beside, Size: beside.Size()}
		}
	}
	db, err := sqlite.Open(file, log)
	if err == nil {
		err = read(db, h)
	} else if errors.Is(err, sqlite.ErrDamaged) {
		return true, ErrFormat
	}
	return true, err
}

// eachRow calls yield with the rows of a table. Damage ends the reading and is reported; the rows before it count.
func eachRow(db *sqlite.Database, name string, h Handler, yield func(*sqlite.Table, *sqlite.Row) error) error {
	t, ok := db.Table(name)
	if !ok {
		return nil
	}
	err := db.Each(t, func(r *sqlite.Row) error { return yield(t, r) })
	if errors.Is(err, sqlite.ErrDamaged) {
		h.Skipped(Damaged, "the rest of the table "+name)
		return nil
	}
	return err
}
