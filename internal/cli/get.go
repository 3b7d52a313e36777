package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// nodeHeadJSON and nodeTailJSON are a node without its content, in two parts so that each answer
// has its members in the order that docs/cli.md gives.
type nodeHeadJSON struct {
	ID      string          `json:"id"`
	Key     *string         `json:"key"`
	Type    string          `json:"type"`
	Summary *string         `json:"summary"`
	Context *string         `json:"context"`
	Props   json.RawMessage `json:"props"`
}

type nodeTailJSON struct {
	Created   string    `json:"created"`
	Updated   *string   `json:"updated"`
	ValidFrom *string   `json:"validFrom"`
	ValidTo   *string   `json:"validTo"`
	Sources   []string  `json:"sources"`
	Mark      *markJSON `json:"mark"`
	CID       string    `json:"cid"`
}

// nodeJSON is a node as ls prints it.
type nodeJSON struct {
	nodeHeadJSON
	nodeTailJSON
}

// markJSON is the mark of a node or edge.
type markJSON struct {
	State  graph.State `json:"state"`
	By     *string     `json:"by"`
	Reason *string     `json:"reason"`
	Actor  string      `json:"actor"`
	Time   string      `json:"time"`
}

func jsonMark(m *graph.Mark) *markJSON {
	if m == nil {
		return nil
	}
	out := &markJSON{m.State, nil, orNull(m.Reason), m.Actor, m.Time.String()}
	if !m.By.IsZero() {
		out.By = orNull(m.By.String())
	}
	return out
}

func jsonNode(n *graph.Node, id ipld.CID, m *graph.Mark) nodeJSON {
	return nodeJSON{
		nodeHeadJSON{
			ID: n.ID.String(), Key: orNull(n.Key), Type: n.Type, Summary: orNull(n.Summary),
			Context: orNull(n.Context), Props: jsonProps(n.Props),
		},
		nodeTailJSON{
			Created: n.Created.String(), Updated: jsonTime(n.Updated),
			ValidFrom: jsonTime(n.ValidFrom), ValidTo: jsonTime(n.ValidTo),
			Sources: append([]string{}, n.Sources...), Mark: jsonMark(m), CID: id.String(),
		},
	}
}

// wholeNodeJSON is a node as get and show print it.
type wholeNodeJSON struct {
	nodeHeadJSON
	Content *string `json:"content"`
	nodeTailJSON
	Media  *string `json:"media"`
	Commit *string `json:"commit"`
}

// wholeNode is everything there is about one node.
type wholeNode struct {
	node    *graph.Node
	cid     ipld.CID
	mark    *graph.Mark
	content string
	commit  ipld.CID
}

func (w *wholeNode) json() wholeNodeJSON {
	parts := jsonNode(w.node, w.cid, w.mark)
	out := wholeNodeJSON{
		nodeHeadJSON: parts.nodeHeadJSON, nodeTailJSON: parts.nodeTailJSON,
		Commit: jsonCID(w.commit),
	}
	if w.node.Content != nil {
		out.Content = &w.content
		out.Media = orNull(w.node.Content.Media)
	}
	return out
}

// text is the node as it is rendered, uncut, with every line there is.
func (w *wholeNode) text(adj retrieve.Adjacency) string {
	return retrieve.Render(w.node, w.mark, retrieve.RenderOptions{
		Show:    []string{retrieve.ShowTimes, retrieve.ShowKey, retrieve.ShowContent},
		Content: w.content, Adjacency: adj,
	})
}

// forgotten reports whether a node is only to be seen by who asks for what is forgotten.
func (w *wholeNode) forgotten(let []graph.State) bool {
	return w.mark != nil && w.mark.State == graph.Forgotten && !slices.Contains(let, graph.Forgotten)
}

// readNode reads the node that a name means.
func readNode(ctx context.Context, s *repo.Snapshot, name string) (*wholeNode, error) {
	id, err := s.Name(ctx, name)
	if err != nil {
		return nil, nodeHint(err)
	}
	w := &wholeNode{commit: s.CID()}
	if w.node, w.cid, err = s.Node(ctx, id); err != nil {
		return nil, err
	}
	if red, err := s.Redaction(ctx, w.cid); err != nil || red != nil {
		return nil, firstError(err, redactedError{red})
	}
	if w.mark, err = s.Mark(ctx, graph.OnNode, id); err != nil {
		return nil, err
	}
	w.content, err = s.Content(ctx, w.node.Content)
	return w, err
}

// redactedError says why, when and by whom what is asked for was purged.
type redactedError struct{ red *commit.Redaction }

func (e redactedError) Error() string { return e.red.String() }

func (e redactedError) Is(target error) bool { return target == store.ErrRedacted }

