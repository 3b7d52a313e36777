package evaluate

import (
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// maxQueries is the largest number of queries in one file, which are held at once.
	maxQueries = 100_000
	// maxGold is the largest number of known answers, and of known sessions, of a query.
	maxGold = 1000
)

// Query is a question and its known answers.
type Query struct {
	complete.Query
	Category string     // "" for none
	Gold     []graph.ID // the nodes that answer it
	Sessions []string   // the keys of their sessions; empty if sessions do not count
	Line     int        // where it stands in its file

	file       string
	names      []string   // of Gold, as they were given
	sessionIDs []graph.ID // of Sessions
}

// ReadQueries reads the lines of a query file: objects with the members qid, text, gold (keys, or ids of nodes without
// one) and if wanted cat, gold_sessions (keys), meta, and the parameters that 'mnem retrieve --batch' takes, which
// replace those of base. Anything else, and what breaks a bound, is a *graph.LineError under the name file.
func ReadQueries(in io.Reader, file string, base retrieve.Request) ([]Query, error) {
	var all []Query
	err := readLines(in, file, func(line []byte, n int) error {
		q, err := parseQuery(line, base)
		if err == nil && len(all) == maxQueries {
			err = graph.Fieldf("", "more than %d queries in one file", maxQueries)
		}
		q.Line = n
		all = append(all, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func parseQuery(text []byte, base retrieve.Request) (Query, error) {
	var q Query
	v, err := ipld.ParseJSON(text)
	if err != nil {
		return q, err
	}
	if q.Query, err = complete.ParseRequestJSON(v, base); err != nil {
		return q, err
	}
	for _, e := range q.Echo {
		switch e.Key {
		case "cat":
			if q.Category = e.Value.Text(); q.Category == "" {
				err = graph.Fieldf("cat", "want a string that is not empty")
			}
		case "gold":
			q.names, err = names(e)
		case "gold_sessions":
			q.Sessions, err = names(e)
		case "meta":
		default:
			err = graph.Fieldf(e.Key, "unknown member")
		}
		if err != nil {
			return q, err
		}
	}
	return q, q.check()
}

func names(e ipld.Entry) ([]string, error) {
	if e.Value.Kind() != ipld.List {
		return nil, graph.Fieldf(e.Key, "%s, want a list of keys", e.Value.Kind())
	}
	list := e.Value.List()
	if len(list) == 0 || len(list) > maxGold {
		return nil, graph.Fieldf(e.Key, "%d keys, want 1 to %d", len(list), maxGold)
	}
	out := make([]string, len(list))
	seen := make(map[string]bool, len(list))
	for i, item := range list {
		name := item.Text()
		if name == "" || len(name) > graph.MaxKey {
			return nil, graph.Fieldf(e.Key, "item %d is not a key: want 1 to %d bytes of text", i+1,
				graph.MaxKey)
		}
		if seen[name] {
			return nil, graph.Fieldf(e.Key, "%q is given twice", name)
		}
		seen[name], out[i] = true, name
	}
	return out, nil
}

// check resolves the known answers and refuses what could not be measured.
func (q *Query) check() error {
	switch {
	case q.ID == "":
		return graph.Fieldf("qid", "want a name for the query")
	case strings.TrimSpace(q.Request.Text) == "":
		return graph.Fieldf("text", "want a question")
	case q.names == nil:
		return graph.Fieldf("gold", "want the keys of the nodes that answer the query")
	}
	if n := q.Request.Limit; n != nil && *n > 0 && *n < far {
		return graph.Fieldf("limit", "%d: the metrics look at the first %d items", *n, far)
	}
	var err error
	if q.Gold, err = nodeIDs("gold", q.names); err != nil {
		return err
	}
	if q.sessionIDs, err = nodeIDs("gold_sessions", q.Sessions); err != nil {
		return err
	}
	for _, name := range q.names {
		if len(q.Sessions) > 0 && !isTurn(name) {
			return graph.Fieldf("gold", "%q is not of the form SESSION:TURN, as it must be with "+
				"gold_sessions", name)
		}
	}
	return nil
}

// nodeIDs returns the ids of the nodes that a member names by key or id.
func nodeIDs(member string, names []string) ([]graph.ID, error) {
	ids := make([]graph.ID, len(names))
	for i, name := range names {
		ids[i] = graph.NodeID(name)
		if graph.ShapedLikeID(name) {
			var err error
			if ids[i], err = graph.ParseID(name); err != nil {
				return nil, fmt.Errorf("%s: %w", member, err)
			}
		}
	}
	return ids, nil
}
