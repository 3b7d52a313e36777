package bench

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/internal/cli"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/internal/show"
)

// digestsOptions are the flags of digests as they are given.
type digestsOptions struct {
	vary   string
	weight string // that is varied, "" for none
	values []int64
}

// maxWeight is the largest value of a weight.
const maxWeight = 1 << 10

func digestsCommand(h *cli.Host) *cobra.Command {
	opt := &digestsOptions{}
	cmd := &cobra.Command{
		Use:   "digests DIR [flags]",
		Short: "Compare digests with written summaries",
		Long: "DIR holds pairs of files, NAME.changes.jsonl with change lines and NAME.summaries.jsonl with an\n" +
			"object a line: session, the key of a node that contains others, and summary, a written summary of\n" +
			"these. Each pair becomes a temporary repository in memory, and the digest of each session, of at most\n" +
			fmt.Sprintf("%d tokens, is compared with its summary. For comparison, other methods choose from the same\n", distill.ClusterTokens) +
			"sentences, with the same number of tokens:\n\n" +
			"  lead      the first sentences\n" +
			"  random    random ones\n" +
			"  textrank  those that share many terms with many others\n" +
			"  lexrank   those that resemble many others, by the cosines of their rare terms\n\n" +
			"The output has the means of\n\n" +
			"  ROUGE-1   the share of the summary's words that the text contains\n" +
			"  ROUGE-L   the share that it contains in the same order\n" +
			"  tokens    tokens of the text\n\n" +
			"and the difference between digests and the best other method, with a 95% interval from 10,000 samples\n" +
			"of the differences, drawn with a fixed seed. Words are compared unstemmed.\n\n" +
			"--vary measures digests with each of several values of a weight: " + strings.Join(distill.WeightNames, ", ") + ".\n" +
			"For each conversation it prints its figures and those of all others: a value chosen on the others\n" +
			"shows on this conversation what a new one can expect.",
		Example: "  mnem-bench digests .\n" +
			"  mnem-bench digests . --vary first=0,8",
		Args: cli.Positionals("DIR [flags]"),
	}
	cmd.Flags().StringVar(&opt.vary, "vary", "", "measure with each of these values of a weight, `NAME=V1,V2...`")
	return h.Command(cmd, func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("vary") {
			if err := opt.read(); err != nil {
				return err
			}
		}
		return runDigests(h, cmd, args[0], opt)
	})
}

// read reads what is varied.
func (opt *digestsOptions) read() error {
	name, list, ok := strings.Cut(opt.vary, "=")
	texts := strings.Split(list, ",")
	if _, known := distill.DefaultWeights().With(name, 0); !ok || !known || len(texts) > maxVaried {
		return cli.Usagef("--vary: want NAME=V1,V2... with at most %d values, NAME one of %s",
			maxVaried, strings.Join(distill.WeightNames, ", "))
	}
	opt.weight = name
	for _, text := range texts {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 || n > maxWeight {
			return cli.Usagef("--vary: %q is not an integer from 0 to %d", text, maxWeight)
		}
		opt.values = append(opt.values, n)
	}
	return nil
}

func runDigests(h *cli.Host, cmd *cobra.Command, dir string, opt *digestsOptions) error {
	set, done := h.Progress()
	defer done()
	with := evaluate.DigestOptions{Shown: filepath.ToSlash(dir), Progress: set}
	out := &digestsOut{opt: opt}
	for _, value := range append([]int64{}, opt.values...) {
		with.Weights, _ = distill.DefaultWeights().With(opt.weight, value)
		report, err := evaluate.Digests(cmd.Context(), os.DirFS(h.Absolute(dir)), with)
		if err != nil {
			return err
		}
		out.reports = append(out.reports, report)
	}
	if opt.weight == "" {
		report, err := evaluate.Digests(cmd.Context(), os.DirFS(h.Absolute(dir)), with)
		if err != nil {
			return err
		}
		out.reports = append(out.reports, report)
	}
	if h.InJSON {
		return h.PrintJSON(out.json())
	}
	return out.print(h)
}

// digestsOut is what digests prints: one report, or one for each value of a weight.
type digestsOut struct {
	opt     *digestsOptions
	reports []*evaluate.DigestReport
}

// digestsRow is a row of figures: of a method over all scopes, over those of a file or over all others.
type digestsRow struct {
	file   string // "" for all
	others bool
	method string
	*evaluate.DigestRow
}

