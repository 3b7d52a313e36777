package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestOpen(t *testing.T) {
	dir := modelDir(t, tinyTokenizer, safetensorsOf(tableOf("F32", 4, tinyTable)))
	long := strings.Repeat("m", graph.MaxModel-48)
	cases := []struct {
		spec, model string
		opt         OpenOptions
		dim         int
	}{
		{"hash", "hash-1:en", OpenOptions{}, 512},
		{"hash:en", "hash-1:en", OpenOptions{}, 512},
		{"hash:none", "hash-1:none", OpenOptions{}, 512},
		{"static:" + dir, "static-1:tiny@", OpenOptions{}, 4},
		{"static:" + dir, "static-1:mine@", OpenOptions{Name: "mine"}, 4},
		{"ollama:nomic-embed-text", "ollama:nomic-embed-text#", OpenOptions{}, 0},
		{"ollama:nomic-embed-text:latest", "ollama:nomic-embed-text#", OpenOptions{}, 0},
		{"ollama:x:v1.5", "ollama:x:v1.5", OpenOptions{}, 0},
		{"openai:x:latest", "openai:x:latest", OpenOptions{}, 0},
		{"openai:org/x@https://host/v1", "openai:org/x", OpenOptions{}, 0},
		{"openai:x@y@http://[::1]:1", "openai:x@y", OpenOptions{}, 0},
		{"ollama:org/E5-base:latest@http://host", "ollama:org/E5-base#", OpenOptions{}, 0},
		{"ollama:" + long, "ollama:" + long, OpenOptions{}, 0},
	}
	for _, c := range cases {
		e, err := Open(c.spec, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		exact := !strings.HasSuffix(c.model, "@") && !strings.HasSuffix(c.model, "#")
		if !strings.HasPrefix(e.Model(), c.model) || exact && e.Model() != c.model || e.Dim() != c.dim {
			t.Errorf("%s: %s of %d dimensions, want %s of %d", c.spec, e.Model(), e.Dim(), c.model, c.dim)
		}
		emb, err := graph.NewDense(e.Model(), []float64{1}, [32]byte{})
		must.OK(t, err, e.Model(), " makes no record: ", emb)
	}
}

// TestIdentityOfPrefixes checks that two pairs of prefixes never share a name by being joined.
func TestIdentityOfPrefixes(t *testing.T) {
	seen := map[string]prefixes{}
	for _, pair := range []prefixes{{"", ""}, {"ab", ""}, {"", "ab"}, {"a", "b"}, {"b", "a"}} {
		id := identity(&ollama, "m", pair)
		other, twice := seen[id]
		must.True(t, !twice, "%q and %q are both %s", pair, other, id)
		seen[id] = pair
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, spec := range []string{"", "hash:", "Hash", "onnx:m", "ollama2:m", ":", "\x1b[31m"} {
		_, err := Open(spec, OpenOptions{})
		must.True(t, errors.Is(err, ErrProvider) && !strings.ContainsRune(err.Error(), '\x1b'), "%q: %v", spec, err)
		for _, form := range Specs() {
			must.True(t, strings.Contains(err.Error(), form), "%q: %v does not name %s", spec, err, form)
		}
	}
	key := func(o OpenOptions) OpenOptions { o.Key = testKey; return o }
	cases := []struct {
		spec string
		opt  OpenOptions
		want string
	}{
		{"hash:de", OpenOptions{}, "known are en and none"},
		{"static:", OpenOptions{}, "want static:DIR"},
		{"static:/nowhere/at/all", OpenOptions{}, "tokenizer.json"},
		{"ollama", OpenOptions{}, "no model given"},
		{"openai:", OpenOptions{}, "no model given"},
		{"ollama:a b", OpenOptions{}, "no name of a model"},
		{"ollama:a\n", OpenOptions{}, "no name of a model"},
		{"ollama:" + strings.Repeat("m", graph.MaxModel), OpenOptions{}, "no name of a model"},
		{"ollama:m", OpenOptions{ProviderOptions: model.ProviderOptions{URL: "127.0.0.1:11434"}}, "base URL"},
		{"ollama:m", OpenOptions{ProviderOptions: model.ProviderOptions{URL: "ftp://host"}}, "want http://HOST"},
		{"ollama:m", OpenOptions{ProviderOptions: model.ProviderOptions{URL: "http://"}}, "want http://HOST"},
		{"openai:m", OpenOptions{ProviderOptions: model.ProviderOptions{URL: "https://me:" + testKey + "@host"}}, "holds a user"},
		{"openai:m", OpenOptions{ProviderOptions: model.ProviderOptions{URL: "https://me:" + testKey + "@host:port"}}, "cannot be read"},
		{"openai:m", OpenOptions{ProviderOptions: model.ProviderOptions{URL: "https://host/?key=" + testKey}}, "query"},
		{"openai:m", key(OpenOptions{ProviderOptions: model.ProviderOptions{URL: "http://host"}}), "over http"},
		{"openai:m", OpenOptions{ProviderOptions: model.ProviderOptions{Key: testKey + "\n"}}, "a line end"},
		{"openai:m", OpenOptions{ProviderOptions: model.ProviderOptions{Key: testKey + "é"}}, "not ASCII"},
		{"ollama:m@ftp://host", OpenOptions{}, "want http://HOST"},
		{"ollama:@http://host", OpenOptions{}, "no model given"},
		{"openai:m@https://me:" + testKey + "@host", OpenOptions{}, "holds a user"},
		{"openai:m@http://host", key(OpenOptions{}), "over http"},
		{"ollama:m", OpenOptions{Batch: 5000}, "Batch is"},
		{"ollama:m", OpenOptions{ProviderOptions: model.ProviderOptions{Attempts: 21}}, "Attempts is"},
		{"ollama:m", OpenOptions{ProviderOptions: model.ProviderOptions{Timeout: -time.Second}}, "Timeout is"},
		{"ollama:m", OpenOptions{ProviderOptions: model.ProviderOptions{MaxAnswer: -1}}, "MaxAnswer is"},
	}
	for _, c := range cases {
		_, err := Open(c.spec, c.opt)
		must.True(t, failsWith(err, c.want) && !strings.Contains(err.Error(), testKey),
			"%.40s: %v, want %q", c.spec, err, c.want)
	}
}

func TestKeyInClear(t *testing.T) {
	for url, fine := range map[string]bool{
		"http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost": true,
		"https://host": true, "http://host": false, "http://10.0.0.1": false,
	} {
		opt := OpenOptions{ProviderOptions: model.ProviderOptions{URL: url, Key: testKey}}
		_, err := Open("ollama:m", opt)
		must.True(t, (err == nil) == fine, "%s: %v", url, err)
	}
}

// TestSecretStaysHidden prints all that holds a key by every verb.
func TestSecretStaysHidden(t *testing.T) {
	opt := OpenOptions{ProviderOptions: model.ProviderOptions{Key: testKey}}
	e := must.Get(Open("openai:m", opt))(t)
	for _, v := range []any{opt, &opt, opt.Key, e, struct{ inner Embedder }{e}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			s := fmt.Sprintf(verb, v)
			asHex := strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", testKey))
			must.True(t, !asHex && !strings.Contains(s, testKey), "%s of %T shows the key", verb, v)
		}
	}
	data, err := json.Marshal(opt.Key)
	must.True(t, err == nil && string(data) == `"(hidden)"` && model.Secret("").String() == "",
		"JSON %s, %v", data, err)
}

// TestEmbedderContract runs what every provider promises on each of them.
func TestEmbedderContract(t *testing.T) {
	dir := modelDir(t, tinyTokenizer, safetensorsOf(tableOf("F32", 4, tinyTable)))
	p := newProvider(t)
	opt := OpenOptions{ProviderOptions: model.ProviderOptions{URL: p.URL}}
	ctx := context.Background()
	for _, spec := range []string{"hash", "hash:none", "static:" + dir, "ollama:m", "openai:m"} {
		calls := 0
		opt.Progress = func(done, total int) { calls++ }
		e := must.Get(Open(spec, opt))(t)
		if vs, err := e.Embed(ctx, nil, Document); err != nil || len(vs) != 0 || calls != 0 {
			t.Errorf("%s of no texts: %v, %v, %d calls", spec, vs, err, calls)
		}
		vs, err := e.Embed(ctx, []string{"a b", "", "\n"}, Query)
		if err != nil || len(vs) != 3 || len(vs[0]) != e.Dim() || vs[1] != nil || vs[2] != nil || calls != 1 {
			t.Errorf("%s: %v, %v, %d calls", spec, vs, err, calls)
		}
		for _, bad := range []string{"\xff", strings.Repeat("a", MaxText+1)} {
			_, err := e.Embed(ctx, []string{"a", bad}, Query)
			must.Fail(t, err, ErrText, spec)
		}
		must.True(t, must.Err(e.Embed(ctx, []string{"a"}, Kind(9))) != nil, "%s took a kind that is none", spec)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_, err = e.Embed(gone, []string{"a"}, Query)
		must.Fail(t, err, context.Canceled, spec)
	}
	must.True(t, Document.String() == "document" && Query.String() == "query" && Kind(9).String() == "kind 9",
		"names of kinds")
}
