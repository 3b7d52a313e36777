package verb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
)

// EncodeRequest returns a request as another process reads it: an object of the fields that were given
// or are not what they are by default. Who asks is no part of it.
func (s *Spec) EncodeRequest(req any) (json.RawMessage, error) {
	base, err := s.New()
	if err != nil {
		return nil, err
	}
	out, asked := map[string]any{}, paramsOf(req)
	for _, f := range s.Fields() {
		v := f.Value(req)
		if !f.Caller && (asked.Given(f.Name) || !reflect.DeepEqual(v.Interface(), f.Value(base).Interface())) {
			out[f.Parameter()] = v.Interface()
			if x, ok := v.Interface().(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
				out[f.Parameter()] = strconv.FormatFloat(x, 'g', -1, 64) // refused by who knows its bounds
			}
		}
	}
	for name, v := range unnamed(req) {
		if !v.IsZero() {
			out[name] = v.Interface()
		}
	}
	return Encode(out)
}

// unnamed are the fields of a request that no surface fills, by their Go names.
func unnamed(req any) map[string]reflect.Value {
	v, out := reflect.ValueOf(req).Elem(), map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.IsExported() && f.Tag.Get("op") == "-" {
			out[f.Name] = v.FieldByIndex(f.Index)
		}
	}
	return out
}

// UnknownError is returned for a verb, or a field of one, that this build does not have.
type UnknownError struct {
	Verb  string
	Field string // "" if the verb itself is not known
}

func (e *UnknownError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("there is no verb %s", e.Verb)
	}
	return fmt.Sprintf("%s has no field %s", e.Verb, e.Field)
}

// DecodeRequest returns the request that EncodeRequest made, and marks the given fields. An unknown field is
// an *UnknownError.
func (s *Spec) DecodeRequest(data json.RawMessage, given []string) (any, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, fmt.Errorf("read a request of %s: %w", s.Name(), err)
	}
	req, err := s.New()
	if err != nil {
		return nil, err
	}
	fields := unnamed(req)
	for _, f := range s.Fields() {
		if !f.Caller {
			fields[f.Parameter()] = f.Value(req)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) { // so that of several the same is named each time
		v, ok := fields[name]
		if !ok || !decodeField(values[name], v) {
			return nil, &UnknownError{s.Name(), name}
		}
	}
	SetGiven(req, given)
	return req, nil
}

// decodeField reads the value of a field and reports whether it has such values.
func decodeField(data json.RawMessage, v reflect.Value) bool {
	var text string
	if v.Kind() == reflect.Float64 && json.Unmarshal(data, &text) == nil { // of what JSON has no number for
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		return err == nil
	}
	return json.Unmarshal(data, v.Addr().Interface()) == nil
}

// WriteAnswer writes an answer for another process: as JSON in one line, preceded by its type if typed, so
// that ReadAnswers can read it back.
func WriteAnswer(w io.Writer, answer any, typed bool) error {
	if typed {
		if _, err := io.WriteString(w, quote(reflect.TypeOf(answer).Elem().Name())+" "); err != nil {
			return err
		}
	}
	return WriteJSON(w, answer)
}

// ReadAnswers reads the answers that WriteAnswer wrote with their types, and gives each to emit as the verb's
// function returned it. Members that are not known are left out.
func (s *Spec) ReadAnswers(r io.Reader, emit func(any) error) error {
	dec := json.NewDecoder(r)
	for {
		var name string
		if err := dec.Decode(&name); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read an answer of %s: %w", s.Name(), err)
		}
		i := slices.IndexFunc(s.AnswerTypes(), func(t reflect.Type) bool { return t.Name() == name })
		if i < 0 {
			return fmt.Errorf("%w: an answer of the type %s", &UnknownError{Verb: s.Name()}, name)
		}
		answer := reflect.New(s.AnswerTypes()[i])
		end, err := readValue(dec, answer)
		if err == nil {
			err = cmp.Or(emit(answer.Interface()), end())
		}
		if err != nil {
			return err
		}
	}
}

