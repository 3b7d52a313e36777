package embed

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/internal/model"
)

// maxHeader is the longest header of a safetensors file: a static model has three tensors, and
// each takes some hundred bytes. The format itself allows 100 MB.
const maxHeader = 1 << 20

// dtypeSizes has the bytes of one number of each type that the format knows.
var dtypeSizes = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "U16": 2, "I16": 2, "F16": 2,
	"BF16": 2, "U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

// tensor is one array of a safetensors file. data is a part of the file.
type tensor struct {
	dtype string
	shape []int64
	data  []byte
}

// rawTensor is a tensor as the header has it.
type rawTensor struct {
	name       string
	dtype      string
	shape      []int64
	begin, end int64
}

// parseSafetensors reads a file of the format: the length of the header (8 bytes, little endian),
// the header (a JSON object of name to dtype, shape and data_offsets), and the bytes of the
// tensors without gaps. Every offset is checked against the file before it is used.
func parseSafetensors(file []byte) (map[string]tensor, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("truncated: %d bytes, and the length of the header takes 8", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	switch {
	case n > maxHeader:
		return nil, fmt.Errorf("header of %d bytes, limit %d", n, maxHeader)
	case n > uint64(len(file)-8):
		return nil, fmt.Errorf("truncated: header of %d bytes, %d there", n, len(file)-8)
	}
	body := file[8+n:]
	raws, err := parseHeader(file[8 : 8+n])
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	slices.SortFunc(raws, func(a, b rawTensor) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	out := make(map[string]tensor, len(raws))
	for _, r := range raws {
		switch {
		case r.end > int64(len(body)):
			return nil, fmt.Errorf("tensor %s: ends at %d, and the file has %d: truncated",
				model.Clip(r.name), r.end, len(body))
		case r.begin < at:
			return nil, fmt.Errorf("tensor %s: overlaps another at %d", model.Clip(r.name), r.begin)
		case r.begin > at:
			return nil, fmt.Errorf("tensor %s: gap before %d", model.Clip(r.name), r.begin)
		}
		at = r.end
		out[r.name] = tensor{r.dtype, r.shape, body[r.begin:r.end]}
	}
	if at != int64(len(body)) {
		return nil, fmt.Errorf("%d bytes after the last tensor", int64(len(body))-at)
	}
	return out, nil
}

func parseHeader(header []byte) ([]rawTensor, error) {
	var out []rawTensor
	err := model.ReadObject(header, func(name string, value json.RawMessage) error {
		if name == "__metadata__" {
			return nil
		}
		r, err := parseTensor(name, value)
		out = append(out, r)
		return err
	})
	return out, err
}

// parseTensor reads what the header says about one tensor, and checks that it agrees with itself.
func parseTensor(name string, value json.RawMessage) (rawTensor, error) {
	r := rawTensor{name: name}
	var shape, offsets []int64
	err := model.Members(value, map[string]any{"dtype": &r.dtype, "shape": &shape, "data_offsets": &offsets},
		errors.New("not a field of a tensor"))
	if err != nil {
		return r, err
	}
	size, known := dtypeSizes[r.dtype]
	if !known {
		return r, fmt.Errorf("unknown dtype %s", model.Clip(r.dtype))
	}
	if len(offsets) != 2 || offsets[0] < 0 || offsets[1] < offsets[0] {
		return r, fmt.Errorf("data_offsets %v: want begin and end", offsets)
	}
	if shape == nil {
		return r, errors.New("no shape")
	}
	for _, n := range shape {
		if n < 0 || n > 0 && size > math.MaxInt64/n {
			return r, fmt.Errorf("shape %v is too large", clipShape(shape))
		}
		size *= n
	}
	r.shape, r.begin, r.end = shape, offsets[0], offsets[1]
	if r.end-r.begin != size {
		return r, fmt.Errorf("%d bytes for shape %v of %s, want %d", r.end-r.begin, clipShape(shape), r.dtype, size)
	}
	return r, nil
}

// clipShape keeps errors short.
func clipShape(shape []int64) []int64 { return shape[:min(len(shape), 8)] }

// floats fills dst with the numbers from number first on of a tensor of floats or bytes, each as the float64 it is.
func (t *tensor) floats(dst []float64, first int) {
	le := binary.LittleEndian
	switch t.dtype {
	case "F64":
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(t.data[8*(first+i):]))
		}
	case "F32":
		for i := range dst {
			dst[i] = float64(math.Float32frombits(le.Uint32(t.data[4*(first+i):])))
		}
	case "BF16":
		for i := range dst {
			bits := uint32(le.Uint16(t.data[2*(first+i):])) << 16
			dst[i] = float64(math.Float32frombits(bits))
		}
	case "F16":
		for i := range dst {
			dst[i] = halfFloat(le.Uint16(t.data[2*(first+i):]))
		}
	default: // I8, by the checks of those who call
		for i := range dst {
			dst[i] = float64(int8(t.data[first+i]))
		}
	}
}

// halfFloat returns the value of an IEEE 754 binary16. Every one is a float64.
func halfFloat(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	x := 0.0
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		if x = math.Inf(1); fraction != 0 {
			return math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		return -x
	}
	return x
}

// checkTable refuses a tensor that is not a table of vectors.
func (t *tensor) checkTable() error {
	if !slices.Contains([]string{"F32", "F16", "BF16", "I8"}, t.dtype) {
		return fmt.Errorf("dtype %s is not supported: want F32, F16, BF16 or I8", t.dtype)
	}
	if len(t.shape) != 2 {
		return fmt.Errorf("shape %v: want rows and dimensions", clipShape(t.shape))
	}
	if rows := t.shape[0]; rows < 1 || rows > maxVocab {
		return fmt.Errorf("%d rows, want 1 to %d", rows, maxVocab)
	}
	if dims := t.shape[1]; dims < 1 || dims > vector.MaxDims {
		return fmt.Errorf("%d dimensions, want 1 to %d", dims, vector.MaxDims)
	}
	return nil
}

// intsOf returns the numbers of a list of integers.
func (t *tensor) intsOf() ([]int64, error) {
	if len(t.shape) != 1 || !slices.Contains([]string{"I32", "I64"}, t.dtype) {
		return nil, fmt.Errorf("shape %v of %s: want a list of I32 or I64", clipShape(t.shape), t.dtype)
	}
	out := make([]int64, t.shape[0])
	for i := range out {
		if t.dtype == "I32" {
			out[i] = int64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
		} else {
			out[i] = int64(binary.LittleEndian.Uint64(t.data[8*i:]))
		}
	}
	return out, nil
}

// names lists the tensors of a file for an error.
func names(tensors map[string]tensor) string {
	var all []string
	for name := range tensors {
		all = append(all, model.Clip(name))
	}
	slices.Sort(all)
	if len(all) > 8 {
		all = append(all[:8], "…")
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
