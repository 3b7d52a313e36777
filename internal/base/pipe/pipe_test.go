package pipe

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func nothing() error { return nil }

// long is longer than any test waits.
const long = time.Hour

// TestBothWays checks that data passes unchanged in both directions, and that the end of the stream arrives.
func TestBothWays(t *testing.T) {
	var out bytes.Buffer
	ended := 0
	c := New(strings.NewReader("what came"), &out, long, func() error { ended++; return io.ErrNoProgress })
	got := must.Get(io.ReadAll(c))(t)
	must.Equal(t, string(got), "what came")
	<-c.Gone()
	want := strings.Repeat("what goes ", 100_000)
	must.Equal(t, must.Get(io.WriteString(c, want))(t), len(want))
	for range 2 {
		must.Fail(t, c.Close(), io.ErrNoProgress)
	}
	must.Equal(t, out.String(), want, out.Len(), " bytes written, ended")
	must.Equal(t, ended, 1, out.Len(), " bytes written, ended")
	must.True(t, must.Err(c.Write([]byte("x"))) != nil, "a closed connection took something")
	must.Equal(t, c.LocalAddr().String(), "pipe")
	must.Equal(t, c.RemoteAddr().Network(), "pipe")
}

// TestSilence uses silent streams: a deadline ends reading and writing, and closing ends everything.
func TestSilence(t *testing.T) {
	in, keep, err := os.Pipe()
	must.OK(t, err)
	unread, out, err := os.Pipe()
	must.OK(t, err)
	c := New(in, out, time.Nanosecond, func() error { return errors.Join(in.Close(), out.Close()) })
	must.OK(t, c.SetDeadline(time.Now().Add(time.Millisecond)))
	_, err = c.Read(make([]byte, 1))
	must.Fail(t, err, os.ErrDeadlineExceeded)
	_, err = c.Write(make([]byte, 1<<20))
	must.Fail(t, err, os.ErrDeadlineExceeded)
	must.OK(t, errors.Join(c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{})))
	read := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- err
	}()
	must.OK(t, c.Close())
	if err := <-read; err == nil {
		t.Error("a closed connection had something to read")
	}
	_, _ = keep.Close(), unread.Close() // no one reads
}

// TestOutputEnds has the other end stop reading: writing reports it.
func TestOutputEnds(t *testing.T) {
	in, to, err := os.Pipe()
	must.OK(t, err)
	from, out := io.Pipe()
	c := New(in, out, long, nothing)
	_ = from.Close() // in memory
	for err == nil {
		_, err = c.Write([]byte("x"))
	}
	select {
	case <-c.Gone():
		t.Error("what ends is the output alone")
	default:
	}
	must.OK(t, errors.Join(c.Close(), to.Close()))
	<-c.Gone()
}
