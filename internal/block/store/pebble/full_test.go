package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// othersBytes is the size of a foreign file that is on a small disk at first.
const othersBytes = 20 << 20

// smallPlace is a store on a small disk.
type smallPlace struct {
	dir  string
	opts Options
	free func() int64
	give func() // removes the foreign file of othersBytes
}

func (p *smallPlace) open(t *testing.T, create bool) *Store {
	t.Helper()
	opts := p.opts
	opts.Create = create
	return must.Get(Open(p.dir, opts))(t)
}

// reserve returns the size of the reserve.
func (p *smallPlace) reserve() int64 {
	fs := p.opts.FS
	if fs == nil {
		fs = vfs.Default
	}
	info, err := fs.Stat(fs.PathJoin(p.dir, reserveName))
	if err != nil {
		return 0
	}
	return info.Size()
}

func quotaPlace(t *testing.T, megabytes int) *smallPlace {
	q := testkit.NewQuotaFS(vfs.NewMem(), int64(megabytes)<<20-othersBytes)
	return &smallPlace{
		dir: "/repo/.mnem", opts: Options{FS: q, Logf: t.Logf},
		free: q.Free, give: func() { q.Grow(othersBytes) },
	}
}

func tmpfsPlace(t *testing.T, megabytes int) *smallPlace {
	return mounted(t, smallDisk(t, fmt.Sprint(megabytes, "m")))
}

// ext4Place mounts a disk image.
func ext4Place(t *testing.T, megabytes int) *smallPlace {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only who administers a Linux machine can mount an image")
	}
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	err := os.WriteFile(image, nil, 0o600)
	if err == nil {
		err = os.Truncate(image, int64(megabytes)<<20)
	}
	must.OK(t, err)
	for _, args := range [][]string{{"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", args[0], err, out)
		}
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		out, err := exec.CommandContext(ctx, "umount", "-l", dir).CombinedOutput()
		must.True(t, err == nil, "umount: %v: %s", err, out)
	})
	return mounted(t, dir)
}

// mounted is a small disk that is mounted at disk.
func mounted(t *testing.T, disk string) *smallPlace {
	t.Helper()
	others := filepath.Join(disk, "others")
	must.OK(t, os.WriteFile(others, make([]byte, othersBytes), 0o600))
	return &smallPlace{
		dir: filepath.Join(disk, ".mnem"), opts: Options{Logf: t.Logf},
		free: func() int64 {
			usage := must.Get(vfs.Default.GetDiskUsage(disk))(t)
			return int64(usage.AvailBytes)
		},
		give: func() { must.OK(t, os.Remove(others)) },
	}
}

// filling is a store being filled by commits, with the acknowledged operations.
type filling struct {
	rng  *rand.Rand
	head store.Head
	have []ipld.CID
}

const fillBlock = 8 << 10

func newFilling() *filling { return &filling{rng: rand.New(rand.NewPCG(7, 7))} }

// commit makes an operation of random blocks.
func (f *filling) commit(s *Store, blocks int) error {
	var add []store.Block
	for range blocks {
		data := make([]byte, fillBlock)
		for i := 0; i < len(data); i += 8 {
			binary.NativeEndian.PutUint64(data[i:], f.rng.Uint64())
		}
		add = append(add, store.NewBlock(ipld.Raw, data))
	}
	next := store.Head{Seq: f.head.Seq + 1, Operation: add[0].CID}
	if err := s.Commit(context.Background(), f.head, next, add...); err != nil {
		return err
	}
	f.head = next
	for _, b := range add {
		f.have = append(f.have, b.CID)
	}
	return nil
}

// fill commits until the store refuses, and once more.
func (f *filling) fill(t *testing.T, s *Store) {
	t.Helper()
	for {
		err := f.commit(s, 1+f.rng.IntN(50))
		if err == nil {
			continue
		}
		var room *store.NoRoomError
		must.Require(t, errors.As(err, &room) && !errors.Is(err, ErrStopped) && room.MustFree() != 0,
			"the first commit that failed: %v", err)
		return
	}
}

// check looks for every acknowledged operation.
func (f *filling) check(t *testing.T, s *Store) {
	t.Helper()
	must.Equal(t, must.Get(s.Head(context.Background()))(t, "head"), f.head, "head")
	for _, c := range f.have {
		must.Get(s.Facts().Get(context.Background(), c))(t)
	}
}

