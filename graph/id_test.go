package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestTreeKeys(t *testing.T) {
	id := ID{1, 2, 3}
	for on, letter := range map[Target]byte{OnNode: 'n', OnEdge: 'e'} {
		key := MarkKey(on, id)
		want := append([]byte{letter}, id[:]...)
		must.True(t, bytes.Equal(key, want), "key of mark on %s is %x, want %x", on, key, want)
		gotOn, gotID, err := ParseMarkKey(key)
		must.True(t, gotOn == on && gotID == id && err == nil, "ParseMarkKey: %s %s %v", gotOn, gotID, err)
	}
	key := EmbeddingKey(id, "m")
	want := append(id[:], 'm')
	must.True(t, bytes.Equal(key, want), "key of embedding is %x, want %x", key, want)
	node, model, err := ParseEmbeddingKey(key)
	must.True(t, node == id && model == "m" && err == nil, "ParseEmbeddingKey: %s %s %v", node, model, err)
	for _, bad := range [][]byte{nil, {'n'}, append([]byte("x"), id[:]...), MarkKey(OnNode, id)[:16]} {
		_, _, err := ParseMarkKey(bad)
		must.True(t, err != nil, "ParseMarkKey accepts %x", bad)
	}
	for _, bad := range [][]byte{nil, id[:], EmbeddingKey(id, "a\x00")} {
		_, _, err := ParseEmbeddingKey(bad)
		must.True(t, err != nil, "ParseEmbeddingKey accepts %x", bad)
	}
}

