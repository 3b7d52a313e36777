package ingesting

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/ingest"
)

const (
	// statsFile is the file next to the store that records the sums of files: if it is lost all files are read again.
	statsFile  = "ingest.json"
	maxStats   = 256 << 20
	statsV     = 2
	keyFile    = "redact.key"
	redactSize = 32
	// doubtful is how coarse the times of files are taken to be: of a file that was changed just before it was
	// looked at, a later change may leave time and size as they are.
	doubtful = 2 * time.Second
)

// fileStats are the sums of files as they were seen last.
type fileStats struct {
	file    string
	at      int64 // of the last look, by the clock of the file system; 0 for none
	begun   int64 // before any file is looked at
	known   map[ingest.Path]fileStat
	dirs    map[string]string // of projects that were called by their directory
	changed bool
}

// fileStat has a file as it was seen. Times are in nanoseconds.
type fileStat struct {
	Project, Name string
	Sum           string // in hexadecimal
	Size          int64
	Time          int64
	Changed       int64 // its contents or attributes, as the system says: tools set the other one back
	Seen          int64 // before it was read, by our clock
}

type fileStatsJSON struct {
	V     int
	Dirs  map[string]string `json:",omitempty"`
	Files []fileStat
}

// readFileStats reads the sums. A file that is damaged is as good as none.
func readFileStats(dir string) (*fileStats, error) {
	s := &fileStats{
		file: filepath.Join(dir, statsFile), known: make(map[ingest.Path]fileStat), begun: time.Now().UnixNano(),
		dirs: make(map[string]string),
	}
	info, err := os.Stat(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := filestate.Read(s.file, maxStats)
	var in fileStatsJSON
	if err != nil || json.Unmarshal(data, &in) != nil || in.V != statsV {
		return s, nil
	}
	s.at = info.ModTime().UnixNano()
	if in.Dirs != nil {
		s.dirs = in.Dirs
	}
	for _, f := range in.Files {
		s.known[ingest.Path{Project: f.Project, Name: f.Name}] = f
	}
	return s, nil
}

// sum returns the sum that a file has where its size and time say so surely.
func (s *fileStats) sum(f *ingestFile) (ingest.Sum, bool) {
	have, ok := s.known[f.path]
	sum, err := hex.DecodeString(have.Sum)
	if !ok || err != nil || len(sum) != len(ingest.Sum{}) || f.info == nil || have.Size != f.info.Size() ||
		have.Time != f.info.ModTime().UnixNano() || have.Changed != filestate.Changed(f.info).UnixNano() {
		return ingest.Sum{}, false
	}
	last := max(have.Time, have.Changed) + int64(doubtful)
	return ingest.Sum(sum), last < s.at && last < have.Seen
}

// note keeps the sum of a file that was read. Of one that is doubtful again nothing is gained by it.
func (s *fileStats) note(f *ingestFile, sum ingest.Sum) {
	if f.info == nil {
		return
	}
	s.known[f.path] = fileStat{f.path.Project, f.path.Name, hex.EncodeToString(sum[:]), f.info.Size(),
		f.info.ModTime().UnixNano(), filestate.Changed(f.info).UnixNano(), s.begun}
	s.changed = true
}

// called notes that a project has the name of a directory, unless another directory that is still there has it:
// then that is returned.
func (s *fileStats) called(project, dir string) (other string) {
	have, ok := s.dirs[project]
	if ok && have != dir {
		if info, err := os.Stat(have); err == nil && info.IsDir() {
			return have
		}
	}
	s.changed = s.changed || have != dir
	s.dirs[project] = dir
	return ""
}

func (s *fileStats) drop(gone func(ingest.Path) bool) {
	had := len(s.known)
	maps.DeleteFunc(s.known, func(p ingest.Path, _ fileStat) bool { return gone(p) })
	s.changed = s.changed || len(s.known) < had
}

func (s *fileStats) save() error {
	if !s.changed {
		return nil
	}
	out := fileStatsJSON{V: statsV, Dirs: s.dirs, Files: slices.AppendSeq([]fileStat{}, maps.Values(s.known))}
	data, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return filestate.Replace(s.file, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// redactKey returns a function that reads the key by which credentials are told apart. The key belongs to one copy of
// the repository; if there is none it is made, in a dry run only for that run.
func redactKey(dir string, dryRun bool) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		file := filepath.Join(dir, keyFile)
		key, err := readKey(file)
		if err != nil || key != nil {
			return key, err
		}
		key = make([]byte, redactSize)
		_, _ = rand.Read(key) // it never fails
		if dryRun {
			return key, nil
		}
		err = filestate.Create(file, []byte(hex.EncodeToString(key)+"\n"))
		if errors.Is(err, fs.ErrExist) {
			if key, err = readKey(file); err == nil && key == nil {
				err = fmt.Errorf("%w: %s was removed at the same time", store.ErrBusy, file)
			}
		}
		return key, err
	})
}

func readKey(file string) ([]byte, error) {
	data, err := filestate.Read(file, 4*redactSize)
	if err != nil || data == nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(data[:max(0, len(data)-1)]))
	if err != nil || len(key) != redactSize {
		return nil, fmt.Errorf("%w: %s is no key", store.ErrCorrupt, file)
	}
	return key, nil
}
