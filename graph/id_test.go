package graph

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/ipld"
)

// TestIDs pins ids that were computed independently: sha2-256 of the bytes that clause 4 of the specification
// names, truncated to 16 bytes.
func TestIDs(t *testing.T) {
	src, dst := NodeID("alice"), NodeID("svc/billing")
	cases := []struct {
		name string
		id   ID
		want string
	}{
		{"node", src, "b4a9765e-f642-c681-561b-de25662639d2"},
		{"node with a slash", dst, "91473a54-9c9b-49ed-ed2d-c861a9816a13"},
		{"edge", EdgeID(src, "owns", dst, "a"), "6a939c53-aa38-4670-15ef-63ee36a5e21d"},
		{"edge without key", EdgeID(src, "owns", dst, ""), "6f8020e4-b2a5-e3af-a5ce-fc1b568deefb"},
		{"content", ContentID([]byte("abc"), 0), "90a5fa9f-7e00-7cd7-56ee-ed7b76c0eece"},
		{"content again", ContentID([]byte("abc"), 258), "aff79267-193a-9a89-4aa9-0f6cd7d6ff08"},
	}
	for _, c := range cases {
		if got := c.id.String(); got != c.want {
			t.Errorf("%s: id %s, want %s", c.name, got, c.want)
		}
	}
}

func TestParseID(t *testing.T) {
	const good = "b4a9765e-f642-c681-561b-de25662639d2"
	id, err := ParseID(good)
	if err != nil || id.String() != good || id.IsZero() {
		t.Errorf("ParseID: %s, %v", id, err)
	}
	for _, bad := range []string{
		"", "x", strings.ToUpper(good), good + "0", good[1:], strings.ReplaceAll(good, "-", ""),
		"b4a9765e-f642-c681-561b-de25662639dg", "b4a9765ef-642-c681-561b-de25662639d2",
		"00000000-0000-0000-0000-000000000000", "{" + good[1:35] + "}", strings.Repeat("é", 18),
	} {
		if _, err := ParseID(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseID(%q): error %v", bad, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := genID().Draw(t, "id")
		back, err := ParseID(id.String())
		if err != nil || back != id || !ShapedLikeID(strings.ToUpper(id.String())) {
			t.Fatalf("%s reads as %s, %v", id, back, err)
		}
	})
}

func TestParseRef(t *testing.T) {
	id := NodeID("alice")
	cases := map[string]ID{
		"alice": id, id.String(): id, "a b/ü": NodeID("a b/ü"),
		strings.Repeat("k", MaxKey): NodeID(strings.Repeat("k", MaxKey)),
	}
	for s, want := range cases {
		r, err := ParseRef(s)
		if err != nil || r.Target() != want || r.String() != s {
			t.Errorf("ParseRef(%q) = %v, %v", s, r, err)
		}
	}
	for _, bad := range []string{
		"", "a\x00b", "\xff", strings.Repeat("k", MaxKey+1), strings.ToUpper(id.String()),
	} {
		if _, err := ParseRef(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseRef(%q): error %v", bad, err)
		}
	}
	if s := (Ref{}).String(); s != "" {
		t.Errorf("no reference prints as %q", s)
	}
}

func TestTreeKeys(t *testing.T) {
	id := ID{1, 2, 3}
	for on, letter := range map[Target]byte{OnNode: 'n', OnEdge: 'e'} {
		key := MarkKey(on, id)
		if want := append([]byte{letter}, id[:]...); !bytes.Equal(key, want) {
			t.Errorf("key of mark on %s is %x, want %x", on, key, want)
		}
		gotOn, gotID, err := ParseMarkKey(key)
		if gotOn != on || gotID != id || err != nil {
			t.Errorf("ParseMarkKey: %s %s %v", gotOn, gotID, err)
		}
	}
	key := EmbeddingKey(id, "m")
	if want := append(id[:], 'm'); !bytes.Equal(key, want) {
		t.Errorf("key of embedding is %x, want %x", key, want)
	}
	node, model, err := ParseEmbeddingKey(key)
	if node != id || model != "m" || err != nil {
		t.Errorf("ParseEmbeddingKey: %s %s %v", node, model, err)
	}
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

func TestCompareIDs(t *testing.T) {
	ids := []ID{{2}, {0, 9}, {1, 255}, {1}}
	slices.SortFunc(ids, ID.Compare)
	if want := []ID{{0, 9}, {1}, {1, 255}, {2}}; !slices.Equal(ids, want) {
		t.Errorf("sorted ids are %v", ids)
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
		if err := ValidateRef(r); err != nil {
			t.Errorf("ValidateRef(%q): %v", r, err)
		}
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
		if err := ValidateRef(r); !errors.Is(err, ErrInvalid) {
			t.Errorf("ValidateRef(%q): error %v", r, err)
		}
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
		if got := [3]string{imported, ns, name}; got != want {
			t.Errorf("%s splits into %q, want %q", ref, got, want)
		}
	}
}

func TestContent(t *testing.T) {
	for _, size := range []int{
		1, MaxInline, MaxInline + 1, ipld.ChunkSize, ipld.ChunkSize + 1, 2 * ipld.ChunkSize,
	} {
		text := strings.Repeat("ü", size/2) + strings.Repeat("x", size%2)
		c, chunks, err := SplitContent(text, "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		var m meter
		if err := c.check(&m); err != nil {
			t.Errorf("content of %d bytes: %v", size, err)
		}
		if inline := c.Text != ""; inline != (size <= MaxInline) || c.Media != "" {
			t.Errorf("content of %d bytes: in the record %t, media %q", size, inline, c.Media)
		}
		stored := make(map[ipld.CID][]byte)
		for _, chunk := range chunks {
			if ipld.Sum(ipld.Raw, chunk.Data) != chunk.CID {
				t.Error("chunk does not have its CID")
			}
			stored[chunk.CID] = chunk.Data
		}
		get := func(id ipld.CID) ([]byte, error) { return stored[id], nil }
		if back, err := JoinContent(c, get); err != nil || back != text {
			t.Errorf("content of %d bytes reads as %d, %v", size, len(back), err)
		}
		if len(c.Chunks) > 0 {
			c.Size--
			if _, err := JoinContent(c, get); !errors.Is(err, ipld.ErrInvalid) {
				t.Errorf("chunks of the wrong length: error %v", err)
			}
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
	if !errors.Is(err, ipld.ErrInvalid) {
		t.Errorf("content that is not UTF-8: error %v", err)
	}
}
