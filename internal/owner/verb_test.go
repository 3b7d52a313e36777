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
)

// TestVerbGoesThere has a verb read two inputs, tell something, and answer, for another build.
func TestVerbGoesThere(t *testing.T) {
	long := strings.Repeat("0123456789", 50_000)
	h := host(t, func(_ context.Context, v *Verb) VerbResult {
		_, _ = v.Answers.Write(v.Request)
		for i := range 2 {
			in, err := io.ReadAll(v.Input(i))
			if err != nil {
				return VerbResult{Data: []byte(err.Error()), Failed: true}
			}
			_, _ = v.Answers.Write(in)
			_ = v.Tell(fmt.Appendf(nil, "read %d", i))
		}
		return VerbResult{Data: []byte("done")}
	})
	var told []string
	var out bytes.Buffer
	client, err := Dial(h.Socket(), h.holding.root.Name(), Build{Name: "v2"}, 7, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if as, pid := client.Owner(); as.Name != "v1" || pid != 7 {
		t.Errorf("%+v, %d", as, pid)
	}
	result, err := client.Ask(t.Context(), []byte("request "), Asker{
		Input: func(n int) (io.Reader, error) {
			return strings.NewReader([]string{long, "second"}[n]), nil
		},
		Flush: func() {},
		Tell:  func(data []byte) { told = append(told, string(data)) },
	}, readAll(&out))
	if err != nil || string(result) != "done" {
		t.Errorf("%q, %v", result, err)
	}
	if out.String() != "request "+long+"second" || strings.Join(told, ",") != "read 0,read 1" {
		t.Errorf("%d bytes, told %q", out.Len(), told)
	}
}

// TestVerbErrors has an input that cannot be opened, and a printer that fails.
func TestVerbErrors(t *testing.T) {
	h := host(t, func(ctx context.Context, v *Verb) VerbResult {
		if string(v.Request) == "input" {
			_, err := io.ReadAll(v.Input(3))
			return VerbResult{Data: []byte(err.Error())}
		}
		for ctx.Err() == nil {
			if _, err := v.Answers.Write([]byte("x")); err != nil {
				return VerbResult{Data: []byte(err.Error()), Failed: true}
			}
		}
		return VerbResult{}
	})
	by := silent
	by.Input = func(n int) (io.Reader, error) { return nil, fmt.Errorf("no input %d", n) }
	var out bytes.Buffer
	if result, err := dialed(t, h).Ask(t.Context(), []byte("input"), by, readAll(&out)); err != nil ||
		string(result) != "no input 3" {
		t.Errorf("%q, %v", result, err)
	}
	full := errors.New("disk full")
	result, err := dialed(t, h).Ask(t.Context(), []byte("print"), by, func(r io.Reader) error {
		_, _ = r.Read(make([]byte, 1))
		return full
	})
	if !errors.Is(err, full) || string(result) != "disk full" {
		t.Errorf("%q, %v", result, err)
	}
}

// TestVerbLost says what is known of a verb whose owner ends, or has the repository no more.
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
			_, err := io.Copy(io.Discard, r)
			return err
		})
		var lost *LostError
		if !errors.As(err, &lost) || lost.Clean != tt.clean || lost.Writes != tt.writes {
			t.Errorf("%s: %+v", tt.name, err)
		}
	}
	h := host(t, func(context.Context, *Verb) VerbResult { return VerbResult{} })
	if _, err := dialed(t, h).Ask(t.Context(), make([]byte, maxRequest+1), silent, nil); err == nil {
		t.Error("a request that is too long is sent")
	}
}

// TestVerbInterrupted has the caller's context end while the verb waits for its input.
func TestVerbInterrupted(t *testing.T) {
	h := host(t, func(ctx context.Context, v *Verb) VerbResult {
		_, err := io.ReadAll(v.Input(0))
		return VerbResult{Data: fmt.Appendf(nil, "%t, %v", errors.Is(err, context.Canceled), ctx.Err()), Failed: true}
	})
	ctx, cancel := context.WithCancel(t.Context())
	by := silent
	by.Input = func(int) (io.Reader, error) {
		return readerFunc(func([]byte) (int, error) { cancel(); <-t.Context().Done(); return 0, io.EOF }), nil
	}
	var out bytes.Buffer
	result, err := dialed(t, h).Ask(ctx, nil, by, readAll(&out))
	if err != nil || string(result) != "true, context canceled" {
		t.Errorf("%q, %v", result, err)
	}
}

// TestVerbCallerGone takes the caller away from a verb that runs.
func TestVerbCallerGone(t *testing.T) {
	begun, ended := make(chan bool), make(chan error, 1)
	h := host(t, func(ctx context.Context, _ *Verb) VerbResult {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return VerbResult{Failed: true}
	})
	client := dialed(t, h)
	go func() { <-begun; _ = client.Close() }()
	_, err := client.Ask(t.Context(), nil, silent, readAll(new(bytes.Buffer)))
	var lost *LostError
	if !errors.As(err, &lost) || <-ended == nil {
		t.Errorf("%v", err)
	}
}

// TestVerbBrokenOff has the owner end while a verb runs that does not.
func TestVerbBrokenOff(t *testing.T) {
	begun := make(chan bool)
	h, err := NewHost(t.TempDir(), shortTemp(t), v1, func(ctx context.Context, _ *Verb) VerbResult {
		close(begun)
		<-ctx.Done()
		return VerbResult{Failed: true}
	})
	if err != nil {
		t.Fatal(err)
	}
	client := dialed(t, h)
	closed := make(chan error)
	go func() { <-begun; closed <- h.Close(time.Millisecond) }()
	_, err = client.Ask(t.Context(), nil, silent, readAll(new(bytes.Buffer)))
	var lost *LostError
	if !errors.As(err, &lost) || !lost.Clean {
		t.Errorf("%+v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(h.Socket()); err == nil {
		t.Error("the socket is still there")
	}
}

// TestInputFails looks that an input is read when it is wanted alone, and that why it cannot be read goes there.
func TestInputFails(t *testing.T) {
	reads := 0
	by := silent
	by.Input = func(int) (io.Reader, error) {
		return readerFunc(func([]byte) (int, error) { reads++; return 0, errors.New("no such luck") }), nil
	}
	for _, wanted := range []int{0, 1} {
		h := host(t, func(_ context.Context, v *Verb) VerbResult {
			if wanted == 0 {
				return VerbResult{}
			}
			_, err := io.ReadAll(v.Input(0))
			return VerbResult{Data: []byte(err.Error())}
		})
		result, err := dialed(t, h).Ask(t.Context(), nil, by, readAll(new(bytes.Buffer)))
		if reads != wanted || err != nil || wanted == 1 && string(result) != "no such luck" {
			t.Errorf("%d reads, %q, %v", reads, result, err)
		}
	}
}

// TestInputOpensInTime has an owner end while the caller opens an input: the caller cannot use its opener after Ask.
func TestInputOpensInTime(t *testing.T) {
	begun, opened := make(chan bool), false
	by := silent
	by.Input = func(int) (io.Reader, error) {
		close(begun)
		time.Sleep(20 * time.Millisecond)
		opened = true
		return strings.NewReader("x"), nil
	}
	h := host(t, func(_ context.Context, v *Verb) VerbResult {
		go func() { _, _ = io.ReadAll(v.Input(0)) }() // the caller is gone
		<-begun
		return VerbResult{Elsewhere: true}
	})
	_, err := dialed(t, h).Ask(t.Context(), nil, by, readAll(new(bytes.Buffer)))
	var lost *LostError
	if !errors.As(err, &lost) || !opened {
		t.Errorf("opened %v, %v", opened, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
