package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/internal/model"
)

const (
	staticVersion = "static-1"
	maxTokenizer  = 64 << 20 // bytes of tokenizer.json; BERT's takes 0.7 MB
	maxTable      = 1 << 30  // bytes of model.safetensors; 63,000 rows of 512 F32 take 129 MB
	maxConfig     = 1 << 20  // bytes of config.json
	// rowBits is the number of bits of the largest integer of a row: enough that a float32 loses
	// nothing that shows in an int8, and 2^20 tokens of them stay exact in a float64.
	rowBits = 23
	// hashChars is the number of hexadecimal digits of the files' hash in the model's name.
	hashChars = 16
	// maxExponent bounds the largest number of a table from both sides as a power of two.
	maxExponent = 500
)

// Names of tensors, by Model2Vec and by sentence-transformers' StaticEmbedding.
const (
	tableName   = "embeddings"
	tableName2  = "embedding.weight"
	weightsName = "weights"
	mappingName = "mapping"
)

// staticEmbedder is a table with a vector for each token.
type staticEmbedder struct {
	model    string
	tok      *tokenizer
	table    tensor
	rows     int
	dims     int
	mapping  []int64 // row of each token; nil: its number
	weights  *tensor // factor of each token; nil: 1
	scale    float64 // a power of two
	progress Progress
}

// OpenStatic opens a directory with tokenizer.json and model.safetensors, as the package documentation says. name is
// the model's name, the directory's base name if empty. progress may be nil. The files are read whole and closed; the
// embedder keeps only the table in memory.
func OpenStatic(dir, name string, progress Progress) (Embedder, error) {
	e, err := openStatic(dir, name, progress)
	if err != nil {
		return nil, fmt.Errorf("open model in %s: %w", dir, err)
	}
	return e, nil
}

func openStatic(dir, name string, progress Progress) (*staticEmbedder, error) {
	name, err := staticName(dir, name)
	if err != nil {
		return nil, err
	}
	config, err := readFile(filepath.Join(dir, "config.json"), maxConfig)
	if err == nil {
		err = checkConfig(config)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	rawTokenizer, err := readFile(filepath.Join(dir, "tokenizer.json"), maxTokenizer)
	if err != nil {
		return nil, hintStatic(dir, fmt.Errorf("tokenizer.json: %w", err))
	}
	tok, err := parseTokenizer(rawTokenizer)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	file, err := readFile(filepath.Join(dir, "model.safetensors"), maxTable)
	if err != nil {
		return nil, hintStatic(dir, fmt.Errorf("model.safetensors: %w", err))
	}
	e := &staticEmbedder{tok: tok, progress: progress}
	if err := e.readTensors(file); err != nil {
		return nil, fmt.Errorf("model.safetensors: %w", err)
	}
	e.model = staticVersion + ":" + name + "@" + contentHash(rawTokenizer, file)
	return e, nil
}

// contentHash names a model by its files: the start of the sha-256 of their two sha-256.
func contentHash(files ...[]byte) string {
	h := sha256.New()
	for _, f := range files {
		sum := sha256.Sum256(f)
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))[:hashChars]
}

// staticName returns the name of the model in dir.
func staticName(dir, name string) (string, error) {
	if dir == "" {
		return "", errors.New("no directory given: want static:DIR")
	}
	if name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		name = filepath.Base(abs)
	}
	bad := strings.ContainsFunc(name, func(r rune) bool { return r == '@' || !unicode.IsPrint(r) })
	bad = bad || !utf8.ValidString(name)
	// The parts around the name take some thirty bytes.
	if len(name) > vector.MaxModel-32 || bad {
		return "", fmt.Errorf("%s cannot be a model's name: give it another", model.Clip(name))
	}
	return name, nil
}

// hintStatic names the directory of the files if they are where another tool puts them.
func hintStatic(dir string, err error) error {
	const inner = "0_StaticEmbedding"
	_, there := os.Stat(filepath.Join(dir, inner, "model.safetensors"))
	if errors.Is(err, fs.ErrNotExist) && there == nil {
		return fmt.Errorf("%w: try its directory %s", err, inner)
	}
	return err
}

// readFile reads a regular file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%d bytes, limit %d", info.Size(), limit)
	}
	// The file may have grown since: one byte more than it had is enough to see that.
	data := make([]byte, info.Size()+1)
	n, err := io.ReadFull(f, data)
	switch {
	case err == nil:
		return nil, errors.New("grew while it was read: try again")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return data[:n:n], nil
	}
	return nil, err
}

