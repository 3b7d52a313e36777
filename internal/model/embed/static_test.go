package embed

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// part is a tensor to write.
type part struct {
	name, dtype string
	shape       []int64
	data        []byte
}

// safetensorsOf writes a file of the format.
func safetensorsOf(parts ...part) []byte {
	header, body := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for _, p := range parts {
		header[p.name] = map[string]any{
			"dtype": p.dtype, "shape": p.shape,
			"data_offsets": []int{len(body), len(body) + len(p.data)},
		}
		body = append(body, p.data...)
	}
	h, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return append(withHeader(string(h)), body...)
}

func withHeader(h string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...)
}

// encodeFloats writes numbers that fit the type exactly.
func encodeFloats(dtype string, xs []float64) []byte {
	var out []byte
	for _, x := range xs {
		switch bits := math.Float32bits(float32(x)); dtype {
		case "F64":
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
		case "F32":
			out = binary.LittleEndian.AppendUint32(out, bits)
		case "BF16":
			out = binary.LittleEndian.AppendUint16(out, uint16(bits>>16))
		case "F16":
			exponent := uint16(bits>>23&255) - 127 + 15
			if x == 0 {
				exponent = 0
			}
			half := uint16(bits>>16&0x8000) | exponent<<10 | uint16(bits>>13&1023)
			out = binary.LittleEndian.AppendUint16(out, half)
		case "I8":
			out = append(out, byte(int8(x)))
		}
	}
	return out
}

func tableOf(dtype string, dims int64, xs []float64) part {
	return part{"embeddings", dtype, []int64{int64(len(xs)) / dims, dims}, encodeFloats(dtype, xs)}
}

