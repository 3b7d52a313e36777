package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// toy is a format whose sections hold numbers, four bytes each: "a" in the order of its keys, "b" by the number of
// the part. The sum of a segment is how many numbers "a" has.
var toy = &Format{
	Name: "toy", Version: 7, Sums: 1, Roots: 1, Totals: 2,
	Sections: []Spec{{"a", 64}, {"b", 16}}, Inline: 256, MaxDocs: 1 << 20, MaxSegments: 5,
	MaxWaiting: 4, CacheBytes: 1 << 20,
	Check: func(s *Segment) error {
		if s.Sums[0] < 0 {
			return Corrupt("%d numbers", s.Sums[0])
		}
		return nil
	},
}

func number(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// write makes a segment of the even numbers below 2n.
func write(t testing.TB, put store.Putter, n int) (*Segment, store.Block) {
	t.Helper()
	w := toy.NewWriter(t.Context(), put)
	for i := range n {
		for sec, key := range [][]byte{number(2 * i), nil} {
			s := w.Section(sec)
			must.OK(t, s.Begin(16, func() []byte { return key }))
			s.Buf = append(s.Buf, number(2*i)...)
		}
	}
	w.Docs, w.Sums[0] = n, int64(n)
	s, block, err := w.Finish()
	if err == nil {
		err = put.Put(t.Context(), block)
	}
	must.OK(t, err)
	return s, block
}

// TestSections writes and reads segments that are a single block, have parts, and have directories.
func TestSections(t *testing.T) {
	for n, blocks := range map[int]int{0: 1, 30: 1, 1000: 501, 5000: 2513} {
		derived := mem.New().Derived()
		made, _ := write(t, derived, n)
		r := toy.NewReader(derived, NewCache(1<<20))
		s, err := r.Segment(t.Context(), made.CID)
		must.Require(t, err == nil && s.Docs == n && s.Parts(0) == (n+3)/4 && s.Sums[0] == int64(n),
			"%d numbers: %+v, %v", n, s, err)
		var got []byte
		for i := range s.Parts(1) {
			data := must.Get(r.Bytes(t.Context(), s, 1, i))(t)
			got = append(got, data...)
		}
		for i := range n {
			must.Equal(t, binary.BigEndian.Uint32(got[4*i:]), uint32(2*i), n, " numbers: number ", i, " is another")
		}
		for want := range min(2*n, 700) {
			v, at, err := Covering(t.Context(), r, s, 0, number(want), keep)
			must.Require(t, err == nil && at == want/8 && bytes.Contains(v, number(want)) == (want%2 == 0),
				"%d numbers: %d is in part %d, %v", n, want, at, err)
			if key, err := r.Key(t.Context(), s, 0, at); err != nil || !bytes.Equal(key, number(want/8*8)) {
				t.Fatalf("%d numbers: part %d begins with %x, %v", n, at, key, err)
			}
		}
		for _, bad := range []int{-1, s.Parts(1)} {
			must.Fail(t, must.Err(r.Bytes(t.Context(), s, 1, bad)), store.ErrCorrupt, n, " numbers: part ", bad)
		}
		seen := map[ipld.CID]bool{}
		list := &List{Segments: []Ref{s.Ref()}}
		note := func(c ipld.CID) error { seen[c] = true; return nil }
		err = toy.WalkList(t.Context(), derived, list, note)
		must.True(t, err == nil && len(seen) <= blocks && (n <= 0 || n == 30 || len(seen) >= blocks/2),
			"%d numbers: %d blocks, %v, want %d", n, len(seen), err, blocks)
		for c := range seen {
			must.True(t, must.Get(derived.Has(t.Context(), c))(t), "%d numbers: block %s is not there", n, c)
		}
	}
}

// TestBefore finds nothing before the first key.
func TestBefore(t *testing.T) {
	derived := mem.New().Derived()
	w := toy.NewWriter(t.Context(), derived)
	w.Section(0).Buf, w.Section(0).Key = number(9), number(9)
	s, _, err := w.Finish()
	must.OK(t, err)
	r := toy.NewReader(derived, nil)
	v, n, err := Covering(t.Context(), r, s, 0, number(8), keep)
	must.True(t, v == nil && n == -1 && err == nil, "%v in part %d, %v", v, n, err)
	v, n, err = Covering(t.Context(), r, s, 1, nil, keep)
	must.True(t, v == nil && n == -1 && err == nil, "%v in part %d of nothing, %v", v, n, err)
}

// lying replaces one block.
type lying struct {
	store.Getter
	at   ipld.CID
	data []byte
}

func (l lying) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	if c == l.at {
		return l.data, nil
	}
	return l.Getter.Get(ctx, c)
}

