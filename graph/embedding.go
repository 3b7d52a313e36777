package graph

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/ipld"
)

// KindEmbedding is the kind of an embedding's record.
const KindEmbedding = "embedding"

// DType is the form of a vector.
type DType string

// The forms of vectors.
const (
	Int8    DType = "i8"     // one byte a dimension, two's complement, -127 to 127
	Float32 DType = "f32"    // four bytes a dimension, little-endian binary32, finite
	Sparse  DType = "sparse" // one dag-cbor map of term to weight in units of 2^-16
)

// Embedding is the vector of one node by one model.
type Embedding struct {
	Model string // 1 to MaxModel bytes
	DType DType
	Dims  int               // dimensions, or terms of a sparse vector
	Data  []byte            // the vector in the form of DType
	Text  [sha256.Size]byte // TextHash of the node that was embedded
	Extra []ipld.Entry      // unknown fields in canonical order
}

// Term is one entry of a sparse vector.
type Term struct {
	Term   string
	Weight int64 // 1 to math.MaxInt32, in units of 2^-16
}

var embeddingFields = ipld.FieldNames(new(Embedding).fields)

func (e *Embedding) fields(r *ipld.Record) {
	r.Begin(KindEmbedding, recordVersion, &e.Extra)
	ipld.Number(r, "dims", &e.Dims, 0, math.MaxUint32) // Validate is stricter
	r.Fixed("text", e.Text[:])
	r.String("dtype", (*string)(&e.DType))
	r.String("model", &e.Model)
	r.Bytes("vector", &e.Data)
}

// EmbeddingKey returns the key of an embedding in the tree of embeddings: id, then model.
func EmbeddingKey(node ID, model string) []byte {
	return append(append(make([]byte, 0, IDLen+len(model)), node[:]...), model...)
}

// ParseEmbeddingKey reads a key of the tree of embeddings.
func ParseEmbeddingKey(key []byte) (node ID, model string, err error) {
	if len(key) <= IDLen {
		return ID{}, "", Fieldf("", "%x is not a key of an embedding", key)
	}
	model = string(key[IDLen:])
	return ID(key[:IDLen]), model, checkName("model", model, MaxModel)
}

// EmbedText returns the text that an embedding of n represents: context, summary, content, cues, and "NAME: VALUE" of
// each property that is a string, those present, joined by a newline. content is the text of n.Content, "" for none.
func EmbedText(n *Node, content string) string {
	return strings.Join(embedParts(n, content), embedJoint)
}

