package asking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	whyWords = 6  // words of the question that a reason names
	whyTitle = 40 // characters of another memory that a reason names
)

// Share shows units of 2^-16 as people read them, with two decimals.
func Share(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 2, 64) }

type reasons struct {
	labels *reading.Labels
	words  map[string]string // of the question, by term
	list   []string
}

func (out *Answer) sayWhy(ctx context.Context, labels *reading.Labels, query string) error {
	words := stage.Surfaces(query)
	for i := range out.Items {
		r := &reasons{labels: labels, words: words}
		if err := r.of(ctx, &out.Items[i]); err != nil {
			return err
		}
		out.Items[i].Why = verb.Text(strings.Join(r.list, "; "))
	}
	return nil
}

func (r *reasons) add(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(r.list, s) {
		r.list = append(r.list, s)
	}
}

func (r *reasons) of(ctx context.Context, it *AnswerItem) error {
	if it.ItemWhy.Tier > 0 {
		r.add("the question names it")
	}
	r.terms(it)
	for _, l := range it.Lanes {
		if err := r.lane(ctx, it, l.LaneHit); err != nil {
			return err
		}
	}
	if b := it.Beam; b != nil {
		if err := r.way(ctx, b.Seed, b.Path); err != nil {
			return err
		}
	}
	for _, o := range []struct {
		id   graph.ID
		says string
	}{{it.Later, "newer than %s"}, {it.Contradicts, "contradicts %s"}} {
		if o.id.IsZero() {
			continue
		}
		title, err := r.title(ctx, o.id)
		if err != nil {
			return err
		}
		r.add(o.says, title)
	}
	if it.Replaced != nil {
		title, err := r.title(ctx, it.Replaced.By)
		if err != nil {
			return err
		}
		r.add("replaced %s by %s", it.Replaced.Time.Std().Format(time.DateOnly), title)
	}
	return nil
}

func (r *reasons) terms(it *AnswerItem) {
	var has []string
	kindred := false
	for _, t := range it.Terms {
		switch {
		case t.Added:
			kindred = true
		case len(has) == whyWords:
		case t.ReadAs != "":
			has = append(has, fmt.Sprintf("'%s' read as '%s'", t.Term, t.ReadAs))
		case r.words[t.Term] != "":
			has = append(has, "'"+r.words[t.Term]+"'")
		default:
			has = append(has, "'"+t.Term+"'")
		}
	}
	if n := len(has); n > 1 {
		has = append(has[:n-2], has[n-2]+" and "+has[n-1])
	}
	if len(has) > 0 {
		r.add("has %s", strings.Join(has, ", "))
	}
	if kindred {
		r.add("has kindred words")
	}
}

// lane says what the place in a lane means. The words of the text lane are said already.
func (r *reasons) lane(ctx context.Context, it *AnswerItem, l retrieve.LaneHit) error {
	_, model := l.Lane.Model()
	switch {
	case l.Lane == retrieve.LaneText, l.Lane == retrieve.LaneExact, l.Lane == retrieve.LaneRecall:
	case model && strings.HasPrefix(string(l.Lane), "dense"):
		r.add("close in meaning (%s)", Share(l.Score))
	case model:
		r.add("shares learned terms (%s)", Share(l.Score))
	case l.Lane == retrieve.LaneTitle:
		r.add("its title is named")
	case l.Lane == retrieve.LaneTime:
		r.add("of the time that is asked for (%s)", Share(l.Score))
	case l.Lane == retrieve.LaneRecency:
		r.add("number %d of the newest", l.Rank)
	case l.Lane == retrieve.LaneRerank:
		r.add("number %d of the reranker (%s)", l.Rank, Share(l.Score))
	case l.Lane == retrieve.LaneExpand:
		if it.Hops != nil {
			return r.way(ctx, it.Seed, it.Path)
		}
	case l.Lane == retrieve.LaneCommunity:
		if m := it.ItemWhy.Community; m != nil {
			title, err := r.title(ctx, m.Seed)
			r.add("in one community with %s", title)
			return err
		}
	default:
		r.add("matches another wording (%s)", Share(l.Score))
	}
	return nil
}

func (r *reasons) way(ctx context.Context, seed graph.ID, path []retrieve.Step) error {
	if len(path) == 0 {
		return nil
	}
	text, err := r.title(ctx, seed)
	for _, s := range path {
		arrow := " <-%s- …"
		if s.Forward {
			arrow = " -%s-> …"
		}
		text += fmt.Sprintf(arrow, cmp.Or(s.Type, "mentions"))
	}
	r.add("linked by %sthis", strings.TrimSuffix(text, "…"))
	return err
}

// title names another memory by its first words, or its key if it has none.
func (r *reasons) title(ctx context.Context, id graph.ID) (string, error) {
	n, err := r.labels.Node(ctx, id)
	if err != nil || n == nil {
		return id.String()[:8], err
	}
	s := cmp.Or(strings.Join(strings.Fields(n.Summary), " "), n.Key)
	if utf8.RuneCountInString(s) > whyTitle {
		s = string([]rune(s)[:whyTitle-1]) + "…"
	}
	return "'" + s + "'", nil
}
