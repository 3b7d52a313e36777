package line

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/cobra"
)

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
	stop = func() error {
		var errs []error
		for _, o := range open {
			errs = append(errs, o.finish())
		}
		return errors.Join(errs...)
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
		{"memprofile", p.memory, func(*os.File) error { return nil }, writeAllocations},
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

// finish ends the file and gives it its name.
func (o *profile) finish() error {
	err := o.stop(o.file)
	if closeErr := o.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(o.file.Name()))
	}
	return err
}

// writeAllocations writes all that was allocated, and what of it is still in use.
func writeAllocations(f *os.File) error {
	runtime.GC() // what is in use is known from the last collection
	return pprof.Lookup("allocs").WriteTo(f, 0)
}
