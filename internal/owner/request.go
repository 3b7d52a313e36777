package owner

import (
	"encoding/binary"
	"fmt"
)

// Request is a command line and the circumstances it is given in. Strings are any bytes.
type Request struct {
	Args   []string
	Env    [][2]string // names and values of variables
	Dir    string      // working directory
	User   string      // name of the system's user
	Config string      // directory of the user's configurations
	Data   string      // directory of the user's data
	Home   string      // the user's own directory
	// Executable is the path of the program, "" where nobody knows.
	Executable string
	// Remote is whether the command line comes from a caller of a server.
	Remote bool
	PID    int
	// OutTTY and ErrTTY tell whether results and messages go to a terminal.
	OutTTY, ErrTTY bool
}

const (
	maxArgs = 1 << 16 // arguments, and variables likewise
	flagOut = 1
	flagErr = 2
	// flagRemote is set for callers of servers.
	flagRemote = 4
)

// encode returns the payload of a request: strings as their length and bytes, lists with their
// number before, numbers as varints.
func (r *Request) encode() ([]byte, error) {
	var out []byte
	text := func(s string) {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	var flags byte
	if r.OutTTY {
		flags |= flagOut
	}
	if r.ErrTTY {
		flags |= flagErr
	}
	if r.Remote {
		flags |= flagRemote
	}
	out = append(out, flags)
	out = binary.AppendUvarint(out, uint64(uint32(r.PID)))
	for _, s := range []string{r.Dir, r.User, r.Config, r.Data, r.Home, r.Executable} {
		text(s)
	}
	out = binary.AppendUvarint(out, uint64(len(r.Args)))
	for _, s := range r.Args {
		text(s)
	}
	out = binary.AppendUvarint(out, uint64(len(r.Env)))
	for _, v := range r.Env {
		text(v[0])
		text(v[1])
	}
	if len(out) > maxRequest || len(r.Args) > maxArgs || len(r.Env) > maxArgs {
		return nil, fmt.Errorf("a command line of %d bytes is more than the %d that can be handed on",
			len(out), maxRequest)
	}
	return out, nil
}

// decoder reads the payload of a request; after an error it returns zeros.
type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) number(limit uint64) uint64 {
	n, size := binary.Uvarint(d.data)
	if size <= 0 || n > limit {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[size:]
	return n
}

func (d *decoder) text() string {
	n := d.number(uint64(len(d.data)))
	if n > uint64(len(d.data)) {
		d.bad, d.data = true, nil
		return ""
	}
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}

// count reads the length of a list, whose members have at least one byte each.
func (d *decoder) count() int { return int(d.number(uint64(min(maxArgs, len(d.data))))) }

func decodeRequest(data []byte) (*Request, error) {
	d := &decoder{data: data}
	flags := d.number(flagOut | flagErr | flagRemote)
	r := &Request{
		OutTTY: flags&flagOut != 0, ErrTTY: flags&flagErr != 0, Remote: flags&flagRemote != 0,
	}
	r.PID = int(d.number(1<<32 - 1))
	for _, to := range []*string{&r.Dir, &r.User, &r.Config, &r.Data, &r.Home, &r.Executable} {
		*to = d.text()
	}
	for range d.count() {
		r.Args = append(r.Args, d.text())
	}
	for range d.count() {
		r.Env = append(r.Env, [2]string{d.text(), d.text()})
	}
	if d.bad || len(d.data) > 0 {
		return nil, fmt.Errorf("%w: a request that cannot be read", ErrProtocol)
	}
	return r, nil
}
