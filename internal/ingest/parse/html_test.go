package parse

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestHTMLMeta(t *testing.T) {
	d := parsed(t, HTML, `<title> a
 b </title><meta name=Keywords content="x, y"><meta name="author" content="me"><meta name=other content=z><h1>c</h1><p>d<a href="e%20f.html#g">h</a>`+
		`<a href="https://x.y/z">i</a><a href="e f.html">j</a>`)
	if d.Title != "a b" || !slices.Equal(d.Tags, []string{"x", "y"}) || len(d.Sections) != 1 || len(d.Meta) != 1 || d.Meta[0].Name != "author" || d.Meta[0].Value != "me" {
		t.Errorf("%+v", d)
	}
	must.Same(t, d.Chunks(nil)[0].Links, []string{"e f.html"}, "links")
	if c := parsed(t, HTML, `<base href="https://x.y/"><p>a<a href="b.html">c</a>`).Chunks(nil); len(c[0].Links) > 0 {
		t.Errorf("links of another base: %q", c[0].Links)
	}
}

func TestHTMLErrors(t *testing.T) {
	for in, want := range map[string]error{
		"<p>a\n<script>b":                         ErrUnclosed,
		"<p>a\n<script>":                          ErrUnclosed,
		"<p>a<!-- b":                              ErrUnclosed,
		"<p>a<b class=\"c>d</b>":                  ErrUnclosed,
		"<p>a<svg><p>b":                           ErrUnclosed,
		strings.Repeat("<div>", maxDepth+1):       ErrDeep,
		strings.Repeat("<nav>", maxDepth+1):       ErrDeep,
		strings.Repeat("<p>a", MaxBlocks+1):       ErrTooMany,
		strings.Repeat("<h1>a", MaxSections+1):    ErrTooMany,
		"<pre>" + strings.Repeat("a\n", MaxLines): ErrTooMany,
	} {
		_, err := Parse(HTML, in, nil)
		must.Fail(t, err, want, in)
	}
	if _, err := Parse(HTML, "<p>a\n<script>b", nil); err == nil || err.Error() != "line 2: <script> has no end" {
		t.Errorf("%v", err)
	}
	_, err := Parse(HTML, "<p>a", &ReadOptions{Clean: func(string) (string, error) { return "", nil }})
	must.Fail(t, err, ErrClean)
}

// TestHTMLHostile reads pages that are expensive for readers that build a tree, backtrack or recurse.
func TestHTMLHostile(t *testing.T) {
	const n = 1 << 19
	for _, piece := range []string{"<", "<a", "<a ", "<a b=c ", "<p>", "<b>", "<b hidden>", "<li>", "<td>", "<tr><td>a", "<table>", "<a href=x>", "&amp", "&#x41;",
		"&", "</p>", "</", "<!", "<!-->", "<?", "<![CDATA[", "<h1>", "<ul><li>a</ul>", "<title>", "<script></script>", "<nav></nav>", "<svg>", "<main>", "<article>a</article>",
		"<p>a ", "a<br>", "<td>|", "\n", "<pre>a\n</pre>", "<ol><li>a", "<header>"} {
		begin := time.Now()
		d, err := Parse(HTML, strings.Repeat(piece, n/len(piece)), nil)
		if err == nil {
			d.Chunks(nil)
		}
		if took := time.Since(begin); took > 10*time.Second { // some .2 s on an idle machine
			t.Errorf("%q took %s", piece, took)
		}
	}
}

// FuzzHTML reads any page: parsing ends, and the chunks' lines exist.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{"<p>a</p>", "<table><tr><td>a<td>b</table>", "<ul><li>a<ul><li>b</ul></ul>", "<nav>a", "<main><h1>a</h1><pre>\nb\n</pre></main>",
		"<title>a</title><p hidden>b", "<!-- a --><p>b<br>c", "<div aria-hidden=true>a</div>b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) { fuzzDerived(t, HTML, in, nil) })
}