// modelDir writes a directory of a model.
func modelDir(t testing.TB, tokenizer string, tensors []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	must.OK(t, os.Mkdir(dir, 0o755))
	for name, data := range map[string][]byte{
		"tokenizer.json": []byte(tokenizer), "model.safetensors": tensors,
		"config.json": []byte(`{"model_type":"model2vec","normalize":true,"hidden_dim":4}`),
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	return dir
}

var tinyTable = []float64{
	9, 9, 9, 9, // [UNK], which never counts
	1, -0.5, 0.25, 0, // a
	-1, -0.5, 2, 4, // b
	0, 3, 0, -4, // ##b
}

var tinyTokenizer = small(okModel, okNorm, okPre, "[]")

// TestStatic checks the vectors of a small model in each form of its table.
func TestStatic(t *testing.T) {
	want := map[string][]int8{
		"a":                   {127, -64, 32, 0}, // 63.5 to even, 31.75
		"B":                   {-32, -16, 64, 127},
		"a, b? zz":            {0, -32, 71, 127}, // 0 -1 2.25 4; "zz" and the marks are unknown
		"ab":                  {32, 79, 8, -127}, // 1 2.5 0.25 -4
		"zz \U0001f642 [UNK]": nil,
		"":                    nil,
		" \t ":                nil,
		"a a a b bb":          quantised(t, 3-2, -1.5-1+3, 0.75+4, 8-4),
		"a b\u00e1 a b":       quantised(t, 2-1, -1-0.5, 0.5+2, 4), // no piece for the á: unknown
	}
	for _, dtype := range []string{"F32", "F16", "BF16"} {
		dir := modelDir(t, tinyTokenizer, safetensorsOf(tableOf(dtype, 4, tinyTable)))
		e := must.Get(OpenStatic(dir, "", nil))(t, dtype)
		if e.Dim() != 4 || !strings.HasPrefix(e.Model(), "static-1:tiny@") || len(e.Model()) != 30 {
			t.Errorf("%s: model %s of %d dimensions", dtype, e.Model(), e.Dim())
		}
		for s, v := range want {
			must.Same(t, embedOne(t, e, s), v, dtype, " of ", s)
		}
	}
}

// quantised returns the vector of exact numbers by the rule of the specification, in big numbers.
func quantised(t *testing.T, xs ...float64) []int8 {
	t.Helper()
	m := 0.0
	for _, x := range xs {
		m = max(m, math.Abs(x))
	}
	out := make([]int8, len(xs))
	for i, x := range xs {
		r := new(big.Rat).SetFloat64(x)
		r.Mul(r, big.NewRat(127, 1)).Quo(r, new(big.Rat).SetFloat64(m))
		f, _ := r.Float64()
		out[i] = int8(math.RoundToEven(f))
	}
	return out
}

// TestStaticInt8 has a table of bytes, a mapping of tokens to rows, and weights.
func TestStaticInt8(t *testing.T) {
	rows := tableOf("I8", 2, []float64{127, -128, 3, 5})
	mapping := part{"mapping", "I64", []int64{4}, make([]byte, 32)}
	mapping.data[8], mapping.data[16] = 0, 1
	weights := part{"weights", "F64", []int64{4}, encodeFloats("F64", []float64{1, 0.5, -2, 1})}
	file := safetensorsOf(rows, mapping, weights)
	e := must.Get(OpenStatic(modelDir(t, tinyTokenizer, file), "other", nil))(t)
	for s, xs := range map[string][]float64{
		"a": {63.5, -64}, "b": {-6, -10}, "a b b": {51.5, -84}, "ab": {190.5, -192},
	} {
		must.Same(t, embedOne(t, e, s), quantised(t, xs...), s)
	}
	mapping32 := part{"mapping", "I32", []int64{4}, make([]byte, 16)}
	mapping32.data[8] = 1
	file = safetensorsOf(rows, mapping32, weights)
	same := must.Get(OpenStatic(modelDir(t, tinyTokenizer, file), "other", nil))(t)
	must.Same(t, embedOne(t, e, "a b"), embedOne(t, same, "a b"), "mapping of I32")
	if e.Model() == same.Model() {
		t.Errorf("two contents have the name %s", e.Model())
	}
}

// TestModel2Vec opens what the reference implementation saved and compares with its vectors, which
// were made with floats: no number of an int8 may be more than one away.
func TestModel2Vec(t *testing.T) {
	e := must.Get(OpenStatic("testdata/model2vec", "", nil))(t)
	// sha256sum of the two files' sums, computed outside.
	must.Equal(t, e.Model(), "static-1:model2vec@c9e5d3a14f7136e4", "model")
	data := must.Get(os.ReadFile("testdata/model2vec/vectors.jsonl"))(t)
	cases, none := 0, 0
	for line := range strings.Lines(string(data)) {
		var c struct {
			Text   string
			Vector []float64
		}
		must.OK(t, json.Unmarshal([]byte(line), &c))
		got, m := embedOne(t, e, c.Text), 0.0
		for _, x := range c.Vector {
			m = max(m, math.Abs(x))
		}
		cases++
		if m == 0 {
			none++
			must.True(t, got == nil, "%q: %v, want no vector", c.Text, got)
			continue
		}
		for i, x := range c.Vector {
			if want := x / m * 127; math.Abs(want-float64(got[i])) > 1 {
				t.Errorf("%q: number %d is %d, want %.2f", c.Text, i, got[i], want)
			}
		}
	}
	must.True(t, cases >= 7 && none >= 2, "%d cases, %d without a vector", cases, none)
}

// TestHalfFloat compares every binary16 with the sum of its parts.
func TestHalfFloat(t *testing.T) {
	for bits := range 1 << 16 {
		got := halfFloat(uint16(bits))
		sign, exponent, fraction := 1.0, bits>>10&31, bits&1023
		if bits>>15 == 1 {
			sign = -1
		}
		want := sign * float64(1024+fraction) * math.Pow(2, float64(exponent-25))
		switch {
		case exponent == 0:
			want = sign * float64(fraction) * math.Pow(2, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			must.Require(t, math.IsNaN(got), "%04x = %g, want NaN", bits, got)
			continue
		}
		must.Require(t, got == want && math.Signbit(got) == math.Signbit(want),
			"%04x = %g, want %g", bits, got, want)
	}
}

func TestStaticName(t *testing.T) {
	tensors := safetensorsOf(tableOf("F32", 4, tinyTable))
	dir := modelDir(t, tinyTokenizer, tensors)
	open := func(dir, name string) string {
		e := must.Get(OpenStatic(dir, name, nil))(t)
		return e.Model()
	}
	here := open(dir, "")
	must.Equal(t, open(modelDir(t, tinyTokenizer, tensors), ""), here, "the same files elsewhere")
	must.OK(t, os.Remove(filepath.Join(dir, "config.json")))
	must.Equal(t, open(dir+"/.", ""), here, "without config.json")
	spaced := open(modelDir(t, tinyTokenizer+"\n", tensors), "")
	must.True(t, spaced != here && strings.HasPrefix(spaced, "static-1:tiny@"),
		"another tokenizer.json: %s, was %s", spaced, here)
	for _, bad := range []string{"a@b", "a\nb", "\xff", strings.Repeat("x", 224)} {
		_, err := OpenStatic(dir, bad, nil)
		must.True(t, failsWith(err, "give it another"), "name %.10q: %v", bad, err)
	}
	if _, err := OpenStatic("", "x", nil); !failsWith(err, "static:DIR") {
		t.Errorf("no directory: %v", err)
	}
}

func TestStaticRefusesFiles(t *testing.T) {
	tensors := safetensorsOf(tableOf("F32", 4, tinyTable))
	change := func(name string, do func(path string) error) error {
		dir := modelDir(t, tinyTokenizer, tensors)
		must.OK(t, do(filepath.Join(dir, name)))
		return must.Err(OpenStatic(dir, "", nil))
	}
	for _, name := range []string{"tokenizer.json", "model.safetensors"} {
		err := change(name, os.Remove)
		must.True(t, errors.Is(err, fs.ErrNotExist) && failsWith(err, name), "no %s: %v", name, err)
	}
	for _, name := range []string{"tokenizer.json", "model.safetensors", "config.json"} {
		folder := func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }
		err := change(name, folder)
		must.True(t, failsWith(err, "not a regular"), "%s is a folder: %v", name, err)
	}
	large := func(path string) error { return os.Truncate(path, maxTable+1) }
	if err := change("model.safetensors", large); !failsWith(err, "limit") {
		t.Errorf("huge: %v", err)
	}
	for config, want := range map[string]string{
		`{"normalize":"yes"}`: "neither true nor false", `{"normalize":tru`: "config.json",
		`[]`: "not a JSON object",
	} {
		write := func(path string) error { return os.WriteFile(path, []byte(config), 0o644) }
		err := change("config.json", write)
		must.True(t, failsWith(err, want), "%s: %v", config, err)
	}
	hint := func(path string) error {
		inner := filepath.Join(filepath.Dir(path), "0_StaticEmbedding")
		to := filepath.Join(inner, "model.safetensors")
		return errors.Join(os.Mkdir(inner, 0o755), os.Rename(path, to))
	}
	if err := change("model.safetensors", hint); !failsWith(err, "try its directory") {
		t.Errorf("hint: %v", err)
	}
}

// TestStaticTensorNames opens the table under the name that sentence-transformers uses.
func TestStaticTensorNames(t *testing.T) {
	table := tableOf("F32", 4, tinyTable)
	table.name = "embedding.weight"
	must.Get(OpenStatic(modelDir(t, tinyTokenizer, safetensorsOf(table)), "", nil))(t)
}

// zeroTable is a file with a table of zeros.
func zeroTable(dtype string, shape ...int64) []byte {
	size := dtypeSizes[dtype]
	for _, n := range shape {
		size *= n
	}
	return safetensorsOf(part{"embeddings", dtype, shape, make([]byte, size)})
}

func TestStaticRefusesTensors(t *testing.T) {
	table := tableOf("F32", 4, tinyTable)
	with := func(p part) []byte { return safetensorsOf(table, p) }
	ints := func(xs ...byte) []byte {
		var out []byte
		for _, x := range xs {
			out = append(out, x, 0, 0, 0)
		}
		return out
	}
	spoiled := func(x float64) []byte {
		xs := slices.Clone(tinyTable)
		xs[5] = x
		return safetensorsOf(tableOf("F32", 4, xs))
	}
	weights := func(xs ...float64) part {
		return part{"weights", "F64", []int64{int64(len(xs))}, encodeFloats("F64", xs)}
	}
	cases := []struct {
		file []byte
		want string
	}{
		{nil, "truncated"},
		{safetensorsOf(), "there are none"},
		{
			safetensorsOf(part{"x", "U8", []int64{0}, nil}, part{"y", "U8", []int64{1}, []byte{1}}),
			`there are "x", "y"`,
		},
		{zeroTable("F64", 1, 1), "want F32, F16, BF16 or I8"},
		{zeroTable("F32", 4), "want rows and dimensions"},
		{zeroTable("F32", 0, 4), "0 rows"},
		{zeroTable("F32", 4, 0), "0 dimensions"},
		{zeroTable("I8", 1, 65537), "65537 dimensions"},
		{safetensorsOf(tableOf("F32", 4, tinyTable[:8])), "has a token 3, and there are vectors for 2"},
		{safetensorsOf(tableOf("F32", 4, make([]float64, 16))), "the largest number is 0"},
		{spoiled(math.NaN()), "NaN or infinity in row 1"},
		{spoiled(math.Inf(-1)), "NaN or infinity in row 1"},
		{with(part{"mapping", "I32", []int64{4}, ints(0, 1, 4, 0)}), "token 2 has row 4 of 4"},
		{with(part{"mapping", "I32", []int64{1, 4}, ints(0, 1, 2, 0)}), "want a list of I32 or I64"},
		{with(part{"mapping", "F32", []int64{4}, ints(0, 1, 2, 0)}), "want a list of I32 or I64"},
		{with(part{"mapping", "I32", []int64{3}, ints(0, 1, 2)}), "vectors for 3"},
		{with(weights(1, 1, 1)), "want 4 of F32 or F64"},
		{with(part{"weights", "F16", []int64{4}, make([]byte, 8)}), "want 4 of F32 or F64"},
		{with(weights(1, math.NaN(), 1, 1)), "weight of token 1"},
		{with(weights(1, 1, math.Inf(1), 1)), "weight of token 2"},
		{with(weights(1, 1, 1e300, 1)), "not a table of vectors"},
		{with(weights(0, 0, 0, 0)), "not a table of vectors"},
	}
	for i, c := range cases {
		_, err := OpenStatic(modelDir(t, tinyTokenizer, c.file), "", nil)
		must.True(t, failsWith(err, c.want), "case %d: error %v, want %q", i, err, c.want)
	}
}

func TestSafetensorsRefuses(t *testing.T) {
	entry := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"t":{"dtype":"%s","shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	two := `{"a":{"dtype":"U8","shape":[4],"data_offsets":[%d,%d]},` +
		`"b":{"dtype":"U8","shape":[4],"data_offsets":[%d,%d]}}`
	body := func(h string, n int) []byte { return append(withHeader(h), make([]byte, n)...) }
	cases := []struct {
		file []byte
		want string
	}{
		{[]byte("1234567"), "truncated"},
		{[]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "limit"},
		{binary.LittleEndian.AppendUint64(nil, maxHeader+1), "limit"},
		{binary.LittleEndian.AppendUint64(nil, maxHeader), "truncated"},
		{withHeader("{}")[:9], "truncated"},
		{withHeader("nonsense"), "invalid character"},
		{withHeader(`{"t":{"dtype":"U8"`), "truncated JSON"},
		{withHeader(strings.Repeat("[", 20000)), "not a JSON object"},
		{withHeader(`{"t":` + strings.Repeat("[", 20000)), "exceeded max depth"},
		{withHeader(`{"t":1}`), "not a JSON object"},
		{body(entry("F33", "[1]", "[0,4]"), 4), `unknown dtype "F33"`},
		{body(entry("F32", "[1]", "[0,4]"), 3), "truncated"},
		{body(entry("F32", "[1]", "[0,4]"), 5), "1 bytes after"},
		{body(entry("F32", "[2]", "[0,4]"), 4), "want 8"},
		{body(entry("F32", "[-1]", "[0,4]"), 4), "too large"},
		{body(entry("F32", "[4294967296,4294967296,4294967296]", "[0,4]"), 4), "too large"},
		{body(entry("U8", "[9223372036854775807]", "[0,9223372036854775807]"), 4), "truncated"},
		{body(entry("F32", "[1]", "[4,0]"), 4), "want begin and end"},
		{body(entry("F32", "[1]", "[-4,0]"), 4), "want begin and end"},
		{body(entry("F32", "[1]", "[0]"), 4), "want begin and end"},
		{body(entry("F32", "[1]", "[0,1e30]"), 4), "cannot unmarshal"},
		{body(entry("F32", "null", "[0,4]"), 4), "no shape"},
		{body(`{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 1), "not a field"},
		{body(`{"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), "there twice"},
		{body(fmt.Sprintf(two, 0, 4, 2, 6), 6), "overlaps"},
		{body(fmt.Sprintf(two, 0, 4, 0, 4), 4), "overlaps"},
		{body(fmt.Sprintf(two, 0, 4, 5, 9), 9), "gap"},
		{body(fmt.Sprintf(two, 5, 9, 1, 5), 9), "gap"},
	}
	for i, c := range cases {
		_, err := parseSafetensors(c.file)
		must.True(t, failsWith(err, c.want), "case %d: error %v, want %q", i, err, c.want)
	}
	swapped := must.Get(parseSafetensors(body(fmt.Sprintf(two, 4, 8, 0, 4), 8)))(t, "tensors in another order")
	must.Equal(t, len(swapped), 2, "tensors in another order")
}

func FuzzSafetensors(f *testing.F) {
	f.Add(safetensorsOf(tableOf("F32", 4, tinyTable)), "a ab b")
	f.Add(safetensorsOf(tableOf("I8", 2, []float64{1, 2, 3, 4, 5, 6, 7, 8})), "b")
	weights := part{"weights", "F32", []int64{4}, make([]byte, 16)}
	f.Add(safetensorsOf(tableOf("F16", 4, tinyTable), weights), "a")
	f.Fuzz(func(t *testing.T, file []byte, s string) {
		tok := must.Get(parseTokenizer([]byte(tinyTokenizer)))(t)
		e := &staticEmbedder{tok: tok, model: "m"}
		if e.readTensors(file) != nil {
			return
		}
		vs, err := e.Embed(context.Background(), []string{s}, Query)
		if errors.Is(err, ErrText) {
			return
		}
		if err != nil || vs[0] != nil && len(vs[0]) != e.dims {
			t.Fatalf("%v, %v", vs, err)
		}
	})
}