func nodeHint(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return hint(err, "a node is named by its exact key, its id or at least 4 digits of it; "+
			"'mnem ls' lists them")
	}
	return err
}

func (c *cli) getCommand() *cobra.Command {
	var field string
	var marks []string
	var importance bool
	var now string
	cmd := &cobra.Command{
		Use:     "get NODE [flags]",
		GroupID: groupRead,
		Short:   "Print one node, or one field of it",
		Long: "Print a node with everything in it. NODE is its exact key, its id, or at least 4 hex digits\n" +
			"that only its id begins with; key:NAME and id:ID force one reading.\n\n" +
			"--field prints the value of one field and nothing else: text as it is (escaped only on a\n" +
			"terminal), other values as JSON. Fields are those of the JSON form; a property is props.NAME.\n\n" +
			"A forgotten node is not found without --include forgotten. Other marked ones are printed with\n" +
			"a line that says so.\n\n" +
			"--importance tells the effective importance at --now and what it is made of: the importance\n" +
			"that the node states, how often it was said again or used, its age by the half-life of its\n" +
			"type, and its links. It is worked out when it is asked for and stored nowhere.",
		Example: "  mnem get alice\n  mnem get alice --field props.role\n  mnem get alice --importance\n" +
			"  mnem get svc/billing --at HEAD~1 --json\n  mnem get bob --include forgotten",
		Args: cobra.ExactArgs(1),
	}
	c.atFlag(cmd)
	cmd.Flags().StringVar(&field, "field", "", "print the value of this `FIELD` alone")
	marksFlag(cmd, &marks)
	cmd.Flags().BoolVar(&importance, "importance", false, "tell the effective importance, too")
	cmd.Flags().StringVar(&now, "now", "", "`TIME` that the importance is of, RFC 3339 or YYYY-MM-DD "+
		"(default: now)")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("field") && !isField(field) {
			return usagef("--field: no field %q: want one of %s or props.NAME", field,
				strings.Join(fieldNames(), ", "))
		}
		if importance && field != "" {
			return usagef("--field and --importance exclude each other")
		}
		if now != "" && !importance {
			return usagef("--now is for --importance")
		}
		at, err := c.nowFlag(now)
		if err != nil {
			return err
		}
		let, err := parseMarks(marks)
		if err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			w, err := readNode(ctx, s, args[0])
			switch {
			case err != nil:
				return err
			case w.forgotten(let):
				return hint(&repo.NotFoundError{What: "node", Name: args[0]},
					"it is forgotten: --include forgotten prints it, 'mnem restore %s' brings it back",
					w.node.ID)
			case field != "":
				return c.printField(w, field, args[0])
			case importance:
				return c.printImportant(ctx, s, w, at)
			case c.global.json:
				return c.printJSON(w.json())
			}
			return c.printf("%s", w.text(retrieve.Adjacency{}))
		})
	})
}

// nodeFields are the members of wholeNodeJSON that a field of a node may name.
func nodeFields(w *wholeNodeJSON) map[string]any {
	return map[string]any{
		"id": w.ID, "key": w.Key, "type": w.Type, "summary": w.Summary, "context": w.Context,
		"props": w.Props, "content": w.Content, "media": w.Media, "created": w.Created,
		"updated": w.Updated, "validFrom": w.ValidFrom, "validTo": w.ValidTo,
		"sources": w.Sources, "mark": w.Mark, "cid": w.CID, "commit": w.Commit,
	}
}

func fieldNames() []string {
	return []string{
		"id", "key", "type", "summary", "context", "props", "content", "media", "created",
		"updated", "validFrom", "validTo", "sources", "mark", "cid", "commit",
	}
}

func isField(name string) bool {
	if prop, ok := strings.CutPrefix(name, propPrefix); ok {
		return prop != ""
	}
	_, ok := nodeFields(&wholeNodeJSON{})[name]
	return ok
}

// printField prints one value. A field that the node does not have is not found.
func (c *cli) printField(w *wholeNode, field, name string) error {
	missing := &repo.NotFoundError{What: "field", Name: field + " of " + name}
	var v any
	if prop, ok := strings.CutPrefix(field, propPrefix); ok {
		value, ok := ipld.FindEntry(w.node.Props, prop)
		if !ok {
			return missing
		}
		v = jsonValue(&value)
		if value.Kind() == ipld.String {
			v = value.Text()
		}
	} else {
		whole := w.json()
		v = nodeFields(&whole)[field]
	}
	if p, ok := v.(*string); ok {
		if p == nil {
			return missing
		}
		v = *p
	}
	if m, ok := v.(*markJSON); ok && m == nil {
		return missing
	}
	s, isText := v.(string)
	if !isText || c.global.json {
		return c.printJSON(v)
	}
	if c.app.OutTTY {
		s = printable(s)
	}
	return c.printf("%s\n", s)
}
