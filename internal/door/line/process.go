package line

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const (
	// firstPercent is how much the heap may grow before the first collection, from the 4 MiB that Go
	// starts with: most processes end before that. A question to a new one leaves up to 40 MiB.
	firstPercent = 1600
	// eagerPercent is how much a small heap may grow from then on: with the Go default of 100 a process
	// of 20 ms would spend a good part of them on garbage.
	eagerPercent = 400
	// eagerHeap is how many bytes may be in use with that; with more the default holds. So the heap
	// is at most five times this, or twice what is in use.
	eagerHeap     = 24 << 20
	normalPercent = 100
	// largeHeap is how many bytes may be in use with the default. What has more works for seconds, and
	// more room would be missed by others.
	largeHeap    = 96 << 20
	largePercent = 50
	// lastingRoom is how many bytes the heap of a process that stays may grow beyond what is in use, or
	// half of that if it is more: what a heap once had is slow to go back to others.
	lastingRoom = 16 << 20
)

var heap struct{ tuned, lasting atomic.Bool }

// TuneHeap makes the process of one command collect garbage less often while its heap is small.
// It is for the program, not for tests or servers, and leaves a GOGC of the user's alone.
func TuneHeap(getenv func(string) string) {
	if getenv("GOGC") != "" {
		return
	}
	heap.tuned.Store(true)
	debug.SetGCPercent(firstPercent)
	watchHeap(firstPercent)
}

// LastingHeap is called by a command that stays and answers others: it leaves them more memory.
func LastingHeap() {
	heap.lasting.Store(true)
	if heap.tuned.Load() {
		debug.SetGCPercent(eagerPercent) // until the next collection
	}
}

// watchHeap decides after each collection, by what it left in use, how much the heap may grow before the
// next: each one frees an object, whose finalizer looks.
func watchHeap(percent int) {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		used := uint64(0)
		if live[0].Value.Kind() == metrics.KindUint64 {
			used = live[0].Value.Uint64()
		}
		now := PercentOf(used, heap.lasting.Load())
		if now != percent { // all that runs stops for it
			debug.SetGCPercent(now)
		}
		watchHeap(now)
	})
}

// PercentOf is how much a heap may grow with so many bytes in use, of a process that stays or of another.
func PercentOf(used uint64, lasting bool) int {
	switch {
	case lasting:
		return int(max(largePercent, min(eagerPercent, 100*lastingRoom/max(1, used))))
	case used > largeHeap:
		return largePercent
	case used > eagerHeap:
		return normalPercent
	}
	return eagerPercent
}

// profilingFlags are files that say what the program itself did, for who works on it.
type profilingFlags struct{ cpu, memory, trace string }

// add adds the flags to all commands, hidden: they are about the program, not about memory.
func (p *profilingFlags) add(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&p.cpu, "cpuprofile", "", "write a profile of the time used to `FILE`, for go tool pprof")
	f.StringVar(&p.memory, "memprofile", "", "write a profile of allocations to `FILE`, likewise")
	f.StringVar(&p.trace, "trace", "", "write what ran when to `FILE`, for go tool trace")
	for _, name := range []string{"cpuprofile", "memprofile", "trace"} {
		f.Lookup(name).Hidden = true
	}
}

// profile is a file that is written while a command runs and has its name when it is whole.
type profile struct {
	path string
	file *os.File
	stop func(*os.File) error
}

// start begins what the flags ask for. What it returns ends it and puts the files in place; it is
// called whatever the command came to.
func (p *profilingFlags) start(c *Line) (stop func() error, err error) {
	var open []profile
	stop = func() (err error) {
		for _, o := range open {
			err = errors.Join(err, o.finish())
		}
		return err
	}
	for _, o := range []struct {
		flag, path string
		start      func(*os.File) error
		stop       func(*os.File) error
	}{
		{"cpuprofile", p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) },
			func(*os.File) error { pprof.StopCPUProfile(); return nil }},
		{"trace", p.trace, func(f *os.File) error { return trace.Start(f) },
			func(*os.File) error { trace.Stop(); return nil }},
		{"memprofile", p.memory, func(*os.File) error { return nil }, func(f *os.File) error {
			runtime.GC() // what is in use is known from the last collection
			return pprof.Lookup("allocs").WriteTo(f, 0)
		}},
	} {
		if o.path == "" {
			continue
		}
		path := c.Absolute(o.path)
		f, err := os.Create(fmt.Sprintf("%s.%d.tmp", path, c.App.PID))
		if err == nil {
			if err = o.start(f); err != nil {
				err = errors.Join(err, f.Close(), os.Remove(f.Name()))
			}
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--%s: %w", o.flag, err), stop())
		}
		open = append(open, profile{path, f, o.stop})
	}
	return stop, nil
}

func (o *profile) finish() error {
	err := errors.Join(o.stop(o.file), o.file.Close())
	if err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(o.file.Name()))
	}
	return err
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// hiddenInput returns what asks a terminal for a line without showing it, nil if standard input is none.
func hiddenInput() func(prompt string) ([]byte, error) {
	if !isTerminal(os.Stdin) {
		return nil
	}
	return func(prompt string) ([]byte, error) {
		fmt.Fprint(os.Stderr, prompt)
		line, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(os.Stderr)
		return line, err
	}
}

// systemUser returns the name the system knows its user by, "" if it knows none.
func systemUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(u.Name, ",") // the GECOS field may list more than the name
	if name = strings.TrimSpace(name); name != "" {
		return name
	}
	return u.Username
}

// systemDirs returns the directories of the user's configurations and data, "" if the system names none.
func systemDirs(home string) (config, data string) {
	switch config, _ := os.UserConfigDir(); {
	case runtime.GOOS == "windows":
		return config, os.Getenv("LocalAppData")
	case runtime.GOOS == "darwin":
		return config, config // Application Support is for both
	case home == "":
		return "", ""
	}
	return filepath.Join(home, ".config"), filepath.Join(home, ".local", "share")
}

// terminalKeys returns what waits for one key of the terminal of standard input, nil if that is none.
func terminalKeys() func() (rune, error) {
	if !isTerminal(os.Stdin) {
		return nil
	}
	return func() (r rune, err error) {
		fd := int(os.Stdin.Fd())
		old, err := term.MakeRaw(fd)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, term.Restore(fd, old)) }()
		b := make([]byte, 64) // other keys than letters say several bytes
		n, err := os.Stdin.Read(b)
		if err != nil {
			return 0, err
		}
		r, _ = utf8.DecodeRune(b[:n])
		return r, nil
	}
}

func openFile(ctx context.Context, path string) error {
	var name string
	var args []string
	switch runtime.GOOS {
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	case "darwin":
		name = "open"
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no display")
		}
		name = "xdg-open"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("there is no %s", name)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(args, path)...)
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	go func() { _ = cmd.Wait() }() // the user sees whether a browser came up
	return nil
}

// ofCaller lists variables that say who runs a command, and on what. A background process acts for the user alone.
var ofCaller = []string{
	"MNEM_AUTHOR", "MNEM_AGENT", "MNEM_TASK", "MNEM_REPO", "MNEM_BRANCH", "MNEM_STAGE", "MNEM_SESSION", "SOURCE_DATE_EPOCH",
}

// detach starts this program in the background, with no input and output.
func detach(args ...string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(path, args...) //nolint:gosec // it is this program
	cmd.SysProcAttr = detached()
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(ofCaller, name)
	})
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // a server keeps no record of processes that ended
	return nil
}
