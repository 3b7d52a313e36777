package sharing_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

const (
	poll     = 200 * time.Millisecond
	patience = 2 * time.Minute // far beyond what it takes on a busy machine
)

// offAndOn is a laptop that syncs automatically with a desk, whose server runs half of the time.
type offAndOn struct {
	*testing.T
	dir, addr string
	server    *exec.Cmd // nil while the desk is offline
	said      map[string][]string
	env       []string // of each process
}

func (w *offAndOn) child(machine string, args ...string) *exec.Cmd {
	cmd := program.Child(w.T, filepath.Join(w.dir, machine), program.AsProgram, args...)
	cmd.Stderr, cmd.Env = nil, append(cmd.Env, w.env...)
	return cmd
}

// ok runs a command as a process of its own, since only such a process may leave one behind.
func (w *offAndOn) ok(machine string, args ...string) string {
	w.Helper()
	var errs bytes.Buffer
	cmd := w.child(machine, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	must.OK(w, err, machine, ": mnem ", args, ": ", out, ": ", &errs)
	return string(out)
}

// online starts the desk's server at the same address as before.
func (w *offAndOn) online() {
	w.Helper()
	w.server = w.child("desk", "serve", "--addr", w.addr, "--json")
	out, err := w.server.StdoutPipe()
	if err == nil {
		err = w.server.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	must.OK(w, err)
}

func (w *offAndOn) offline() {
	if w.server != nil {
		_ = w.server.Process.Kill() // as a power cut
		_ = w.server.Wait()
		w.server = nil
	}
}

// write remembers something new on a machine.
func (w *offAndOn) write(machine string) {
	w.Helper()
	text := fmt.Sprintf("The %s counted %d ships at dawn", machine, 1000+len(w.said[machine]))
	w.ok(machine, "remember", text, "--quiet")
	w.said[machine] = append(w.said[machine], text)
}

// until waits until a machine's answer has a text.
func (w *offAndOn) until(what, machine string, args ...string) string {
	w.Helper()
	out := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(poll) {
		if out = w.ok(machine, args...); strings.Contains(out, what) {
			return out
		}
	}
	w.Fatalf("%s: mnem %q never had %q:\n%s%s", machine, args, what, out, w.ok("laptop", "status"))
	return ""
}

// edit says something else in a memory that both machines have.
func (w *offAndOn) edit(machine, summary string) {
	w.Helper()
	cmd := w.child(machine, "commit", "-m", "edit", "-")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"node":{"key":"cy","type":"fact","summary":%q}}`, summary))
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%s: %v\n%s", machine, err, out)
	}
}

func (w *offAndOn) head(machine string) string {
	w.Helper()
	var st struct{ Head string }
	must.OK(w, json.Unmarshal([]byte(w.ok(machine, "status", "--json")), &st))
	return st.Head
}

// equal waits until both machines have the same commit.
func (w *offAndOn) equal() {
	w.Helper()
	for end := time.Now().Add(patience); w.head("desk") != w.head("laptop"); time.Sleep(poll) {
		if time.Now().After(end) {
			w.Fatalf("they never became equal:\n%s%s", w.ok("desk", "status"), w.ok("laptop", "status"))
		}
	}
}

// ended waits until the background process of a machine has ended, after which it writes no file.
func (w *offAndOn) ended(machine string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	unlock, err := filestate.Lock(ctx, filepath.Join(w.dir, machine, ".mnem", "autosync"))
	must.OK(w, err, "the background process of ", machine, " goes on")
	must.OK(w, unlock())
}

// TestAutoSync writes on both machines while the desk is offline half of the time. Both must end with every
// acknowledged write, and a conflict must wait for a decision.
func TestAutoSync(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := &offAndOn{T: t, dir: t.TempDir(), addr: program.FreeAddr(t), said: make(map[string][]string)}
	program.Ran(t, program.In(w.dir, nil, nil), "init", "desk")
	w.online()
	defer w.offline()
	program.Ran(t, program.In(w.dir, nil, nil), "clone", "http://"+w.addr, "laptop")
	w.ok("laptop", "sync", "--auto", "on")
	defer w.ended("laptop")
	w.edit("laptop", "Cy is on call")
	rounds := effort.Pick(1, 8, 60)
	for range rounds {
		w.write("laptop") // what is written last before the desk is gone is synced once it is back
		w.until(": synced ", "laptop", "status")
		w.offline()
		w.write("desk")
		w.write("laptop")
		w.until("; failed ", "laptop", "status")
		w.online()
		w.write("desk")
		w.write("laptop")
		w.equal()
	}
	w.complete()
	must.Contain(t, w.ok("laptop", "doctor"), "origin was last synced at ")
	w.decide()
	w.alone()
}

// complete sees to it that both machines have every acknowledged write.
func (w *offAndOn) complete() {
	w.Helper()
	for _, machine := range []string{"desk", "laptop"} {
		listed := w.ok(machine, "ls", "--limit", "0")
		for _, text := range slices.Concat(w.said["desk"], w.said["laptop"]) {
			must.Contain(w, listed, text, machine, " lacks")
		}
	}
}

// TestAutoSyncEncrypted is TestAutoSync by an encrypted directory that the laptop reaches half of the time. Each machine has
// an identity of its own, which only the command that turned automatic syncs on was given.
func TestAutoSyncEncrypted(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := &offAndOn{T: t, dir: t.TempDir(), said: make(map[string][]string)}
	store, mounted := filepath.Join(w.dir, "store"), filepath.Join(w.dir, "mounted")
	online := func(is bool) {
		err := os.Remove(mounted)
		if is {
			err = os.Symlink(store, mounted)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	w.env = []string{"HOME=" + w.dir} // without keys of ssh
	var readers []string
	with := make(map[string]string)
	for _, machine := range []string{"desk", "laptop"} {
		id := must.Get(age.GenerateX25519Identity())(t)
		file := filepath.Join(w.dir, machine+".identity")
		must.OK(t, os.WriteFile(file, []byte(id.String()+"\n"), 0o600))
		readers, with[machine] = append(readers, "--encrypt", id.Recipient().String()), "MNEM_IDENTITY="+file
	}
	program.Ran(t, program.In(w.dir, nil, nil), "init", "desk")
	online(true)
	w.ok("desk", append([]string{"remote", "add", "origin", store}, readers...)...)
	w.refuses("without a passphrase", "desk", "sync", "--auto", "on") // this machine has no identity
	w.env = append(w.env, with["desk"])
	w.ok("desk", "sync", "--auto", "1s")
	defer w.ended("desk")
	w.edit("desk", "Cy is on call")
	w.until(": synced ", "desk", "status")
	w.env[1] = with["laptop"]
	must.OK(t, os.Mkdir(filepath.Join(w.dir, "laptop"), 0o700))
	w.ok("laptop", "clone", mounted, ".")
	w.ok("laptop", "sync", "--auto", "1s")
	defer w.ended("laptop")
	w.env = w.env[:1]
	var holders []*exec.Cmd
	for _, machine := range []string{"desk", "laptop"} {
		holder, _ := program.Hold(t, filepath.Join(w.dir, machine))
		holders = append(holders, holder)
	}
	defer func() {
		for _, holder := range holders {
			_ = holder.Process.Kill()
			_ = holder.Wait()
		}
	}()
	for range effort.Pick(1, 3, 60) {
		w.write("laptop")
		w.until(": synced ", "laptop", "status")
		online(false)
		w.write("desk")
		w.write("laptop")
		w.until("; failed ", "laptop", "status")
		w.until("was not before", "laptop", "doctor")
		online(true)
		w.write("desk")
		w.write("laptop")
		w.equal()
	}
	w.complete()
	// The desk removes a reader and adds it again. The laptop finds another key twice, and opens it by its identity.
	w.ok("desk", "remote", "readers", "origin", "--remove", readers[3])
	w.write("desk")
	w.until("; failed ", "laptop", "status")
	w.until("none of your identities", "laptop", "doctor")
	w.ok("desk", "remote", "readers", "origin", "--encrypt", readers[3])
	w.equal()
	w.complete()
	must.Contain(t, w.ok("laptop", "doctor"), "origin was last synced at ")
	for _, machine := range []string{"desk", "laptop"} {
		w.ok(machine, "sync", "--auto", "off")
	}
}

// refuses runs a command line that must fail and say something.
func (w *offAndOn) refuses(says, machine string, args ...string) {
	w.Helper()
	var errs bytes.Buffer
	cmd := w.child(machine, args...)
	cmd.Stderr = &errs
	if err := cmd.Run(); err == nil || !strings.Contains(errs.String(), says) {
		w.Errorf("%s: mnem %q: %v: %s", machine, args, err, &errs)
	}
}

// decide edits one memory on both machines. The laptop's review lists the pair, and the command that it prints ends it.
func (w *offAndOn) decide() {
	w.edit("desk", "Cy is on call until Friday")
	w.edit("laptop", "Cy is on call until Monday")
	w.until("(conflict)", "laptop", "status")
	var seen struct {
		Undecided []struct {
			Later, Earlier struct{ Text string }
			Settle         string
		}
	}
	must.OK(w, json.Unmarshal([]byte(w.ok("laptop", "review", "--json")), &seen))
	pair := slices.IndexFunc(seen.Undecided, func(p struct {
		Later, Earlier struct{ Text string }
		Settle         string
	}) bool {
		return strings.HasSuffix(p.Later.Text, "Friday") && strings.HasSuffix(p.Earlier.Text, "Monday")
	})
	must.Require(w, pair >= 0, "no pair to decide: %+v", seen)
	w.ok("laptop", strings.Fields(seen.Undecided[pair].Settle)[1:]...)
	w.until("until Friday", "laptop", "show", "cy")
	w.equal()
}

// alone has a server on the laptop fetch what only the desk writes, and checks that nothing is synced once it is off.
func (w *offAndOn) alone() {
	w.ok("laptop", "sync", "--auto", "1s")
	holder, _ := program.Hold(w.T, filepath.Join(w.dir, "laptop"))
	w.write("desk")
	w.equal()
	must.Contain(w, w.ok("laptop", "sync", "--auto", "off"), "only by")
	_ = holder.Process.Kill()
	_ = holder.Wait()
	w.ended("laptop")
	before := w.head("desk")
	w.write("laptop")
	w.ended("laptop") // no process was started, or none that syncs
	if out := w.ok("laptop", "status"); strings.Contains(out, "synced") || w.head("desk") != before {
		w.Errorf("it is off, and yet:\n%s", out)
	}
}