func TestRefNames(t *testing.T) {
	good := []RefName{
		Head, BranchRef("main"), "refs/heads/a/b-c_d.e", "refs/tags/v1.0", "refs/remotes/o/main",
		"refs/sessions/_default", "refs/stage/main", "refs/conflicts/1", "refs/heads/ü", "refs/heads/@a",
		BranchRef(strings.Repeat("x", MaxRefName)), "refs/heads/a/HEAD", "refs/heads/a.lockx",
		"refs/imported/desk/heads/main", "refs/imported/desk/tags/heads/x",
		"refs/imported/desk/sessions/s", "refs/imported/desk/objects/x",
		ImportedRef(strings.Repeat("n", MaxImportName), BranchRef(strings.Repeat("x", MaxRefName))),
	}
	for _, r := range good {
		must.OK(t, ValidateRef(r), "ValidateRef(", r, ")")
	}
	bad := []RefName{
		"", "main", "refs", "refs/", "refs/heads", "refs/heads/", "refs/other/a", "refs/heads/HEAD",
		"refs/heads/@", "refs/heads/-a", "refs/heads//a", "refs/heads/a/", "refs/heads/a//b",
		"refs/heads/.a", "refs/heads/a/.b", "refs/heads/a.", "refs/heads/a./b", "refs/heads/a.lock",
		"refs/heads/a.lock/b", "refs/heads/a..b", "refs/heads/a@{b", "refs/heads/a b",
		"refs/heads/a\tb", "refs/heads/a\x7f", "refs/heads/a\u0085", "refs/heads/\xff",
		BranchRef(strings.Repeat("x", MaxRefName+1)), "head", "refs/Heads/a",
		"refs/imported/desk", "refs/imported/desk/main", "refs/imported/desk/heads/",
		"refs/imported//heads/main", "refs/imported/a/b/heads/main", "refs/imported/-a/heads/main",
		"refs/imported/desk/stage/main", "refs/imported/desk/heads/a..b",
		ImportedRef(strings.Repeat("n", MaxImportName+1), BranchRef("main")),
	}
	for _, c := range `~^:?*[\` {
		bad = append(bad, BranchRef("a"+string(c)+"b"))
	}
	for _, r := range bad {
		must.Fail(t, ValidateRef(r), ErrInvalid, r)
	}
	branch, ok := BranchRef("a/b").Branch()
	must.True(t, branch == "a/b" && ok, "branch is %q, %t", branch, ok)
	_, ok = TagRef("a").Branch()
	must.True(t, !ok, "a tag is a branch")
	ns, name := StageRef("main").Split()
	must.True(t, ns == Stages && name == "main", "stage splits into %q and %q", ns, name)
}

func TestImportedRefs(t *testing.T) {
	cases := map[RefName][3]string{
		ImportedRef("desk", BranchRef("a/b")):           {"desk", Heads, "a/b"},
		ImportedRef("desk", TagRef("heads/x")):          {"desk", Tags, "heads/x"},
		ImportedRef("d", RefName(Sessions+"s")):         {"d", Sessions, "s"},
		ImportedObject("d", "bafy"):                     {"d", "refs/objects/", "bafy"},
		BranchRef("imported/desk/heads/main"):           {},
		"refs/imported/a/b/heads/main":                  {},
		"refs/imported/desk":                            {},
		ImportedRef("heads", BranchRef("heads/a/tags")): {"heads", Heads, "heads/a/tags"},
	}
	for ref, want := range cases {
		imported, ns, name := ref.SplitImported()
		must.Equal(t, [3]string{imported, ns, name}, want, ref, " splits into")
	}
}

func TestContent(t *testing.T) {
	for _, size := range []int{
		1, MaxInline, MaxInline + 1, ipld.ChunkSize, ipld.ChunkSize + 1, 2 * ipld.ChunkSize,
	} {
		text := strings.Repeat("ü", size/2) + strings.Repeat("x", size%2)
		c, chunks, err := SplitContent(text, "text/plain")
		must.OK(t, err)
		var m meter
		must.OK(t, c.check(&m), "content of ", size, " bytes")
		if inline := c.Text != ""; inline != (size <= MaxInline) || c.Media != "" {
			t.Errorf("content of %d bytes: in the record %t, media %q", size, inline, c.Media)
		}
		stored := make(map[ipld.CID][]byte)
		for _, chunk := range chunks {
			must.Equal(t, ipld.Sum(ipld.Raw, chunk.Data), chunk.CID, "chunk does not have its CID")
			stored[chunk.CID] = chunk.Data
		}
		get := func(id ipld.CID) ([]byte, error) { return stored[id], nil }
		must.Equal(t, must.Get(JoinContent(c, get))(t), text, "content of ", size, " bytes reads as")
		if len(c.Chunks) > 0 {
			c.Size--
			must.Fail(t, must.Err(JoinContent(c, get)), ipld.ErrInvalid)
		}
	}
	for _, bad := range []string{"", "\xff", strings.Repeat("x", MaxContent+1)} {
		_, _, err := SplitContent(bad, "")
		must.True(t, errors.Is(err, ErrInvalid), "content of %d bytes: error %v", len(bad), err)
	}
	broken := errors.New("broken")
	c := &Content{Chunks: []ipld.CID{ipld.Sum(ipld.Raw, nil)}, Size: MaxInline + 1}
	if _, err := JoinContent(c, func(ipld.CID) ([]byte, error) { return nil, broken }); err != broken {
		t.Errorf("error %v is not the getter's", err)
	}
	half := []byte("\xc3" + strings.Repeat("x", MaxInline))
	_, err := JoinContent(c, func(ipld.CID) ([]byte, error) { return half, nil })
	must.Fail(t, err, ipld.ErrInvalid)
}

func TestIDsAndTimesAsJSON(t *testing.T) {
	type all struct {
		ID   ID
		None ID
		Time Time
		At   OptTime
		No   OptTime
	}
	want := all{ID: NodeID("alice"), Time: 1_700_000_000_123_456, At: At(0)}
	data := must.Get(json.Marshal(want))(t)
	got := all{None: NodeID("x"), No: At(7)}
	must.OK(t, json.Unmarshal(data, &got), data, " reads as")
	must.Equal(t, got, want, data, " reads as")
	for _, bad := range []string{`{"ID":"x"}`, `{"ID":[1]}`, `{"Time":7}`, `{"Time":"soon"}`, `{"At":"soon"}`} {
		must.True(t, json.Unmarshal([]byte(bad), &got) != nil, "%s was read", bad)
	}
}

func TestParseTime(t *testing.T) {
	cases := map[string]string{
		"1970-01-01":                            "1970-01-01T00:00:00.000000Z",
		"2024-02-29":                            "2024-02-29T00:00:00.000000Z",
		"2026-11-20T09:30:00Z":                  "2026-11-20T09:30:00.000000Z",
		"2026-11-20T09:30:00.5+01:00":           "2026-11-20T08:30:00.500000Z",
		"2026-11-20T00:00:00-23:59":             "2026-11-20T23:59:00.000000Z",
		"2026-11-20T00:00:00.1234567Z":          "2026-11-20T00:00:00.123456Z",
		"2026-11-20T00:00:00.9999999999999999Z": "2026-11-20T00:00:00.999999Z",
		"1969-12-31T23:59:59.9999999Z":          "1969-12-31T23:59:59.999999Z",
		"2026-11-20T23:59:59-00:00":             "2026-11-20T23:59:59.000000Z",
		"9999-12-31T23:59:59.999999Z":           "9999-12-31T23:59:59.999999Z",
		"0000-01-01":                            "0000-01-01T00:00:00.000000Z",
	}
	for s, want := range cases {
		got := must.Get(ParseTime(s))(t, "ParseTime(", s, ")")
		must.Equal(t, got.String(), want, "ParseTime(", s, ")")
	}
	for _, bad := range []string{
		"", "now", "2026", "2026-11", "2026-1-20", "2026-11-2", "2026-13-01", "2026-00-01",
		"2026-11-00", "2026-11-31", "2025-02-29", "2026-11-20T", "2026-11-20T09", "2026-11-20T09:30",
		"2026-11-20T09:30Z", "2026-11-20T09:30:00", "2026-11-20T9:30:00Z", "2026-11-20t09:30:00Z",
		"2026-11-20T09:30:00z", "2026-11-20 09:30:00Z", "2026-11-20T24:00:00Z",
		"2026-11-20T09:60:00Z", "2026-12-31T23:59:60Z", "2026-11-20T09:30:00.Z",
		"2026-11-20T09:30:00,5Z", "2026-11-20T09:30:00+0100", "2026-11-20T09:30:00+24:00",
		"2026-11-20T09:30:00+01:60", "2026-11-20T09:30:00Z ", " 2026-11-20", "2026-11-20T09:30:00.5",
		"+2026-11-20", "2026-11-20T-1:30:00Z", "2026-11-20T09:30:00.-5Z", "2O26-11-20",
		"9999-12-31T23:59:59-00:01", "0000-01-01T00:00:59+00:01", "10000-01-01", "-001-12-31",
	} {
		must.Fail(t, must.Err(ParseTime(bad)), ErrInvalid, "ParseTime(", bad, ")")
	}
}

// TestTimeAgainstStandard compares with the standard library for forms that both accept.
func TestTimeAgainstStandard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genTime().Draw(t, "time")
		got, err := ParseTime(want.String())
		must.Require(t, err == nil && got == want && From(want.Std()) == want,
			"%d reads as %d from %s, %v", want, got, want, err)
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "offset"))
		if y := want.Std().In(zone).Year(); y < 0 || y > 9999 {
			t.Skip("not four digits there")
		}
		text := want.Std().In(zone).Format("2006-01-02T15:04:05.999999999Z07:00")
		if got, err = ParseTime(text); err != nil || got != want {
			t.Fatalf("%s reads as %s, %v, want %s", text, got, err, want)
		}
	})
}

func TestOptTime(t *testing.T) {
	must.Equal(t, (OptTime{}).String(), "", "no time prints")
	must.Equal(t, At(0).String(), "1970-01-01T00:00:00.000000Z", "0 prints")
}