func (o *digestsOut) rows(r *evaluate.DigestReport) (out []digestsRow) {
	add := func(file string, others bool, method int, keep func(*evaluate.DigestScore) bool) {
		if row := r.Row(method, keep); row != nil {
			out = append(out, digestsRow{file, others, r.Methods[method], row})
		}
	}
	methods := len(r.Methods)
	if o.opt.weight != "" {
		methods = 1
	}
	for i, name := range r.Files {
		for m := range methods {
			add(name, false, m, func(s *evaluate.DigestScore) bool { return s.File == i })
		}
		if o.opt.weight != "" {
			add(name, true, 0, func(s *evaluate.DigestScore) bool { return s.File != i })
		}
	}
	for m := range methods {
		add("", false, m, func(*evaluate.DigestScore) bool { return true })
	}
	return out
}

type digestsJSON struct {
	Weights map[string]int64    `json:"weights"`
	Rows    []digestsRowJSON    `json:"rows,omitempty"`
	Gain    *digestsGainJSON    `json:"gain,omitempty"`
	Weight  string              `json:"weight,omitempty"`
	Varied  []digestsVariedJSON `json:"varied,omitempty"`
}

type digestsRowJSON struct {
	File   *string      `json:"file"`
	Others bool         `json:"others"`
	Method string       `json:"method"`
	Scopes int          `json:"scopes"`
	One    *json.Number `json:"rouge_1"`
	L      *json.Number `json:"rouge_l"`
	Tokens *json.Number `json:"tokens"`
}

// digestsGainJSON says how far digests are above the best baseline.
type digestsGainJSON struct {
	Over string       `json:"over"`
	Mean *json.Number `json:"rouge_l"`
	From *json.Number `json:"from"`
	To   *json.Number `json:"to"`
}

type digestsVariedJSON struct {
	Value int64            `json:"value"`
	Rows  []digestsRowJSON `json:"rows"`
}

func figure(r *big.Rat) *json.Number { return jsonFigure(r.FloatString(figureDecimals)) }

func (o *digestsOut) json() *digestsJSON {
	out := &digestsJSON{Weights: distill.DefaultWeights().Map(), Weight: o.opt.weight}
	for i, r := range o.reports {
		var rows []digestsRowJSON
		for _, row := range o.rows(r) {
			rows = append(rows, digestsRowJSON{
				orNull(row.file), row.others, row.method, row.Scopes, figure(row.One), figure(row.L), figure(row.Tokens),
			})
		}
		if o.opt.weight != "" {
			out.Varied = append(out.Varied, digestsVariedJSON{o.opt.values[i], rows})
			continue
		}
		best, gain := r.Gain()
		out.Rows = rows
		out.Gain = &digestsGainJSON{r.Methods[best], figure(gain.Mean), figure(gain.From), figure(gain.To)}
	}
	return out
}

func (o *digestsOut) print(h *cli.Host) error {
	names := []string{"conversation", "method", "sessions", "ROUGE-1", "ROUGE-L", "tokens"}
	if o.opt.weight != "" {
		names = append([]string{o.opt.weight}, names...)
	}
	table := [][]show.Cell{show.HeadRow(names...)}
	for i, r := range o.reports {
		for _, row := range o.rows(r) {
			var cells []show.Cell
			if o.opt.weight != "" {
				cells = append(cells, show.CellOf(strconv.FormatInt(o.opt.values[i], 10), ""))
			}
			name := plain.Line(row.file)
			switch {
			case row.file == "":
				name = "all"
			case row.others:
				name = "  others than " + name
			}
			cells = append(cells, show.CellOf(name, show.Bold), show.CellOf(plain.Line(row.method), ""))
			for _, text := range []string{
				strconv.Itoa(row.Scopes), row.One.FloatString(benchDecimals), row.L.FloatString(benchDecimals),
				row.Tokens.FloatString(1),
			} {
				cells = append(cells, show.CellOf(text, ""))
			}
			table = append(table, cells)
		}
	}
	if err := h.Table(table); err != nil || o.opt.weight != "" {
		return err
	}
	r := o.reports[0]
	best, gain := r.Gain()
	h.Remark("ROUGE-L of digests less that of %s: %s, 95%% from %s to %s", r.Methods[best], gain.Mean.FloatString(benchDecimals),
		gain.From.FloatString(benchDecimals), gain.To.FloatString(benchDecimals))
	return nil
}
