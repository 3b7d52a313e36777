package verb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/ipld"
)

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
