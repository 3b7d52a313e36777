package graph

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestTreeKeys(t *testing.T) {
	id := ID{1, 2, 3}
	for on, letter := range map[Target]byte{OnNode: 'n', OnEdge: 'e'} {
		key := MarkKey(on, id)
		want := append([]byte{letter}, id[:]...)
		must.Check(t, bytes.Equal(key, want), "key of mark on %s is %x, want %x", on, key, want)
		gotOn, gotID, err := ParseMarkKey(key)
		must.Check(t, gotOn == on && gotID == id && err == nil, "ParseMarkKey: %s %s %v", gotOn, gotID, err)
	}
	key := EmbeddingKey(id, "m")
	if want := append(id[:], 'm'); !bytes.Equal(key, want) {
		t.Errorf("key of embedding is %x, want %x", key, want)
	}
	node, model, err := ParseEmbeddingKey(key)
	must.Check(t, node == id && model == "m" && err == nil, "ParseEmbeddingKey: %s %s %v", node, model, err)
	for _, bad := range [][]byte{nil, {'n'}, append([]byte("x"), id[:]...), MarkKey(OnNode, id)[:16]} {
		if _, _, err := ParseMarkKey(bad); err == nil {
			t.Errorf("ParseMarkKey accepts %x", bad)
		}
	}
	for _, bad := range [][]byte{nil, id[:], EmbeddingKey(id, "a\x00")} {
		if _, _, err := ParseEmbeddingKey(bad); err == nil {
			t.Errorf("ParseEmbeddingKey accepts %x", bad)
		}
	}
}

func TestRefNames(t *testing.T) {
	good := []RefName{
		Head, BranchRef("main"), "refs/heads/a/b-c_d.e", "refs/tags/v1.0", "refs/remotes/o/main",
		"refs/sessions/_default", "refs/stage/main", "refs/conflicts/1", "refs/heads/ü", "refs/heads/@a",
		BranchRef(strings.Repeat("x", MaxRefName)), "refs/heads/a/HEAD", "refs/heads/a.lockx",
		"refs/imported/desk/heads/main", "refs/imported/desk/tags/heads/x",
		"refs/imported/desk/sessions/s", "refs/imported/desk/objects/x",
		ImportedRef(strings.Repeat("n", MaxImportName),
			BranchRef(strings.Repeat("x", MaxRefName))),
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
	if branch, ok := BranchRef("a/b").Branch(); branch != "a/b" || !ok {
		t.Errorf("branch is %q, %t", branch, ok)
	}
	if _, ok := TagRef("a").Branch(); ok {
		t.Error("a tag is a branch")
	}
	if ns, name := StageRef("main").Split(); ns != Stages || name != "main" {
		t.Errorf("stage splits into %q and %q", ns, name)
	}
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
			_, err := JoinContent(c, get)
			must.Fail(t, err, ipld.ErrInvalid)
		}
	}
	for _, bad := range []string{"", "\xff", strings.Repeat("x", MaxContent+1)} {
		if _, _, err := SplitContent(bad, ""); !errors.Is(err, ErrInvalid) {
			t.Errorf("content of %d bytes: error %v", len(bad), err)
		}
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