// TestDamage replaces each directory and part by other blocks, long ones and noise: reading the segment fails with
// an error about damage.
func TestDamage(t *testing.T) {
	derived := mem.New().Derived()
	s, block := write(t, derived, 5000)
	var all []ipld.CID
	must.OK(t, toy.WalkList(t.Context(), derived, &List{Segments: []Ref{s.Ref()}}, func(c ipld.CID) error {
		all = append(all, c)
		return nil
	}))
	read := func(get store.Getter) error {
		r := toy.NewReader(get, nil)
		s, err := r.Segment(t.Context(), s.CID)
		for sec := range toy.Sections {
			for n := 0; err == nil && n < s.Parts(sec); n += 50 {
				var data []byte
				if data, err = r.Bytes(t.Context(), s, sec, n); err == nil && len(data) != 16 {
					err = Corrupt("part of %d bytes", len(data))
				}
			}
		}
		return err
	}
	must.OK(t, read(derived))
	found := 0
	for _, c := range all {
		if c.Codec() == ipld.Raw {
			continue
		}
		for _, data := range [][]byte{nil, block.Data[:len(block.Data)-1], bytes.Repeat([]byte{0}, 99)} {
			must.Fail(t, read(lying{derived, c, data}), store.ErrCorrupt, len(data), " bytes in the place of ", c)
			found++
		}
	}
	must.True(t, found >= 9, "%d damages", found)
	first := s.sections[1].refs[0].cid
	dir := must.Get(derived.Get(t.Context(), s.sections[1].refs[1].cid))(t)
	must.Fail(t, read(lying{derived, s.sections[0].refs[0].cid, dir}), store.ErrCorrupt, first)
}

// TestManifest reads back what it writes, and refuses invalid lists and sums.
func TestManifest(t *testing.T) {
	ref := Ref{CID: ipld.Sum(ipld.DagCBOR, nil), Docs: 3, Kills: 1}
	for name, c := range map[string]struct {
		m  Manifest
		ok bool
	}{
		"empty":            {Manifest{}, true},
		"a run":            {Manifest{Text: "en", List: List{slices.Repeat([]Ref{ref}, 5), Run{1, 4}}}, true},
		"too many":         {Manifest{List: List{Segments: slices.Repeat([]Ref{ref}, 6)}}, false},
		"a run of one":     {Manifest{List: List{slices.Repeat([]Ref{ref}, 3), Run{1, 1}}}, false},
		"a run too long":   {Manifest{List: List{slices.Repeat([]Ref{ref}, 3), Run{2, 2}}}, false},
		"a run of nothing": {Manifest{List: List{nil, Run{0, 2}}}, false},
		"many documents":   {Manifest{List: List{Segments: []Ref{{ref.CID, 1 << 21, 0}}}}, false},
		"less than none":   {Manifest{List: List{Segments: []Ref{{ref.CID, 1, -1}}}}, false},
		"a long text":      {Manifest{Text: string(make([]byte, 65))}, false},
	} {
		c.m.Roots, c.m.Sums = []ipld.CID{ref.CID}, []int64{4, -5}
		got, err := toy.DecodeManifest(toy.EncodeManifest(&c.m))
		must.True(t, c.ok == (err == nil) && (err == nil || errors.Is(err, store.ErrCorrupt)),
			"%s: %+v, %v", name, got, err)
		if err == nil && (!slices.Equal(got.Segments, c.m.Segments) || got.Run != c.m.Run ||
			got.Text != c.m.Text || !slices.Equal(got.Sums, c.m.Sums) || !slices.Equal(got.Roots, c.m.Roots)) {
			t.Errorf("%s: reads back as %+v", name, got)
		}
	}
	one := Manifest{Roots: []ipld.CID{ref.CID}, Sums: []int64{4}}
	must.Fail(t, must.Err(toy.DecodeManifest(toy.EncodeManifest(&one))), store.ErrCorrupt)
}

// FuzzBlocks checks that manifests, segments and directories have one encoding, apart from unknown fields.
func FuzzBlocks(f *testing.F) {
	derived := mem.New().Derived()
	for _, n := range []int{0, 3, 200, 5000} {
		s, block := write(f, derived, n)
		f.Add(block.Data)
		f.Add(toy.EncodeManifest(&Manifest{Roots: []ipld.CID{s.CID}, Sums: []int64{1, 2}, Text: "x",
			List: List{[]Ref{s.Ref(), s.Ref(), s.Ref()}, Run{1, 2}}}))
		if dirs := s.sections[0].refs; n == 5000 {
			dir := must.Get(derived.Get(f.Context(), dirs[len(dirs)-1].cid))(f)
			f.Add(dir)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		same := func(what string, b []byte, err error) {
			if err != nil {
				must.Fail(t, err, store.ErrCorrupt)
				return
			}
			must.True(t, len(b) <= len(data) && (len(b) != len(data) || bytes.Equal(b, data)),
				"%s has two encodings: %x and %x", what, data, b)
		}
		if s, err := toy.Decode(ipld.CID{}, data); err != nil {
			same("segment", nil, err)
		} else {
			same("segment", toy.encode(s), nil)
		}
		if m, err := toy.DecodeManifest(data); err != nil {
			same("manifest", nil, err)
		} else {
			same("manifest", toy.EncodeManifest(m), nil)
		}
		if refs, err := toy.decodeDir(data); err != nil {
			same("directory", nil, err)
		} else if len(refs) > fan {
			t.Errorf("directory of %d parts", len(refs))
		} else {
			same("directory", toy.encodeDir(refs), nil)
		}
	})
}