// TestFillDisk fills disks of many sizes. Purges, collections and openings still work, and once space is free
// everything does.
func TestFillDisk(t *testing.T) {
	sizes := []int{40, 44, 50, 56, 64, 70, 76, 82, 90, 100, 110, 120}
	for i, size := range effort.Pick([]int{40, 64}, sizes, sizes) {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("quota %dMB killed=%v", size, killed), func(t *testing.T) {
				fillDisk(t, quotaPlace(t, size), killed)
			})
		}
		// On a real disk a process must end to release its files: the store is closed there.
		t.Run(fmt.Sprintf("tmpfs %dMB", size), func(t *testing.T) {
			effort.Long(t)
			fillDisk(t, tmpfsPlace(t, size), false)
		})
		if i%3 == 0 {
			t.Run(fmt.Sprintf("ext4 %dMB", size), func(t *testing.T) {
				effort.Long(t)
				fillDisk(t, ext4Place(t, size), false)
			})
		}
	}
}

func fillDisk(t *testing.T, p *smallPlace, killed bool) {
	ctx := context.Background()
	erasing := store.Erasing(ctx)
	f, available := newFilling(), p.free()
	s := p.open(t, true)
	f.fill(t, s)
	free := p.free()
	must.True(t, free <= max(available/4, 7<<20), "refused with %d of %d bytes free", free, available)
	t.Logf("%d MB of blocks, %d of %d bytes free", len(f.have)*fillBlock>>20, p.free(), available)
	leave(t, s, killed)

	before := p.free() + p.reserve()
	for range 5 {
		s = p.open(t, false)
		f.check(t, s)
		if err := f.commit(s, 50); err == nil {
			before -= 3 * 50 * fillBlock // a smaller one than was refused
		} else if !errors.Is(err, store.ErrNoRoom) {
			t.Fatal(err)
		}
		leave(t, s, killed)
	}
	after := p.free() + p.reserve()
	must.True(t, after >= before-1<<20, "five openings took %d of %d free bytes", before-after, before)

	s = p.open(t, false)
	must.OK(t, f.erase(s, 3), "a purge")
	must.OK(t, s.Compact(erasing), "compacting for the purge")
	f.check(t, s)
	leave(t, s, killed)

	s = p.open(t, false)
	collected := len(f.have) / 3
	must.OK(t, s.Facts().(store.Deleter).Delete(erasing, f.have[:collected]...), "a collection")
	f.have = f.have[collected:]
	must.OK(t, s.Reclaim(erasing), "giving back room")
	must.OK(t, f.commit(s, 50), "after a collection")
	leave(t, s, killed)

	p.give()
	s = p.open(t, false)
	for range 20 {
		must.OK(t, f.commit(s, 50), "with room again")
	}
	f.check(t, s)
	must.OK(t, s.Close())
	checkFiles(t, p)
}

// leave closes a store, or leaves what a killed process leaves.
func leave(t *testing.T, s *Store, killed bool) {
	t.Helper()
	if killed {
		s.fs.fail.trip(errors.New("killed"))
	}
	must.OK(t, s.Close())
}

// erase redacts the last blocks, and commits an operation.
func (f *filling) erase(s *Store, n int) error {
	erasing := store.Erasing(context.Background())
	if err := s.SetNote(erasing, []byte("note")); err != nil {
		return err
	}
	at := len(f.have) - n
	op := store.NewBlock(ipld.Raw, fmt.Appendf(nil, "purge %d", f.head.Seq))
	next := store.Head{Seq: f.head.Seq + 1, Operation: op.CID}
	if err := s.Commit(erasing, f.head, next, op); err != nil {
		return err
	}
	f.head = next
	var list []store.Redaction
	for _, c := range f.have[at:] {
		list = append(list, store.Redaction{CID: c, Stub: []byte("gone")})
	}
	f.have = append(f.have[:at], op.CID)
	return errors.Join(s.Redact(erasing, list...), s.SetNote(erasing, nil))
}

// checkFiles fails for files that a store closed with free space does not need.
func checkFiles(t *testing.T, p *smallPlace) {
	t.Helper()
	fs := p.opts.FS
	if fs == nil {
		fs = vfs.Default
	}
	s := p.open(t, false)
	levels := must.Get(s.db.SSTables())(t)
	want := map[string]int{".sst": 0, ".log": 1, "MANIFEST-": 2, "OPTIONS-": 1, "marker.": 2, "LOCK": 1}
	for _, l := range levels {
		want[".sst"] += len(l)
	}
	must.OK(t, s.Close())
	names := must.Get(fs.List(fs.PathJoin(p.dir, dbName)))(t)
	for _, name := range names {
		known := false
		for kind := range want {
			if strings.HasPrefix(name, kind) || strings.HasSuffix(name, kind) {
				known = true
				want[kind]--
				must.True(t, want[kind] >= 0, "one %s too many: %s", kind, name)
			}
		}
		must.True(t, known, "left over: %s", name)
	}
	names = must.Get(fs.List(p.dir))(t)
	for _, name := range names {
		switch name {
		case dbName, headName, markerName, reserveName, ownerName, QueueName:
		default:
			t.Errorf("left over: %s", name)
		}
	}
}
