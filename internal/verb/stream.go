package verb

import (
	"io"
	"reflect"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// Each is a list of an answer that is made while it is written, so that an answer of any length is never
// held. What follows it in the answer may be filled in by it.
type Each[T any] func(yield func(T) error) error

func (e Each[T]) each(yield func(any) error) error {
	return e(func(v T) error { return yield(v) })
}

// eacher is an Each of any type.
type eacher interface {
	each(yield func(any) error) error
}

// WriteJSON writes an answer as JSON in one line, without raw controls and bidirectional marks. One with an Each, which is a pointer to a struct, is
// written member by member, the items of that one by one.
func WriteJSON(w io.Writer, v any) error {
	if err := writeValue(w, reflect.ValueOf(v)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

var eachType = reflect.TypeFor[eacher]()

// Streams reports whether a struct, or one in it, has an Each.
func Streams(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.IsExported() && f.Tag.Get("json") != "-" &&
			(f.Type.Implements(eachType) || inner.Kind() == reflect.Struct && inner != t && Streams(inner)) {
			return true
		}
	}
	return false
}

func writeValue(w io.Writer, v reflect.Value) error {
	if v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.Struct &&
		Streams(v.Elem().Type()) {
		s := &structWriter{to: w}
		s.write("{")
		s.members(v.Elem())
		s.write("}")
		return s.err
	}
	if !v.IsValid() {
		_, err := io.WriteString(w, "null")
		return err
	}
	data, err := Encode(v.Interface())
	if err == nil {
		_, err = w.Write(text.EscapeJSON(data))
	}
	return err
}

// structWriter writes the members of a struct. Its first error stops it.
type structWriter struct {
	to    io.Writer
	begun bool
	err   error
}

func (s *structWriter) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.to, text)
	}
}

func (s *structWriter) members(v reflect.Value) {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case s.err != nil || !f.IsExported() || name == "-":
			continue
		case f.Anonymous && name == "":
			if value.Kind() == reflect.Pointer {
				value = value.Elem()
			}
			s.members(value)
			continue
		case strings.HasPrefix(options, "omit") && value.IsZero():
			continue
		}
		if s.begun {
			s.write(",")
		}
		s.begun = true
		s.write(quote(name) + ":")
		if list, ok := value.Interface().(eacher); ok {
			s.list(list)
		} else if s.err == nil {
			s.err = writeValue(s.to, value)
		}
	}
}

func (s *structWriter) list(list eacher) {
	s.write("[")
	first := true
	err := list.each(func(item any) error {
		if !first {
			s.write(",")
		}
		first = false
		if s.err == nil {
			s.err = writeValue(s.to, reflect.ValueOf(item))
		}
		return s.err
	})
	if s.err == nil {
		s.err = err
	}
	s.write("]")
}