// TextHash returns the hash of EmbedText's result.
func TextHash(n *Node, content string) [sha256.Size]byte {
	h := sha256.New()
	for i, part := range embedParts(n, content) {
		// Writing to a hash never fails.
		if i > 0 {
			_, _ = io.WriteString(h, embedJoint)
		}
		_, _ = io.WriteString(h, part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// embedJoint separates the parts of an embedded text.
const embedJoint = "\n"

func embedParts(n *Node, content string) []string {
	parts := append([]string{n.Context, n.Summary, content}, n.Cues...)
	for _, p := range n.Props {
		if p.Value.Kind() == ipld.String && p.Value.Text() != "" {
			parts = append(parts, p.Key+": "+p.Value.Text())
		}
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// Validate returns a *FieldError unless e satisfies every rule and limit of the format. Only a valid embedding may
// be encoded.
func (e *Embedding) Validate() error {
	var m meter
	err := cmp.Or(
		checkName("model", e.Model, MaxModel),
		e.checkVector(),
		m.extra(e.Extra, embeddingFields),
	)
	if err != nil {
		return err
	}
	m.text(e.Model)
	m.bytes += len(e.Data)
	return m.fits(e.Encode)
}

func (e *Embedding) checkVector() error {
	most := MaxDims
	if e.DType == Sparse {
		most = MaxTerms
	}
	if e.Dims < 1 || e.Dims > most {
		return Fieldf("dims", "%d is outside 1 to %d", e.Dims, most)
	}
	switch e.DType {
	case Int8:
		return e.checkInt8()
	case Float32:
		return e.checkFloat32()
	case Sparse:
		_, err := e.Terms()
		return err
	}
	return Fieldf("dtype", "%s is none of i8, f32, sparse", quote(string(e.DType)))
}

func (e *Embedding) checkInt8() error {
	if len(e.Data) != e.Dims {
		return Fieldf("vector", "%d bytes for %d dimensions of i8", len(e.Data), e.Dims)
	}
	if bytes.IndexByte(e.Data, 0x80) >= 0 {
		return Fieldf("vector", "holds -128, the one i8 whose negative is none")
	}
	if len(bytes.TrimLeft(e.Data, "\x00")) == 0 {
		return Fieldf("vector", "all zeros")
	}
	return nil
}

func (e *Embedding) checkFloat32() error {
	if len(e.Data) != 4*e.Dims {
		return Fieldf("vector", "%d bytes for %d dimensions of f32", len(e.Data), e.Dims)
	}
	zeros := true
	for at := 0; at < len(e.Data); at += 4 {
		x := float64(math.Float32frombits(binary.LittleEndian.Uint32(e.Data[at:])))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return Fieldf("vector", "NaN or infinity at dimension %d", at/4)
		}
		zeros = zeros && x == 0
	}
	if zeros {
		return Fieldf("vector", "all zeros")
	}
	return nil
}

// Int8 returns a copy of the dimensions of an i8 vector, nil for another form.
func (e *Embedding) Int8() []int8 {
	if e.DType != Int8 {
		return nil
	}
	out := make([]int8, len(e.Data))
	for i, b := range e.Data {
		out[i] = int8(b)
	}
	return out
}

// Terms returns the terms of a sparse vector, shorter terms first and then bytewise, nil for another form. It
// returns a *FieldError if Data is not such a vector of Dims terms.
func (e *Embedding) Terms() ([]Term, error) {
	if e.DType != Sparse {
		return nil, nil
	}
	d, err := ipld.NewDecoder(e.Data)
	if err != nil {
		return nil, Fieldf("vector", "%v", err)
	}
	var terms []Term
	err = d.Map(func(key string) error {
		weight, err := d.Int()
		if err == nil {
			err = CheckTerm(Term{key, weight})
		}
		terms = append(terms, Term{key, weight})
		return err
	})
	if err == nil {
		err = d.End()
	}
	if err == nil && len(terms) != e.Dims {
		err = Fieldf("vector", "%d terms, dims says %d", len(terms), e.Dims)
	}
	if _, ours := err.(*FieldError); err != nil && !ours {
		err = Fieldf("vector", "%v", err)
	}
	return terms, err
}

// CheckTerm returns a *FieldError unless t satisfies the rules for one entry of a sparse vector.
func CheckTerm(t Term) error {
	if err := CheckText("vector", t.Term, 1, MaxTerm); err != nil {
		return err
	}
	if t.Weight < 1 || t.Weight > math.MaxInt32 {
		return Fieldf("vector", "weight %d of %s is outside 1 to %d", t.Weight, quote(t.Term), math.MaxInt32)
	}
	return nil
}

// Encode returns the block of a valid embedding.
func (e *Embedding) Encode() []byte { return ipld.WriteRecord(160+len(e.Model)+len(e.Data), e.fields) }

// DecodeEmbedding decodes the block of an embedding. It returns an error that wraps ipld.ErrInvalid for everything
// that Encode cannot have written. Data is a part of block.
func DecodeEmbedding(block []byte) (*Embedding, error) {
	e := new(Embedding)
	return ipld.ReadRecord(block, e, e.fields, e.Validate)
}

// weightOne is the weight 1.0 of a sparse term.
const weightOne = 1 << 16

// SparseWeight is one entry of a sparse vector as given.
type SparseWeight struct {
	Term   string
	Weight float64
}

// Quantise returns a dense vector as i8, by the rule of package vector. An invalid vector is a *FieldError.
func Quantise(values []float64) ([]int8, error) {
	q, err := vector.Quantise(values)
	if err != nil {
		return nil, Fieldf("vector", "%v", err)
	}
	return q, nil
}

// checkDense returns the *FieldError of a dense vector that Quantise refuses.
func checkDense(values []float64) error {
	if _, err := vector.Largest(values); err != nil {
		return Fieldf("vector", "%v", err)
	}
	return nil
}

// NewDense returns the embedding of a dense vector in the form i8. text is the TextHash of the node.
func NewDense(model string, values []float64, text [32]byte) (*Embedding, error) {
	q, err := Quantise(values)
	if err != nil {
		return nil, err
	}
	data := make([]byte, len(q))
	for i, x := range q {
		data[i] = byte(x)
	}
	e := &Embedding{Model: model, DType: Int8, Dims: len(data), Data: data, Text: text}
	return e, e.Validate()
}

// SparseWeights returns the terms of a sparse vector, shorter first and then bytewise, with
// weights in units of 2^-16: RoundHalfEven(x·65536). A vector without terms or with more than
// MaxTerms, a term twice, and weights that do not round to 1 … 2^31-1 are refused with a
// *FieldError.
func SparseWeights(vector []SparseWeight) ([]Term, error) {
	if len(vector) == 0 || len(vector) > MaxTerms {
		return nil, Fieldf("sparse", "%d terms, want 1 to %d", len(vector), MaxTerms)
	}
	terms := make([]Term, len(vector))
	for i, v := range vector {
		if err := CheckText("sparse", v.Term, 1, MaxTerm); err != nil {
			return nil, err
		}
		scaled := math.RoundToEven(float64(v.Weight * weightOne))
		// The condition is false for NaN.
		if !(scaled >= 1 && scaled <= math.MaxInt32) {
			return nil, Fieldf("sparse."+v.Term, "weight %g is outside 2^-16 to 2^15", v.Weight)
		}
		terms[i] = Term{v.Term, int64(scaled)}
	}
	slices.SortFunc(terms, func(a, b Term) int { return ipld.CompareKeys(a.Term, b.Term) })
	for i := 1; i < len(terms); i++ {
		if terms[i].Term == terms[i-1].Term {
			return nil, Fieldf("sparse."+terms[i].Term, "given twice")
		}
	}
	return terms, nil
}

// NewSparse returns the embedding of a sparse vector. text is the TextHash of the node.
func NewSparse(model string, vector []SparseWeight, text [32]byte) (*Embedding, error) {
	terms, err := SparseWeights(vector)
	if err != nil {
		return nil, err
	}
	data := ipld.AppendMap(nil, len(terms))
	for _, t := range terms {
		data = ipld.AppendInt(ipld.AppendString(data, t.Term), t.Weight)
	}
	e := &Embedding{Model: model, DType: Sparse, Dims: len(terms), Data: data, Text: text}
	return e, e.Validate()
}
