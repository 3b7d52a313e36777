package source

import (
	"fmt"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Reject returns a *RequestError of what the engine cannot answer, though the request keeps every bound.
func Reject(param, format string, args ...any) error {
	return &retrieve.RequestError{Param: param, Reason: fmt.Sprintf(format, args...)}
}

// Quoted returns s in quotes for an error message, cut to a line's length.
func Quoted(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// TextList returns strings as one value, for the parameters of warnings.
func TextList(list []string) ipld.Value {
	items := make([]ipld.Value, len(list))
	for i, s := range list {
		items[i] = ipld.StringValue(s)
	}
	return ipld.ListValue(items...)
}