// checkConfig reports errors in config.json. Its "normalize" makes no difference: a vector of int8 has no length of its
// own.
func checkConfig(data []byte) error {
	return model.ReadObject(data, func(name string, value json.RawMessage) error {
		if name != "normalize" {
			return nil
		}
		if s := string(value); s != "true" && s != "false" {
			return fmt.Errorf("%s is neither true nor false", model.Clip(s))
		}
		return nil
	})
}

// readTensors reads the tensors of a file.
func (e *staticEmbedder) readTensors(file []byte) error {
	tensors, err := parseSafetensors(file)
	if err != nil {
		return err
	}
	table, ok := tensors[tableName]
	if !ok {
		table, ok = tensors[tableName2]
	}
	if !ok {
		return fmt.Errorf("no tensor %q or %q: there are %s", tableName, tableName2, names(tensors))
	}
	if err := table.checkTable(); err != nil {
		return fmt.Errorf("tensor of the vectors: %w", err)
	}
	e.table, e.rows, e.dims = table, int(table.shape[0]), int(table.shape[1])
	tokens := int64(e.rows)
	if mapping, ok := tensors[mappingName]; ok {
		if e.mapping, err = mapping.intsOf(); err != nil {
			return fmt.Errorf("tensor %q: %w", mappingName, err)
		}
		tokens = int64(len(e.mapping))
		for i, row := range e.mapping {
			if row < 0 || row >= int64(e.rows) {
				return fmt.Errorf("tensor %q: token %d has row %d of %d", mappingName, i, row, e.rows)
			}
		}
	}
	if weights, ok := tensors[weightsName]; ok {
		float := weights.dtype == "F32" || weights.dtype == "F64"
		if !float || len(weights.shape) != 1 || weights.shape[0] != tokens {
			return fmt.Errorf("tensor %q: shape %v of %s: want %d of F32 or F64",
				weightsName, clipShape(weights.shape), weights.dtype, tokens)
		}
		e.weights = &weights
	}
	if top := int64(e.tok.top); top >= tokens {
		return fmt.Errorf("tokenizer.json has a token %d, and there are vectors for %d", top, tokens)
	}
	return e.findScale(int(tokens))
}

// findScale checks every number and finds the power of two that brings the largest one, weighted,
// between 2^22 and 2^23.
func (e *staticEmbedder) findScale(tokens int) error {
	largest, row := make([]float64, e.rows), make([]float64, e.dims)
	for i := range largest {
		e.table.floats(row, i*e.dims)
		for _, x := range row {
			if !(math.Abs(x) <= math.MaxFloat64) {
				return fmt.Errorf("NaN or infinity in row %d", i)
			}
			largest[i] = max(largest[i], math.Abs(x))
		}
	}
	m := 0.0
	for id := range tokens {
		x := math.Abs(float64(e.weight(id) * largest[e.row(id)]))
		if !(x <= math.MaxFloat64) {
			return fmt.Errorf("the weight of token %d is NaN or too large", id)
		}
		m = max(m, x)
	}
	_, exponent := math.Frexp(m)
	if m == 0 || exponent < -maxExponent || exponent > maxExponent {
		return fmt.Errorf("the largest number is %g: not a table of vectors", m)
	}
	e.scale = math.Ldexp(1, rowBits-exponent)
	return nil
}

// row returns the row of a token.
func (e *staticEmbedder) row(id int) int {
	if e.mapping == nil {
		return id
	}
	return int(e.mapping[id])
}

// weight returns the factor of a token.
func (e *staticEmbedder) weight(id int) float64 {
	if e.weights == nil {
		return 1
	}
	var w [1]float64
	e.weights.floats(w[:], id)
	return w[0]
}

func (e *staticEmbedder) Model() string { return e.model }

func (e *staticEmbedder) Dim() int { return e.dims }

func (e *staticEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error) {
	return embedLocal(ctx, texts, kind, e.progress, e.vector)
}

// vector returns the vector of one text: the sum of the rows of its tokens as integers.
func (e *staticEmbedder) vector(s string) ([]int8, error) {
	sums, row := make([]int64, e.dims), make([]float64, e.dims)
	e.tok.tokens(s, func(id int32) { e.addRow(sums, row, int(id)) })
	return vector.QuantiseInts(sums)
}

// addRow adds the integers of a token's row; row is a buffer for its numbers. The conversions round each product
// separately, which forbids fused operations; the product with scale is exact.
func (e *staticEmbedder) addRow(sums []int64, row []float64, id int) {
	w := e.weight(id)
	e.table.floats(row, e.row(id)*e.dims)
	for j, x := range row {
		sums[j] += int64(math.RoundToEven(float64(float64(w*x) * e.scale)))
	}
}