func TestCount(t *testing.T) {
	sizes := func(list ...int) (out []Ref) {
		for _, n := range list {
			out = append(out, Ref{Docs: n})
		}
		return out
	}
	ones := func(n int, before ...int) []Ref {
		for range n {
			before = append(before, 1)
		}
		return sizes(before...)
	}
	cases := map[string]struct {
		segments []Ref
		want     int
	}{
		"none":                {nil, 0},
		"one":                 {sizes(5), 0},
		"too few":             {ones(7), 0},
		"a run":               {ones(8), 8},
		"a run after a large": {ones(8, 1000), 8},
		"a large at the end":  {sizes(1, 1, 1, 1, 1, 1, 1, 1000), 8},
		"a run makes another": {ones(8, 8, 8, 8, 8, 8, 8, 8), 15},
		"a run makes none":    {ones(8, 8, 8, 8, 8, 8, 8), 8},
		"higher class stops":  {ones(7, 1, 8), 0},
		"mostly dead":         {[]Ref{{Docs: 10_000}, {Kills: 5000}, {Docs: 1000, Kills: 1000}}, 3},
		"dead, but few":       {[]Ref{{Docs: 100}, {Kills: 90}}, 0},
		"limit":               {slices.Repeat(sizes(MaxDocs), 8), 0},
	}
	for name, c := range cases {
		must.Equal(t, Count(c.segments, 8), c.want, name)
	}
}

// TestDue runs updates while a background merge is never made, and while it is made some time after it is due: no
// update merges more than it may, and there are few segments.
func TestDue(t *testing.T) {
	const maxWaiting = 64
	for name, made := range map[string]int{"never": 1 << 30, "soon": 100, "late": 1000} {
		l := List{Segments: []Ref{{Docs: 100_000}}}
		most, noted, since, forced := 0, 0, 0, 0
		for i := range 20_000 {
			size := 1 + i%3
			l.Segments = append(l.Segments, Ref{Docs: size})
			if l.Run.Count > 0 {
				if since++; since > made {
					l.Replace(l.Run, Ref{Docs: total(l.Waiting())})
				}
			}
			over := len(l.Segments) > maxWaiting
			run, fresh := l.Due(4, maxWaiting, size)
			if fresh {
				noted, since = noted+1, 0
			}
			if end := l.Run.End(); end > len(l.Segments) || fresh && run.Count > 0 {
				t.Fatalf("%s: run %v beside %v of %d", name, run, l.Run, len(l.Segments))
			}
			if run.Count > 1 {
				size := total(l.Segments[run.From:run.End()])
				must.Require(t, size <= mergeNow || over, "%s: an update of %d merges %d", name, 1+i%3, size)
				if size > mergeNow {
					forced++
				}
				l.Replace(run, Ref{Docs: size})
			}
			most = max(most, len(l.Segments))
		}
		if noted == 0 || most > maxWaiting+1 || name == "soon" && (most > 40 || forced > 0) ||
			name == "late" && forced > 0 || name == "never" && (forced == 0 || forced > 10) {
			t.Errorf("%s: %d merges left, %d segments at most, %d merges forced", name, noted, most, forced)
		}
	}
}

func total(list []Ref) (n int) {
	for _, s := range list {
		n += s.Size()
	}
	return n
}

// TestFewSegments commits single documents to an index of many, whose deferred merges are made before the next commit:
// a search looks into few segments, and no document is written often.
func TestFewSegments(t *testing.T) {
	l := List{Segments: []Ref{{Docs: 100_000}}}
	const commits = 10_000
	sum, most, written := 0, 0, 0
	for range commits {
		l.Segments = append(l.Segments, Ref{Docs: 1})
		run, _ := l.Due(4, 48, 1)
		if run.Count < 2 {
			run = l.Run
		}
		if run.Count > 1 {
			size := total(l.Segments[run.From:run.End()])
			l.Replace(run, Ref{Docs: size})
			written += size
		}
		sum, most = sum+len(l.Segments), max(most, len(l.Segments))
	}
	if sum > 6*commits || most > crowded+2 || written > 15*commits {
		t.Errorf("%d segments at most, %d a hundred commits, %d documents written for each", most, sum*100/commits, written/commits)
	}
}