// Failure is an error as one process tells another of it.
type Failure struct {
	Code    string `json:"code"` // of the error table
	Message string `json:"message,omitempty"`
	Hint    string `json:"hint,omitempty"`

	Candidates []operation.Candidate `json:"candidates,omitempty"` // see operation.Error
	// News is whether the answer was given and is bad news.
	News    bool `json:"news,omitempty"`
	Unknown bool `json:"unknown,omitempty"` // see operation.Error
	// Place is the line that the error is about.
	Place operation.Place `json:"place,omitzero"`
	Want  *Want           `json:"want,omitempty"`
	// Unsigned are the records that lack signatures, and Turn a held turn, as in state.UnsignedError.
	Unsigned [][]byte `json:"unsigned,omitempty"`
	Turn     string   `json:"turn,omitempty"`
}

// FailureOf returns the wire form of an error, nil for none. For remote callers it names parameters, not flags.
func FailureOf(ctx context.Context, err error, remote bool) *Failure {
	if err == nil {
		return nil
	}
	out := &Failure{
		Code: OutcomeOf(ctx, err).Code, Message: MessageOf(err, remote), Hint: HintOf(err, remote),
		News: errors.As(err, new(*News)), Candidates: CandidatesOf(err), Unknown: errors.Is(err, store.ErrUnknown),
	}
	errors.As(err, &out.Want)
	if unsigned, ok := errors.AsType[*state.UnsignedError](err); ok {
		out.Unsigned, out.Turn = unsigned.Records, unsigned.Turn
	}
	var done *operation.Error
	var line *graph.LineError
	switch {
	case errors.As(err, &done):
		out.Unknown, out.Place = done.Unknown, done.Place
	case errors.As(err, &line):
		out.Place = operation.Place{Line: line.Line, Name: line.Place()}
	}
	return out
}

// Err returns the error.
func (f *Failure) Err() error {
	switch {
	case f == nil:
		return nil
	case f.Want != nil:
		return f.Want
	case f.Unsigned != nil:
		return &state.UnsignedError{Records: f.Unsigned, Turn: f.Turn}
	}
	row, known := operation.WithCode(f.Code)
	switch {
	case !known:
		row = operation.Failed // of a later build
	case f.News:
		return &News{row}
	}
	return &operation.Error{
		Outcome: row, Message: f.Message, Hint: f.Hint, Place: f.Place, Unknown: f.Unknown, Candidates: f.Candidates,
	}
}

// errForm is returned for an answer that does not match its type.
var errForm = errors.New("the answer does not match its type")

// readValue decodes the output of WriteJSON into a pointer. It reads the lists of an Each lazily and in order, and each
// member after a list once the list was read. end reads the rest.
func readValue(dec *json.Decoder, to reflect.Value) (end func() error, err error) {
	if to.Elem().Kind() != reflect.Struct || !Streams(to.Elem().Type()) {
		return func() error { return nil }, readWhole(dec, to)
	}
	r := &structReader{dec: dec}
	if err := r.delim('{'); err != nil {
		return nil, err
	}
	r.open(to.Elem())
	return r.end, r.next()
}

// readWhole decodes a whole value. Members that its type lacks go to its Inline, if any.
func readWhole(dec *json.Decoder, to reflect.Value) error {
	rest := inlineOf(to.Elem())
	if rest == nil {
		return dec.Decode(to.Interface())
	}
	var all json.RawMessage
	if err := dec.Decode(&all); err != nil {
		return err
	}
	if err := json.Unmarshal(all, to.Interface()); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(all, &members); err != nil {
		return err
	}
	for name, data := range members {
		if memberOf(to.Elem(), name).IsValid() {
			continue
		}
		e := ipld.Entry{Key: name}
		if err := json.Unmarshal(data, &e.Value); err != nil {
			return err
		}
		*rest = append(*rest, e)
	}
	// As a map has them: shorter names first, then bytewise.
	slices.SortFunc(*rest, func(a, b ipld.Entry) int {
		return cmp.Or(cmp.Compare(len(a.Key), len(b.Key)), strings.Compare(a.Key, b.Key))
	})
	return nil
}

