package parse

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestHTML(t *testing.T) {
	tests := map[string]struct {
		in    string
		title string
		want  []string
	}{
		"main part": {
			"<!DOCTYPE html>\n<title>A &amp; B</title>\n<style>p {}</style><script>if (a < b) x()</script>\n<header><h1>Site</h1></header>" +
				"<nav><a href=x.html>x</a></nav>\n<main>\n<h1>A &amp; B</h1>\n<p>One\n  <b>t</b>wo.<aside>ad</aside>\n" +
				"<h2>C</h2>\n<p hidden>no</p>\n<p>Three.<div style='display: none'>no</div></main><footer>f</footer>",
			"A & B", []string{"7-8 One two.", "# C", "11-11 Three."},
		},
		"no main": {"<h1>T</h1><p>a</p><div>b<div>c</div>d</div>e", "T", []string{"1-1 a", "1-1 b", "1-1 c", "1-1 d", "1-1 e"}},
		"small main": {
			"<main><p>x</main><p>" + strings.Repeat("text ", 3), "", []string{"1-1 x", "1-1 text text text"},
		},
		"articles": {
			"<p>beside\n<article><header><h2>First</h2><p>by me</header><p>" + strings.Repeat("a", 20) + "</article>\n<article><h2>Second</h2><p>b</article>", "",
			[]string{"# First", "2-2 by me", "2-2 " + strings.Repeat("a", 20), "# Second", "3-3 b"},
		},
		"lists": {
			"<ul><li>a<li><p>b</p><p>c</p><ol><li>d</li>\n<li>e</li></ol></ul><dl><dt>f<dd>g</dl>", "",
			[]string{"1-1 - a", "1-1 - b", "1-1 c", "1-1   1. d", "2-2   2. e", "2-2 f", "2-2 g"},
		},
		"tables": {
			"<table><tr><th>a<th>b</tr>\n<tr><td><p>1</p><p>2</p></td><td>3</td></tr>\n</table><p>x", "",
			[]string{"1-2 a | b|1 2 | 3", "3-3 x"},
		},
		"layout tables": {
			"<table><tr><td><h1>T</h1><p>" + strings.Repeat("a", 600) + "<p>b</table>c", "T",
			[]string{"1-1 " + strings.Repeat("a", 600), "1-1 b", "1-1 c"},
		},
		"code":        {"<pre>a\n  b &lt; c\n\nd\n</pre><p>e<br>f", "", []string{"1-4 a|  b < c||d", "5-5 e|f"}},
		"inline":      {"<p>a<span aria-hidden=true>#</span>b <button>no</button>c <img alt='an image'>&nbsp;", "", []string{"1-1 ab c an image\u00a0"}},
		"all in nav":  {"<nav><p>a</nav>", "", []string{"1-1 a"}},
		"open nav":    {"<p>a<nav><p>b<nav>c</nav><p>d", "", []string{"1-1 a", "1-1 b", "1-1 c", "1-1 d"}},
		"no markup":   {"a > b & c\n", "", []string{"1-1 a > b & c"}},
		"no entities": {"<!DOCTYPE x [<!ENTITY a \"b\">]><p>&a;&a;", "", []string{"1-1 ]>", "1-1 &a;&a;"}},
		"empty":       {"", "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := parsed(t, HTML, test.in)
			if diff := cmp.Diff(test.want, shown(d)); diff != "" || d.Title != test.title {
				t.Errorf("title %q: %s", d.Title, diff)
			}
		})
	}
}

func TestHTMLMeta(t *testing.T) {
	d := parsed(t, HTML, `<title> a
 b </title><meta name=Keywords content="x, y"><meta name="author" content="me"><meta name=other content=z><h1>c</h1><p>d<a href="e%20f.html#g">h</a>`+
		`<a href="https://x.y/z">i</a><a href="e f.html">j</a>`)
	if d.Title != "a b" || !slices.Equal(d.Tags, []string{"x", "y"}) || len(d.Sections) != 1 || len(d.Meta) != 1 || d.Meta[0].Name != "author" || d.Meta[0].Value != "me" {
		t.Errorf("%+v", d)
	}
	if links := d.Chunks(nil)[0].Links; !slices.Equal(links, []string{"e f.html"}) {
		t.Errorf("links %q", links)
	}
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
