package owner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/base/httpd"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// taking runs a verb when all of its inputs are there.
func taking(run func(ctx context.Context, v *Verb, inputs []string) VerbResult) func(context.Context, *Verb) VerbResult {
	return func(ctx context.Context, v *Verb) VerbResult {
		var inputs []string
		for {
			in, err := v.Input()
			if errors.Is(err, io.EOF) {
				return run(ctx, v, inputs)
			}
			var text []byte
			if err == nil {
				text, err = io.ReadAll(in)
			}
			if err != nil {
				return VerbResult{Data: fmt.Appendf(nil, "%t, %v", errors.Is(err, context.Canceled), ctx.Err()), Failed: true}
			}
			inputs = append(inputs, string(text))
		}
	}
}

// TestVerbGoesThere has a verb of another build read two inputs, send a message, and answer.
func TestVerbGoesThere(t *testing.T) {
	long := strings.Repeat("0123456789", 50_000)
	h := host(t, taking(func(_ context.Context, v *Verb, inputs []string) VerbResult {
		_, _ = v.Answers.Write(v.Request)
		for i, in := range inputs {
			_, _ = v.Answers.Write([]byte(in))
			_ = v.Tell(fmt.Appendf(nil, "read %d", i))
			_, _ = v.File.Write([]byte(in[:3]))
		}
		return VerbResult{Data: []byte("done")}
	}))
	var told []string
	var out, file bytes.Buffer
	client := must.Get(Dial(h.Socket(), h.holding.root.Name(), "v2", 7, 5*time.Second))(t)
	defer func() { _ = client.Close() }()
	if as, pid := client.Owner(); as != (Build{"v1", oldest, Protocol}) || pid != 7 {
		t.Errorf("%+v, %d", as, pid)
	}
	result, err := client.Ask(t.Context(), []byte("request "), Asker{
		Inputs: []io.Reader{strings.NewReader(long), strings.NewReader("second")}, File: &file,
		Tell: func(data []byte) { told = append(told, string(data)) },
	}, readAll(&out))
	must.True(t, err == nil && string(result) == "done" && file.String() == "012sec",
		"%q, %q, %v", result, &file, err)
	must.Equal(t, out.String(), "request "+long+"second", out.Len(), " bytes, told")
	must.Equal(t, strings.Join(told, ","), "read 0,read 1", out.Len(), " bytes, told")
}

// TestVerbErrors has an input that cannot be read, a printer that fails, and a file that cannot be written: the error is
// the caller's own, and the verb is interrupted.
func TestVerbErrors(t *testing.T) {
	full := errors.New("disk full")
	stops := readerFunc(func([]byte) (int, error) { return 0, full })
	takesNone := func(r io.Reader) error {
		_, _ = r.Read(make([]byte, 1))
		return full
	}
	for name, tt := range map[string]struct {
		by   Asker
		read func(io.Reader) error
		runs bool
	}{
		"input":  {Asker{Inputs: []io.Reader{strings.NewReader("x"), stops}, Tell: silent.Tell}, readAll(new(bytes.Buffer)), false},
		"answer": {silent, takesNone, true},
		"file":   {Asker{File: writerFunc(stops), Tell: silent.Tell}, readAll(new(bytes.Buffer)), true},
	} {
		runs, ended := false, make(chan bool, 1)
		h := host(t, func(ctx context.Context, v *Verb) VerbResult {
			defer func() { ended <- ctx.Err() != nil }()
			return taking(func(ctx context.Context, v *Verb, _ []string) VerbResult {
				for runs = true; ctx.Err() == nil; {
					_, _ = v.Answers.Write([]byte("x"))
					if tt.by.File != nil {
						_, _ = v.File.Write([]byte("x"))
					}
				}
				_ = v.Tell([]byte("interrupted"))
				return VerbResult{Failed: true}
			})(ctx, v)
		})
		_, err := dialed(t, h).Ask(t.Context(), nil, tt.by, tt.read)
		must.True(t, errors.Is(err, full) && !errors.As(err, new(*LostError)), "%s: %v", name, err)
		interrupted := <-ended
		must.True(t, interrupted && runs == tt.runs, "%s: interrupted %t, runs %t", name, interrupted, runs)
	}
}

