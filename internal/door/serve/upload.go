package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// uploadID is how many hexadecimal digits the name of an upload has.
	uploadID = 32
	// maxUploads is the number of uploads at once. One idle for uploadRest is removed to admit another; any that is
	// idle for uploadAge is removed.
	maxUploads = 16
	uploadRest = 10 * time.Minute
	uploadAge  = 24 * time.Hour
)

// Uploads are bodies sent in parts, so that a broken connection loses nothing. Each is a file in a directory, of one
// caller alone.
type Uploads struct {
	Dir string // made when the first one comes
	// Room returns how many bytes more they may have, all together.
	Room func() int64
	Now  func() time.Time

	mu sync.Mutex
}

// uploaded is the answer to a part.
type uploaded struct {
	Bytes int64 `json:"bytes"` // that are there
}

var errUploads = errors.New("too many uploads are under way, or there is no room for this one")

func (u *Uploads) path(caller, id string) string {
	sum := sha256.Sum256([]byte(caller + "\n" + id))
	return filepath.Join(u.Dir, hex.EncodeToString(sum[:16]))
}

func (u *Uploads) have(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// add appends a part at an offset, and returns the length after that. If the length is not offset, it adds nothing.
func (u *Uploads) add(path string, offset int64, part []byte) (n int64, added bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n, err = u.have(path); err != nil || n != offset {
		return n, false, err
	}
	if err := u.makeRoom(path, int64(len(part))); err != nil {
		return n, false, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return n, false, err
	}
	if _, err = f.WriteAt(part, offset); err != nil { // a half part would pass for one
		err = errors.Join(err, f.Truncate(offset))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return n, false, err
	}
	return offset + int64(len(part)), true, nil
}

// makeRoom removes idle uploads, and fails if there is no room for a part. Its caller holds mu.
func (u *Uploads) makeRoom(path string, part int64) error {
	if err := os.MkdirAll(u.Dir, 0o700); err != nil {
		return err
	}
	list, err := os.ReadDir(u.Dir)
	if err != nil {
		return err
	}
	now, left := u.Now(), 0
	for _, e := range list {
		info, err := e.Info()
		name := filepath.Join(u.Dir, e.Name())
		if err != nil || name == path {
			continue // it was just removed, or is the current one
		}
		rest := now.Sub(info.ModTime())
		if rest > uploadAge || rest > uploadRest && len(list) >= maxUploads {
			if err := os.Remove(name); err != nil {
				return err
			}
			continue
		}
		left++
	}
	if left >= maxUploads || part > u.Room() {
		return errUploads
	}
	return nil
}

// upload answers /v1/uploads/ID: how many bytes are there, and takes more.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	if !s.methods(w, r, http.MethodGet, http.MethodHead, http.MethodPost) {
		return
	}
	path, p := s.uploadPath(r, r.PathValue("id"))
	if p != nil {
		s.refuse(w, r, p)
		return
	}
	if r.Method != http.MethodPost {
		n, err := s.cfg.Uploads.have(path)
		s.tellUpload(w, r, n, err)
		return
	}
	offset, err := strconv.ParseInt(r.URL.Query().Get("offset"), 10, 64)
	if err != nil || offset < 0 {
		s.refuse(w, r, badRequest("offset: want the number of bytes that come before"))
		return
	}
	b, p := s.take(r, s.cfg.Limits.Body, 1)
	defer b.release()
	if p == nil {
		p = s.room(b.size)
	}
	if p != nil {
		s.refuse(w, r, p)
		return
	}
	n, added, err := s.cfg.Uploads.add(path, offset, b.text())
	if err == nil && !added {
		s.refuse(w, r, newProblem(http.StatusConflict, operation.Conflict.Code, "%d bytes are there", n))
		return
	}
	s.tellUpload(w, r, n, err)
}

func (s *Server) tellUpload(w http.ResponseWriter, r *http.Request, n int64, err error) {
	if errors.Is(err, errUploads) {
		s.refuse(w, r, failed(operation.Busy, err.Error()))
		return
	}
	if err != nil {
		s.cfg.Log.Error("an upload cannot be kept", "cause", err)
		s.refuse(w, r, failed(operation.Failed, "the upload cannot be kept"))
		return
	}
	w.Header().Set("Content-Type", operation.MediaJSON)
	_ = json.NewEncoder(w).Encode(uploaded{n}) // who asked may have gone
}

func (s *Server) uploadPath(r *http.Request, id string) (string, *problem) {
	if _, err := hex.DecodeString(id); len(id) != uploadID || err != nil {
		return "", badRequest("an upload has a name of %d hexadecimal digits", uploadID)
	}
	return s.cfg.Uploads.path(whoOf(r.Context()).key, id), nil
}

// uploadedFile is an upload used as a body. It is removed after reading.
type uploadedFile struct {
	*os.File
	path string
}

func (f *uploadedFile) end() {
	_, _ = f.File.Close(), os.Remove(f.path) // if this fails, it is removed with others
}

// uploadedBody opens the upload that a request names in place of a body, nil if it names none.
func (s *Server) uploadedBody(r *http.Request) (*uploadedFile, *problem) {
	id := r.Header.Get("Mnem-Upload")
	if id == "" || s.cfg.Uploads == nil {
		return nil, nil
	}
	path, p := s.uploadPath(r, id)
	if p != nil {
		return nil, p
	}
	if r.ContentLength != 0 {
		return nil, badRequest("Mnem-Upload stands for the body, and there is one")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, notFound("no upload of this name")
	}
	return &uploadedFile{f, path}, nil
}

// unpackedUpload returns an upload as the operation reads it. There must be room for the decompressed bytes.
func (s *Server) unpackedUpload(r *http.Request, f *uploadedFile) (io.Reader, *problem) {
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
		return f, nil
	case encodingZstd:
		return &unpacking{from: f, left: s.cfg.Uploads.Room()}, nil
	}
	return nil, newProblem(http.StatusUnsupportedMediaType, codeMedia, "an upload has no Content-Encoding but zstd")
}
