package stage

import (
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// checkRewritten refuses rewrites of nothing. It needs the text, which Validate does not.
func checkRewritten(r *retrieve.Request) error {
	if isBlank(r.Text) && (len(r.Rewrites) > 0 || r.Rewrite != "") {
		return source.Reject("rewrites", "the request has no text that they could be of: give one")
	}
	return nil
}

// rewriteWarnings returns the warnings about rewriting.
func (f *finder) rewriteWarnings() []retrieve.Warning {
	var out []retrieve.Warning
	if f.req.Rewrite != "" && len(f.req.Rewrites) == 0 {
		way := ipld.Entry{Key: paramWay, Value: ipld.StringValue(f.req.Rewrite)}
		out = append(out, retrieve.Warning{Code: retrieve.NotRewritten, Params: []ipld.Entry{way}})
	}
	if f.vain > 0 {
		out = append(out, warning(retrieve.RewritesInVain, paramRewrites, f.vain))
	}
	return out
}
