package show

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

type counted struct {
	Count int  `json:"new_blocks"`
	Dry   bool `json:"dry_run"`
}

func TestMembers(t *testing.T) {
	type row struct {
		Ref string   `json:"ref"`
		At  ipld.CID `json:"at"`
		No  string   `json:"-"`
	}
	cid := ipld.Sum(ipld.Raw, []byte("x"))
	var b strings.Builder
	c := &Console{Out: bufio.NewWriter(&b)}
	err := Members(c, &struct {
		Name string `json:"name"`
		counted
		Words []string `json:"words"`
		Rows  []row    `json:"moved_refs"`
		None  []row    `json:"none"`
		Inner *counted `json:"inner"`
		Empty *counted `json:"empty"`
		Key   string   `json:"-"`
	}{
		Name: "a\x1b[2J", counted: counted{0, true}, Words: []string{"x", "y"}, Rows: []row{{"main", cid, "secret"}, {Ref: "b"}},
		Inner: &counted{3, false}, Key: "secret",
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Out.Flush() // into memory
	want := "name        a\\u{1B}[2J\nnew blocks  0\ndry run     yes\nwords       x, y\nmoved refs\n" +
		"  ref   at\n  main  " + cid.String() + "\n  b\ninner\n  new blocks  3\n"
	if b.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &b, want)
	}
	gone := errors.New("the reader has gone")
	if err := Members(&Console{Out: bufio.NewWriterSize(failing{gone}, 16)}, row{Ref: strings.Repeat("x", 99)}); !errors.Is(err, gone) {
		t.Errorf("%v, want that the reader has gone", err)
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
