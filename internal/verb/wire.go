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

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
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
