package serve

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// zstdWindow bounds what is kept in memory of what is compressed and decompressed, in bytes.
const zstdWindow = 8 << 20

// encodingZstd is the coding of bodies and answers that are CAR files.
const encodingZstd = "zstd"

// badBody is the error of a body that cannot be decompressed, or becomes too long.
func badBody(what string) error {
	return &operation.Error{Outcome: operation.Invalid, Message: "the body: " + what}
}

// unpacked returns a body as the operation reads it. A compressed one may become as long as one that is not:
// beyond that reading fails.
func unpacked(b *body, encoding string, op *operation.Operation, limit int64) (io.Reader, *problem) {
	switch {
	case encoding == "" || encoding == "identity":
		return b, nil
	case encoding != encodingZstd || op.Body != operation.MediaCAR:
		return nil, newProblem(http.StatusUnsupportedMediaType, codeMedia, "%s: no Content-Encoding but that of CAR "+
			"files, zstd", op.Name)
	}
	return &unpacking{from: b, left: limit}, nil
}

// unpacking decompresses what is read of a body, from the first read on.
type unpacking struct {
	from io.Reader
	z    *zstd.Decoder
	left int64
	err  error
}

func (u *unpacking) Read(p []byte) (int, error) {
	if u.z == nil && u.err == nil {
		u.z, u.err = zstd.NewReader(u.from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	}
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.z.Read(p)
	if u.left -= int64(n); u.left < 0 {
		n, err = 0, badBody("it is longer than the server takes")
	}
	if err != nil {
		if u.err = err; !errors.Is(err, io.EOF) && u.left >= 0 {
			u.err = badBody(err.Error())
		}
		err = u.err
		u.z.Close()
	}
	return n, err
}

// pack compresses the answer if the client takes that.
func (a *answer) pack(h http.Header) {
	h.Add("Vary", "Accept-Encoding")
	for coding := range strings.SplitSeq(a.request.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(coding) != encodingZstd {
			continue
		}
		z, err := zstd.NewWriter(transmitter{a}, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
		if err == nil {
			a.packed = z
			h.Set("Content-Encoding", encodingZstd)
		}
		return
	}
}

// transmitter sends what an answer was compressed to.
type transmitter struct{ a *answer }

func (t transmitter) Write(p []byte) (int, error) {
	if err := t.a.transmit(p, true); err != nil {
		return 0, err
	}
	return len(p), nil
}