// TestVerbLost checks the report about a verb whose owner ended, or no longer has the repository.
func TestVerbLost(t *testing.T) {
	for _, tt := range []struct {
		name          string
		run           func(*Verb)
		clean, writes bool
	}{
		{"silent", func(v *Verb) { _ = v.Tell([]byte("x")) }, true, false},
		{"answered", func(v *Verb) { _, _ = v.Answers.Write([]byte("x")) }, false, false},
		{"writes", func(v *Verb) { _ = v.Writes() }, false, true},
	} {
		h := host(t, func(_ context.Context, v *Verb) VerbResult { tt.run(v); return VerbResult{Elsewhere: true} })
		_, err := dialed(t, h).Ask(t.Context(), nil, silent, func(r io.Reader) error {
			return must.Err(io.Copy(io.Discard, r))
		})
		var lost *LostError
		must.True(t, errors.As(err, &lost) && lost.Clean == tt.clean && lost.Writes == tt.writes,
			"%s: %+v", tt.name, err)
	}
	h := host(t, func(context.Context, *Verb) VerbResult { return VerbResult{} })
	must.True(t, must.Err(dialed(t, h).Ask(t.Context(), make([]byte, httpd.MaxBody+1), silent, nil)) != nil,
		"a request that is too long is sent")
}

// TestVerbInterrupted has the caller's context end before the verb has its input, and while it runs: the result comes
// back.
func TestVerbInterrupted(t *testing.T) {
	for _, hangs := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		h := host(t, taking(func(ctx context.Context, _ *Verb, _ []string) VerbResult {
			cancel()
			<-ctx.Done()
			return VerbResult{Data: fmt.Appendf(nil, "true, %v", ctx.Err())}
		}))
		by := silent
		if hangs {
			by.Inputs = []io.Reader{readerFunc(func([]byte) (int, error) { cancel(); <-t.Context().Done(); return 0, io.EOF })}
		}
		result := must.Get(dialed(t, h).Ask(ctx, nil, by, readAll(new(bytes.Buffer))))(t)
		must.Equal(t, string(result), "true, context canceled")
	}
}

// TestVerbCallerGone takes the caller away from a verb that runs.
func TestVerbCallerGone(t *testing.T) {
	begun, ended := make(chan bool), make(chan error, 1)
	h := host(t, taking(func(ctx context.Context, _ *Verb, _ []string) VerbResult {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return VerbResult{Failed: true}
	}))
	client := dialed(t, h)
	go func() { <-begun; _ = client.Close() }()
	_, err := client.Ask(t.Context(), nil, silent, readAll(new(bytes.Buffer)))
	var lost *LostError
	must.True(t, errors.As(err, &lost) && <-ended != nil, "%v", err)
}

// TestVerbBrokenOff has the owner end while a verb runs that does not.
func TestVerbBrokenOff(t *testing.T) {
	begun := make(chan bool)
	h := must.Get(NewServer(t.TempDir(), shortTemp(t), "v1", func(ctx context.Context, _ *Verb) VerbResult {
		close(begun)
		<-ctx.Done()
		return VerbResult{Failed: true}
	}))(t)
	client := dialed(t, h)
	closed := make(chan error)
	go func() { <-begun; closed <- h.Close(time.Millisecond) }()
	_, err := client.Ask(t.Context(), nil, silent, readAll(new(bytes.Buffer)))
	var lost *LostError
	must.True(t, errors.As(err, &lost) && lost.Clean, "%+v", err)
	must.OK(t, <-closed)
	must.True(t, must.Err(os.Lstat(h.Socket())) != nil, "the socket is still there")
}

// TestVerbBrokenOffWhileInputsCome has the owner end before all of an input has come.
func TestVerbBrokenOffWhileInputsCome(t *testing.T) {
	h := host(t, taking(func(context.Context, *Verb, []string) VerbResult { return VerbResult{} }))
	by := silent
	closed := make(chan error, 1)
	by.Inputs = []io.Reader{readerFunc(func([]byte) (int, error) {
		go func() { closed <- h.Close(time.Millisecond) }()
		<-t.Context().Done()
		return 0, io.EOF
	})}
	_, err := dialed(t, h).Ask(t.Context(), nil, by, readAll(new(bytes.Buffer)))
	var lost *LostError
	must.True(t, errors.As(err, &lost) && lost.Clean, "%+v", err)
	must.OK(t, <-closed)
}

// TestWait has clients wait for an owner to end, and go before that.
func TestWait(t *testing.T) {
	h := host(t, echo)
	gone, cancel := context.WithCancel(t.Context())
	waited := make(chan error)
	for _, ctx := range []context.Context{gone, t.Context()} {
		client := dialed(t, h)
		go func() { waited <- client.Wait(ctx) }()
	}
	cancel()
	must.Fail(t, <-waited, context.Canceled)
	go func() { _ = h.Close(time.Minute) }()
	must.OK(t, <-waited)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
