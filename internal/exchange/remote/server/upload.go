package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

const (
	// uploadFrom is the size from which a pack is sent in parts, so that it can resume after its connection breaks;
	// uploadPart is the size of a part.
	uploadFrom = 4 << 20
	uploadPart = 4 << 20
	// uploadTries is how often a part is sent without any progress.
	uploadTries = 5
)

type upload struct {
	side *Side
	file *os.File // the pack, compressed
	size int64
	id   string // the same for the same bytes
}

// startUpload compresses a pack into a file. end must be called.
func (s *Side) startUpload(pack *io.SectionReader) (u *upload, err error) {
	f, err := os.CreateTemp("", "mnem-pack-*")
	if err != nil {
		return nil, err
	}
	u = &upload{side: s, file: f}
	defer func() {
		if err != nil {
			u.end()
		}
	}()
	sum := sha256.New()
	if err = compress(io.MultiWriter(f, sum), pack); err != nil {
		return nil, err
	}
	u.id = hex.EncodeToString(sum.Sum(nil)[:16])
	u.size, err = f.Seek(0, io.SeekEnd)
	return u, err
}

func (u *upload) end() { _, _ = u.file.Close(), os.Remove(u.file.Name()) }

// run sends the parts that the server lacks.
func (u *upload) run(ctx context.Context) error {
	at, err := u.ask(ctx, nil, 0)
	for tries := 0; err == nil && at < u.size; {
		if at > 0 {
			u.side.host.Progress("sent", at)
		}
		var next int64
		next, err = u.ask(ctx, io.NewSectionReader(u.file, at, min(uploadPart, u.size-at)), at)
		switch {
		case err == nil && next > at:
			at, tries = next, 0
			continue
		case err != nil && !unreachable(err) && !busy(err), ctx.Err() != nil:
			return err
		}
		if tries++; tries == uploadTries {
			return err
		}
		if err = u.side.host.Pause(ctx, time.Duration(tries)*500*time.Millisecond); err == nil {
			var there int64
			if there, err = u.ask(ctx, nil, 0); err != nil {
				err = nil // the next request resumes it or reports the error
			} else if there <= u.size {
				at = there
			}
		}
	}
	if err == nil && at > u.size {
		err = fmt.Errorf("%w: the server has more of the pack than there is", remote.ErrTooLarge)
	}
	return err
}

// unreachable reports whether a connection could not be made, or broke before an answer.
func unreachable(err error) bool {
	lost, ok := errors.AsType[*lostError](err)
	return ok && !lost.began
}

func busy(err error) bool {
	var told *operation.Error
	return errors.As(err, &told) && told.Outcome == operation.Busy
}

// ask sends a part, nil for none, and returns how many bytes the server then has.
func (u *upload) ask(ctx context.Context, part *io.SectionReader, at int64) (int64, error) {
	query := url.Values{}
	var body io.Reader = http.NoBody
	size := int64(0)
	if part != nil {
		query.Set("offset", strconv.FormatInt(at, 10))
		body, size = &sending{part, u.side.host.Progress, at}, part.Size()
	}
	req, err := u.side.Request(ctx, "uploads/"+u.id, query, body, size, operation.MediaCAR)
	if err != nil {
		return 0, err
	}
	if part == nil {
		req.Method = http.MethodGet
	}
	var there struct{ Bytes int64 }
	err = u.side.do(req, func(_ *http.Response, in io.Reader) error { return decode(in, &there) })
	if told, ok := errors.AsType[*operation.Error](err); ok && part != nil && told.Outcome == operation.Conflict {
		return u.ask(ctx, nil, 0) // another attempt got further
	}
	if err == nil && there.Bytes < 0 {
		err = remote.ErrTooLarge
	}
	return there.Bytes, err
}

// sending reports how many bytes were read.
type sending struct {
	from io.Reader
	tell func(what string, bytes int64)
	n    int64
}

func (c *sending) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	c.tell("sent", c.n)
	return n, err
}

// takeUpload sends a large pack in parts, and returns the request that imports it.
func (s *Side) takeUpload(ctx context.Context, query url.Values, pack *io.SectionReader) (*http.Request, error) {
	u, err := s.startUpload(pack)
	if err != nil {
		return nil, err
	}
	defer u.end()
	if err := u.run(ctx); err != nil {
		return nil, err
	}
	req, err := s.Request(ctx, transfer.PackTake.Name(), query, nil, 0, operation.MediaCAR)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Mnem-Upload", u.id)
	req.Header.Set("Content-Encoding", "zstd")
	return req, nil
}
