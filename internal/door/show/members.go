package show

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
)

// Members prints any answer for people by what it has: a name and a value a line, and lists of structs as tables under
// their names. The names are those of JSON, with blanks. What is empty is left out. It is for answers that need no
// layout of their own.
func Members[T any](c *Console, answer T) error {
	c.members("", reflect.ValueOf(answer))
	return c.Failed()
}

// members prints the members of a struct, each line after an indent.
func (c *Console) members(indent string, v reflect.Value) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		if text := textOf(v); text != "" {
			c.Put("%s%s\n", indent, text)
		}
		return
	}
	var rows [][]Cell
	flush := func() {
		c.PutTable(rows)
		rows = nil
	}
	each(v, func(name string, value reflect.Value) {
		if text := textOf(value); text != "" {
			rows = append(rows, []Cell{{indent + name, Dim}, {text, ""}})
			return
		}
		if isList(value) && value.Len() > 0 {
			flush()
			c.Put("%s\n", c.Paint(Dim, indent+name))
			c.PutTable(tableOf(indent+"  ", value))
		} else if inner := reflect.Indirect(value); inner.Kind() == reflect.Struct && !isText(inner) && !inner.IsZero() {
			flush()
			c.Put("%s\n", c.Paint(Dim, indent+name))
			c.members(indent+"  ", inner)
		}
	})
	flush()
}

// tableOf returns a list as rows: of structs a column for each member, with a head.
func tableOf(indent string, list reflect.Value) (rows [][]Cell) {
	for i := range list.Len() {
		item := reflect.Indirect(list.Index(i))
		if item.Kind() != reflect.Struct || isText(item) {
			rows = append(rows, []Cell{{indent + textOf(item), ""}})
			continue
		}
		head, row := []Cell{}, []Cell{}
		each(item, func(name string, value reflect.Value) {
			head, row = append(head, Cell{name, Dim}), append(row, Cell{textOf(value), ""})
		})
		if len(row) == 0 {
			continue
		}
		head[0].Text, row[0].Text = indent+head[0].Text, indent+row[0].Text
		if rows == nil {
			rows = append(rows, head)
		}
		rows = append(rows, row)
	}
	return rows
}

// each calls f with the members of a struct that JSON has, embedded ones included.
func each(v reflect.Value, f func(name string, value reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch inner := reflect.Indirect(v.Field(i)); {
		case name == "-":
		case field.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			each(inner, f)
		case field.IsExported() && name != "":
			f(strings.ReplaceAll(name, "_", " "), v.Field(i))
		}
	}
}

func isList(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8
}

// isText reports whether a value says itself how it is as a text.
func isText(v reflect.Value) bool {
	_, stringer := v.Interface().(fmt.Stringer)
	_, marshaler := v.Interface().(encoding.TextMarshaler)
	return stringer || marshaler
}

// textOf returns a value as one safe line, "" for what is empty or has no such form. false is empty too.
func textOf(v reflect.Value) string {
	v = reflect.Indirect(v)
	if !v.IsValid() || v.IsZero() && v.Kind() != reflect.Int {
		return ""
	}
	switch {
	case isText(v):
		return Line(fmt.Sprint(v.Interface()))
	case v.Kind() == reflect.Bool:
		return "yes"
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return Line(string(v.Bytes()))
	case isList(v):
		var parts []string
		for i := range v.Len() {
			item := reflect.Indirect(v.Index(i))
			if !item.IsValid() || item.Kind() == reflect.Struct && !isText(item) {
				return "" // a table
			}
			parts = append(parts, textOf(item))
		}
		return strings.Join(parts, ", ")
	case v.Kind() == reflect.Struct, v.Kind() == reflect.Map, v.Kind() == reflect.Func:
		return ""
	}
	return Line(fmt.Sprint(v.Interface()))
}
