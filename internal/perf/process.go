package perf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Spent is what a whole process cost.
type Spent struct {
	Nanoseconds int64 `json:"ns"`
	CPU         int64 `json:"cpu"` // nanoseconds of CPU time, user and system
	RSS         int64 `json:"rss"` // the most memory it had resident, in bytes; -1 where not known
	Out         int64 `json:"out"` // bytes of standard output
}

// maxMessage bounds what an error repeats of a process's error stream.
const maxMessage = 4 << 10

// Watch runs a program and returns what it cost. It is called in a process of its own, a small one:
// on Linux the peak memory of a process counts that of the one which started it. The error carries
// what the program said.
func Watch(ctx context.Context, args []string) (Spent, error) {
	if len(args) == 0 {
		return Spent{}, errors.New("watch: no program")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out countWriter
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	start := time.Now()
	err := cmd.Run()
	spent := Spent{Nanoseconds: int64(time.Since(start)), RSS: -1, Out: int64(out)}
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		text := said.String()
		return spent, fmt.Errorf("run %s: %w: %s", filepath.Base(args[0]), err,
			strings.TrimSpace(text[:min(len(text), maxMessage)]))
	}
	spent.CPU = cpuOf(cmd.ProcessState)
	if n, ok := peakRSS(cmd.ProcessState); ok {
		spent.RSS = n
	}
	return spent, nil
}

// cpuOf is the CPU time of a process that has ended, in nanoseconds.
func cpuOf(p *os.ProcessState) int64 { return int64(p.UserTime() + p.SystemTime()) }

type countWriter int64

func (c *countWriter) Write(b []byte) (int, error) {
	*c += countWriter(len(b))
	return len(b), nil
}

// WatchCommand is the hidden command of the program that calls Watch with its arguments and prints
// the answer as JSON; OpenCommand the one that calls ReadOne.
const (
	WatchCommand = "watch"
	OpenCommand  = "open"
)

// processes starts programs in an environment in which no setting of the user's counts.
type processes struct {
	program  string // this one, which watches others
	measured string // mnem
	env      []string
}

func newProcesses(program, mnem, dir string) *processes {
	p := &processes{program: program, measured: mnem}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MNEM_") && !strings.HasPrefix(v, "XDG_CONFIG_HOME=") {
			p.env = append(p.env, v)
		}
	}
	none := filepath.Join(dir, "no-config")
	p.env = append(p.env, "XDG_CONFIG_HOME="+none, "MNEM_AUTHOR=bench")
	return p
}

// mnem runs the program that is measured.
func (p *processes) mnem(ctx context.Context, args ...string) (Spent, error) {
	return p.run(ctx, append([]string{p.measured}, args...)...)
}

// self runs this program.
func (p *processes) self(ctx context.Context, args ...string) (Spent, error) {
	return p.run(ctx, append([]string{p.program}, args...)...)
}

// run runs a program.
func (p *processes) run(ctx context.Context, args ...string) (spent Spent, err error) {
	cmd := exec.CommandContext(ctx, p.program,
		append([]string{WatchCommand, "--"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it has a child to end
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = p.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return spent, ctx.Err()
	}
	if err != nil {
		text := said.String()
		return spent, fmt.Errorf("%w: %s", err, strings.TrimSpace(text[:min(len(text), maxMessage)]))
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&spent); err != nil {
		return spent, fmt.Errorf("read what a process cost: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	return spent, nil
}