// inlineOf returns the Inline of a struct, nil if it has none.
func inlineOf(v reflect.Value) *Inline {
	if v.Kind() != reflect.Struct {
		return nil
	}
	for _, m := range membersOfStruct(v.Type()) {
		if m.inline {
			return v.FieldByIndex(m.path).Addr().Interface().(*Inline)
		}
	}
	return nil
}

type structReader struct {
	dec   *json.Decoder
	stack []reflect.Value // the structs that are read, each a member of the one before
	at    any             // the Each whose items come next, nil for none
}

// open starts reading the members of a struct, and makes its lists readable on demand.
func (r *structReader) open(v reflect.Value) {
	r.stack = append(r.stack, v)
	for _, m := range membersOfStruct(v.Type()) {
		if f, err := v.FieldByIndexErr(m.path); err != nil { // of no embedded struct
			continue
		} else if list, ok := f.Addr().Interface().(lister); ok {
			list.pull(func(item any) (bool, error) { return r.item(list, item) })
		}
	}
}

func (r *structReader) delim(want json.Delim) error {
	got, err := r.dec.Token()
	if err == nil && got != want {
		err = fmt.Errorf("%w: %v for %v", errForm, got, want)
	}
	return err
}

// next reads members up to the next list, or to the end.
func (r *structReader) next() error {
	for len(r.stack) > 0 {
		if !r.dec.More() {
			if err := r.delim('}'); err != nil {
				return err
			}
			r.stack = r.stack[:len(r.stack)-1]
			continue
		}
		token, err := r.dec.Token()
		name, ok := token.(string)
		if err == nil && !ok {
			err = errForm
		}
		if err != nil {
			return err
		}
		v := memberOf(r.stack[len(r.stack)-1], name)
		if !v.IsValid() {
			var unknown json.RawMessage
			err = r.dec.Decode(&unknown)
		} else if list, ok := v.Addr().Interface().(lister); ok {
			r.at = list
			return r.delim('[')
		} else if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct && Streams(v.Type().Elem()) {
			err = r.openPointer(v)
		} else {
			err = r.dec.Decode(v.Addr().Interface())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openPointer starts reading a struct into a new pointer, nil for null.
func (r *structReader) openPointer(v reflect.Value) error {
	switch token, err := r.dec.Token(); {
	case err != nil || token == nil:
		return err
	case token != json.Delim('{'):
		return fmt.Errorf("%w: %v for an object", errForm, token)
	}
	v.Set(reflect.New(v.Type().Elem()))
	r.open(v.Elem())
	return nil
}

// memberOf returns the field of a struct with a JSON name, the zero Value if there is none.
func memberOf(v reflect.Value, name string) reflect.Value {
	for _, m := range membersOfStruct(v.Type()) {
		if m.name == name && !m.inline {
			v, _ = v.FieldByIndexErr(m.path)
			return v
		}
	}
	return reflect.Value{}
}

// item reads the next item of a list, passing over the lists before it. It reports whether there is one.
func (r *structReader) item(of, to any) (more bool, err error) {
	for r.at != nil && r.at != of {
		if err := r.skip(); err != nil {
			return false, err
		}
	}
	switch {
	case r.at == nil:
		return false, nil
	case r.dec.More():
		return true, r.dec.Decode(to)
	}
	return false, r.skip()
}

// skip skips the rest of a list, and reads what follows it.
func (r *structReader) skip() error {
	for r.dec.More() {
		var item json.RawMessage
		if err := r.dec.Decode(&item); err != nil {
			return err
		}
	}
	if err := r.delim(']'); err != nil {
		return err
	}
	r.at = nil
	return r.next()
}

func (r *structReader) end() error {
	for r.at != nil {
		if err := r.skip(); err != nil {
			return err
		}
	}
	return nil
}

// lister is a pointer to an Each of any type.
type lister interface {
	pull(next func(item any) (more bool, err error))
}

func (e *Each[T]) pull(next func(item any) (more bool, err error)) {
	*e = func(yield func(T) error) error {
		for {
			var item T
			more, err := next(&item)
			if err == nil && more {
				err = yield(item)
			}
			if err != nil || !more {
				return err
			}
		}
	}
}
