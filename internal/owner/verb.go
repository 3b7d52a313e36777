package owner

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// Verb is a verb that another process asks for. What its methods send and return is JSON, which this
// package does not read. They are for one goroutine at a time.
type Verb struct {
	s       *session
	Request []byte
	// Answers takes what the verb answers, File what it writes to the file that the other process has for it.
	Answers, File io.Writer
	// Writes must be called before the verb may write. After an error it must not: then the other
	// process would not know.
	Writes func() error
}

// VerbResult is how a verb ended. Elsewhere says that this process does not have, any more, what was asked
// for: the other one looks for the owner again.
type VerbResult struct {
	Data      []byte // ≤ 128 MiB
	Failed    bool
	Elsewhere bool
}

// MaxTold is how many bytes Tell takes.
const MaxTold = maxData

// Input reads an input of the other process. One is read to its end before another is begun.
func (v *Verb) Input(number int) io.Reader {
	select {
	case <-v.s.input: // the end of the one before, which can be read again and again
	default:
	}
	return inputReader{v.s, binary.BigEndian.AppendUint16(nil, uint16(number))}
}

type inputReader struct {
	s    *session
	need []byte
}

func (r inputReader) Read(p []byte) (int, error) { return r.s.read(p, r.need) }

// Tell says something on the side, of at most 64 KiB.
func (v *Verb) Tell(data []byte) error { return v.s.out.send(kindTell, data) }

// Asker is what a process that asks for a verb does meanwhile.
type Asker struct {
	// Input opens an input when the owner wants to read it.
	Input func(number int) (io.Reader, error)
	// Flush is called before an input is read: what was answered to it is to be written first.
	Flush func()
	// File takes what the verb writes to a file.
	File io.Writer
	// Tell receives the owner's messages for standard error.
	Tell func(data []byte)
}

// Ask has the owner run a verb, has read read what it answers, and returns its result when it ends; the
// end of ctx interrupts it. A *LostError says that the owner ended first; another error is that of read.
// The client is used up.
func (c *Client) Ask(
	ctx context.Context, request []byte, by Asker, read func(io.Reader) error,
) ([]byte, error) {
	if len(request) > maxRequest {
		return nil, fmt.Errorf("a request of %d bytes is more than the %d that another process takes",
			len(request), maxRequest)
	}
	defer c.interrupts(ctx)()
	r := &asking{Client: c, clean: true, by: by, inputs: map[int]io.Reader{}, buf: make([]byte, 0, maxData)}
	if err := c.out.send(kindVerb, request); err != nil {
		return nil, r.lost(err)
	}
	if r.printErr = read(r); r.printErr != nil && r.ended == nil {
		r.noPrint(r.printErr)
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	return r.result, cmp.Or(r.printErr, r.fileErr)
}

// asking is a verb that runs at the owner.
type asking struct {
	*Client
	by       Asker
	clean    bool // whether nothing was answered
	writes   bool // whether the owner may have written
	inputs   map[int]io.Reader
	reading  sync.Mutex // held while an input is read
	buf      []byte
	rest     []byte // of the answers, not yet read
	result   []byte
	ended    error // io.EOF once the result is there, or why none comes
	printErr error
	fileErr  error // of writing the file
}

func (r *asking) lost(err error) error {
	return &LostError{Clean: r.clean && !r.writes, Writes: r.writes, Err: err}
}

// Read reads what the verb answers, and does what the owner says meanwhile.
func (r *asking) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.ended != nil {
			return 0, r.ended
		}
		k, data, err := readFrame(r.conn, r.buf)
		if err == nil {
			err = r.follow(k, data)
		}
		if err != nil && r.ended == nil {
			r.ended = r.lost(err)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *asking) follow(k kind, data []byte) error {
	switch k {
	case kindOutput:
		r.clean, r.rest = false, data
	case kindFile:
		if r.by.File == nil {
			return ErrProtocol
		}
		if r.fileErr != nil {
			return nil
		}
		if _, r.fileErr = r.by.File.Write(data); r.fileErr != nil {
			r.noPrint(r.fileErr)
		}
	case kindTell:
		r.by.Tell(data)
	case kindNeed:
		if len(data) != indexLen {
			return ErrProtocol
		}
		r.by.Flush()
		go r.read(r.input(int(binary.BigEndian.Uint16(data))))
	case kindWrites:
		r.writes = true
	case kindGone:
		return errors.New("it was told to end")
	case kindResult:
		r.result, r.ended = append([]byte{}, data...), io.EOF
	default:
		return ErrProtocol
	}
	return nil
}

// input returns an input, which is opened while the verb is still asked for: reading it may outlive that.
func (r *asking) input(number int) io.Reader {
	from, known := r.inputs[number]
	if !known {
		var err error
		if from, err = r.by.Input(number); err != nil {
			from = failing{err}
		}
		r.inputs[number] = from
	}
	return from
}

// failing is what cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// read sends the next piece of an input. Where that takes as long as a person does, it outlives the verb,
// and ends with the process.
func (r *asking) read(from io.Reader) {
	r.reading.Lock()
	defer r.reading.Unlock()
	buf := make([]byte, maxData)
	for {
		n, err := from.Read(buf)
		switch {
		case n > 0:
			_ = r.out.send(kindInput, buf[:n]) // an owner that has ended wants none
		case errors.Is(err, io.EOF):
			_ = r.out.send(kindInput, nil)
		case err != nil:
			_ = r.out.send(kindNoInput, message(err))
		default:
			continue
		}
		return
	}
}

// noPrint tells the owner that nothing can be printed any more.
func (r *asking) noPrint(err error) {
	var text []byte
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, io.ErrClosedPipe) {
		text = message(err)
	}
	_ = r.out.send(kindNoPrint, text) // if it cannot be said, the owner has ended
}
