package retrieve

import (
	"fmt"

	"github.com/mnem-project/mnem/ipld"
)

// reject returns a *RequestError of what the engine cannot answer, though the request keeps every bound.
func reject(param, format string, args ...any) error {
	return &RequestError{Param: param, Reason: fmt.Sprintf(format, args...)}
}

// quoted returns s in quotes for an error message, cut to a line's length.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// textList returns strings as one value, for the parameters of warnings.
func textList(list []string) ipld.Value {
	items := make([]ipld.Value, len(list))
	for i, s := range list {
		items[i] = ipld.StringValue(s)
	}
	return ipld.ListValue(items...)
}
