package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/retrieve"
)

type answersOptions struct {
	*reach.Retrieval
	cues, also, vectors, misses bool
	verb                        string
	vary                        string
	constant                    string // that is varied, "" for none
	values                      []int64
}

// maxVaried is how many values a constant is measured with at most.
const maxVaried = 100

func answersCommand(h *reach.Host) *cobra.Command {
	opt := &answersOptions{}
	cmd := &cobra.Command{
		Use:   "answers DIR... [flags]",
		Short: "Measure what an agent is shown, on memories written as agents write them",
		Long: "Each DIR is a set of files with one object a line:\n\n" +
			"  memories.jsonl   key, text, type and time\n" +
			"  questions.jsonl  qid, kind, text and gold: the keys that the answer needs, none if the memory has\n" +
			"                   no answer; optional: ok, keys that may be shown too, and old, keys that gold\n" +
			"                   has made outdated\n" +
			"  cues.jsonl       for --cues: key and cues\n" +
			"  also.jsonl       for --also: qid and also, other wordings of the question\n" +
			"  vectors.jsonl    for --vectors: id and vector. The id is a qid or a key; with --cues, a key followed\n" +
			"                   by \"+cues\"\n\n" +
			"Memories are remembered one by one in order of time, as by 'mnem remember', in a temporary repository\n" +
			"in memory. Each question is asked a day after the last memory, as by 'mnem recall'. Items that are no\n" +
			"memories, such as entities, count as neither gold nor ok. The output has means over the questions\n" +
			"that have the figure:\n\n" +
			"  R@1, R@5, R@10  the share of gold among the first k items, counting at most k of gold\n" +
			"  MRR             1/rank of the first item of gold\n" +
			"  prec, tprec     the share of gold and ok among printed items, and among their tokens\n" +
			"  noise           items that are neither\n" +
			"  silent          questions without gold for which nothing is presented as an answer\n" +
			"  muted           questions with gold for which nothing is presented as an answer\n" +
			"  hint            muted questions with an item of gold that may be an answer\n" +
			"  stale           questions with old for which an old item comes before gold, or without gold, and\n" +
			"                  is not marked as outdated\n" +
			"  known, lost     questions with gold whose verdict is known, or unknown\n" +
			"  right           of the known ones, those with an item of gold among the first two\n" +
			"  false           questions without gold whose verdict is known\n" +
			"  items, tokens   what is printed\n\n" +
			"Each row is for one set, for the questions of one kind, or for all, with half of the 95% interval for\n" +
			"R@5 and silent.\n\n" +
			"--vary measures all sets with each of several values of a constant of the ranking, in units of\n" +
			"2^-16 (next: in fifths). An unknown NAME lists the constants. For each set it prints its figures and\n" +
			"those of all other sets: a value chosen on the others shows on this set what a new memory can expect.",
		Example: "  mnem-bench answers memory\n" +
			"  mnem-bench answers memory --cues --also --misses\n" +
			"  mnem-bench answers memory --verb retrieve --floor rest --limit 40\n" +
			"  mnem-bench answers memory --also --vary of-best=32768,45875",
		Args: line.Positionals("DIR... [flags]"),
	}
	opt.Retrieval = h.RetrievalFlags(cmd, retrieve.DefaultLimit, retrieve.DefaultBudget,
		"also", "exclude", "intent", "now", "order", "unseen")
	f := cmd.Flags()
	f.BoolVar(&opt.cues, "cues", false, "remember each memory with its cues")
	f.BoolVar(&opt.also, "also", false, "ask each question in its other wordings too")
	f.BoolVar(&opt.vectors, "vectors", false, "rank by the vectors of the set too")
	f.BoolVar(&opt.misses, "misses", false, "list the questions without all of gold in the first five items")
	f.StringVar(&opt.verb, "verb", "recall", "ask as `VERB` does: recall or retrieve")
	f.StringVar(&opt.vary, "vary", "", "measure with each of these values of a constant, `NAME=V1,V2...`")
	return h.Command(cmd, func(cmd *cobra.Command, args []string) error {
		return runAnswers(h, cmd, args, opt)
	})
}

func runAnswers(h *reach.Host, cmd *cobra.Command, dirs []string, opt *answersOptions) error {
	if err := opt.check(cmd.Flags().Changed("vary")); err != nil {
		return err
	}
	base, err := opt.Request(false)
	if err != nil {
		return err
	}
	if opt.verb == "recall" {
		base.Intent = retrieve.IntentAuto
	}
	out := &answersOut{opt: opt, base: base}
	if err := out.measure(cmd.Context(), h, dirs); err != nil {
		return err
	}
	if h.InJSON {
		return h.PrintJSON(out.json())
	}
	return out.print(h)
}

// check reads the flags that are this command's own.
func (opt *answersOptions) check(varies bool) error {
	if opt.verb != "recall" && opt.verb != "retrieve" {
		return reach.Usagef("--verb: %q is not recall or retrieve", opt.verb)
	}
	if varies {
		name, list, ok := strings.Cut(opt.vary, "=")
		texts := strings.Split(list, ",")
		if !ok || name == "" || len(texts) > maxVaried {
			return reach.Usagef("--vary: want NAME=V1,V2... with at most %d values", maxVaried)
		}
		opt.constant = name
		for _, text := range texts {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 0 {
				return reach.Usagef("--vary: %q is not an integer from 0 to 2147483647", text)
			}
			opt.values = append(opt.values, n)
		}
		if opt.misses {
			return reach.Usagef("--vary and --misses exclude each other")
		}
	}
	return opt.CheckModels()
}

// answersOut is the answer of answers: one report, or one for each value of a constant.
type answersOut struct {
	opt     *answersOptions
	base    retrieve.Request
	reports []*evaluate.AnswersReport
}

// measure fills memories and asks the questions, with each value of a constant where one is varied.
func (o *answersOut) measure(ctx context.Context, h *reach.Host, dirs []string) (err error) {
	set, done := h.Progress()
	defer done()
	with := evaluate.AnswersOptions{
		Base: o.base, Cues: o.opt.cues, Also: o.opt.also, Vectors: o.opt.vectors, Profiles: o.opt.Profiles,
		Ask: o.opt.Models.Ask, Progress: set,
	}
	if o.opt.Models.Embeds() {
		with.Prepare = o.opt.Models.EmbedNodes
	}
	var sets []evaluate.AnswerSet
	for _, dir := range dirs {
		from := h.Absolute(dir)
		sets = append(sets, evaluate.AnswerSet{
			Dir: os.DirFS(from), Name: filepath.Base(from), Shown: filepath.ToSlash(dir),
		})
	}
	memories, err := evaluate.Fill(ctx, sets, with)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memories.Close()) }()
	if o.opt.constant == "" {
		report, err := memories.Ask(ctx)
		o.reports = []*evaluate.AnswersReport{report}
		return err
	}
	for _, value := range o.opt.values {
		report, err := memories.Vary(ctx, o.opt.constant, value)
		if err != nil {
			return err
		}
		o.reports = append(o.reports, report)
	}
	return nil
}

func (o *answersOut) settings() map[string]string {
	set := o.opt.Settings(o.base)
	set["verb"] = o.opt.verb
	for name, on := range map[string]bool{"cues": o.opt.cues, "also": o.opt.also, "vectors": o.opt.vectors} {
		set[name] = strconv.FormatBool(on)
	}
	return set
}
