package bench

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/cli"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/internal/show"
	"github.com/mnem-project/mnem/retrieve"
)

// altitudeBudget is the usual budget of altitude in tokens: less than what is found.
const altitudeBudget = 256

func altitudeCommand(h *cli.Host) *cobra.Command {
	var budget, limit int
	cmd := &cobra.Command{
		Use:   "altitude DIR [flags]",
		Short: "Measure how much of the evidence is printed, at each altitude",
		Long: "DIR holds files NAME.changes.jsonl with change lines and, for each, questions: NAME.queries.jsonl\n" +
			"as 'mnem-bench eval' reads it, NAME.broad.jsonl or both. The latter has one object a line:\n\n" +
			"  qid     the name of the question\n" +
			"  text    the question, a broad one\n" +
			"  points  the points of a good answer: a list of lists, each with different wordings of one point\n\n" +
			"Each NAME becomes a temporary repository in memory, and each question is asked at each altitude. The\n" +
			"output has means over the questions:\n\n" +
			"  evidence    the share of the rare terms and numbers of the gold nodes that are printed. A term is\n" +
			"              rare if at most one of 50 nodes has it, or only one\n" +
			"  points      the share of the points of a broad question of which a wording is printed\n" +
			"  tokens      tokens of the answer\n" +
			"  digests     answers that contain a digest\n" +
			"  points/100  points per 100 tokens, over all broad questions",
		Example: "  mnem-bench altitude .\n" +
			"  mnem-bench altitude . --budget 512",
		Args: cli.Positionals("DIR [flags]"),
	}
	cmd.Flags().IntVar(&budget, "budget", altitudeBudget, "at most `N` tokens an answer; 0 for no budget")
	cmd.Flags().IntVar(&limit, "limit", retrieve.DefaultLimit, "at most `N` items an answer; 0 for no limit")
	return h.Command(cmd, func(cmd *cobra.Command, args []string) error {
		base := retrieve.Request{Limit: &limit, Budget: &budget}
		if err := base.Validate(); err != nil {
			return cli.Usagef("%w", err)
		}
		set, done := h.Progress()
		defer done()
		rows, err := evaluate.Altitudes(cmd.Context(), os.DirFS(h.Absolute(args[0])), evaluate.Options{
			Base: base, Shown: filepath.ToSlash(args[0]), Progress: set,
		})
		if err != nil {
			return err
		}
		if h.InJSON {
			return h.PrintJSON(altitudesJSON(rows, limit, budget))
		}
		return printAltitudes(h, rows)
	})
}

type altitudeJSON struct {
	Limit  int               `json:"limit"`
	Budget int               `json:"budget"`
	Rows   []altitudeRowJSON `json:"rows"`
}

type altitudeRowJSON struct {
	Altitude  string            `json:"altitude"`
	Questions altitudePartJSON  `json:"questions"`
	Broad     altitudeBroadJSON `json:"broad"`
}

type altitudePartJSON struct {
	Count    int          `json:"count"`
	Digests  int          `json:"digests"`
	Evidence *json.Number `json:"evidence"`
	Tokens   *json.Number `json:"tokens"`
}

type altitudeBroadJSON struct {
	Count   int          `json:"count"`
	Digests int          `json:"digests"`
	Points  *json.Number `json:"points"`
	Tokens  *json.Number `json:"tokens"`
	Each    *json.Number `json:"points_per_100_tokens"`
}

// optional is a figure that there may be none of.
func optional(r *big.Rat) *json.Number {
	if r == nil {
		return nil
	}
	return figure(r)
}

func altitudesJSON(rows []evaluate.AltitudeRow, limit, budget int) *altitudeJSON {
	out := &altitudeJSON{Limit: limit, Budget: budget}
	for _, r := range rows {
		out.Rows = append(out.Rows, altitudeRowJSON{
			string(r.Altitude), altitudePartJSON{r.Questions, r.Digests, optional(r.Evidence), optional(r.Tokens)},
			altitudeBroadJSON{r.Broad, r.Above, optional(r.Points), optional(r.Broader), optional(r.Each)},
		})
	}
	return out
}

func printAltitudes(h *cli.Host, rows []evaluate.AltitudeRow) error {
	var table [][]show.Cell
	line := func(texts []string, style string) {
		var cells []show.Cell
		for _, text := range texts {
			cells = append(cells, show.CellOf(plain.Line(text), style))
		}
		table = append(table, cells)
	}
	text := func(r *big.Rat, decimals int) string {
		if r == nil {
			return "-"
		}
		return r.FloatString(decimals)
	}
	line([]string{"altitude", "questions", "evidence", "tokens", "digests", "broad", "points", "tokens", "digests",
		"points/100"}, show.Dim)
	for _, r := range rows {
		line([]string{
			string(r.Altitude), strconv.Itoa(r.Questions), text(r.Evidence, benchDecimals), text(r.Tokens, 1),
			strconv.Itoa(r.Digests), strconv.Itoa(r.Broad), text(r.Points, benchDecimals), text(r.Broader, 1),
			strconv.Itoa(r.Above), text(r.Each, benchDecimals),
		}, "")
	}
	return h.Table(table)
}
