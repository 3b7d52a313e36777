package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// retrieveOptions are the flags of retrieve that are no parameters of a request, or need more than the
// command line to become one.
type retrieveOptions struct {
	marks, vectors, sparse   []string
	session                  string
	follow, receipt, explain bool
	withGlobal               bool
	batch, embed             string
	profile                  string
	rerank                   rerankOptions
	rewrite                  rewriteOptions
}

const summaryCapEnv = "MNEM_RENDER_SUMMARY_CAP_CHARS"

func (c *cli) retrieveCommand() *cobra.Command {
	opt := &retrieveOptions{}
	cmd := &cobra.Command{
		Use:     "retrieve [QUERY…] [flags]",
		GroupID: groupRead,
		Short:   "Answer a query from one commit under a token budget",
		Long: "Find the nodes that fit a query, its filters, or both, and print them as text for a language\n" +
			"model, best first, until --limit items are printed or --budget tokens are used. Without a\n" +
			"query the newest nodes that pass the filters. A query - is read from standard input.\n\n" +
			"Nodes that fit lend to their neighbours what the query asked for and these lack: over edges,\n" +
			"and where the content of one mentions the title of another. So the two halves of an answer\n" +
			"find each other; --expand says how far. --expansion decay adds to a node the score of another found\n" +
			"one, times --decay and the edge's weight for each hop of the best path between them; ppr adds\n" +
			"what reaches it by personalised PageRank.\n\n" +
			"The answer depends on the commit and the request alone: the same bytes in every process.\n" +
			"In a session (--session or MNEM_SESSION) it comes from the session's commit and leaves a\n" +
			"receipt that 'mnem replay' runs again.\n\n" +
			"A PREDICATE is NAME OP VALUE with a JSON value, as in 'team = \"infra\"' or 'due < \"2027\"';\n" +
			"OP is one of = != < <= > >= in prefix exists !exists. A TIME is of RFC 3339 or a date.\n\n" +
			"What is left over is chosen by --exclude (nodes to leave out), --unseen (what the session was\n" +
			"shown before), --dedup (what has the words of an item before it, with the same capitalised\n" +
			"names, numbers and common negations) and --mmr (0.7 gives relevance seven parts of ten, and\n" +
			"being unlike the items before three). --explain names what was dropped, and why.\n\n" +
			"--pack passages prints of each summary and content only the passages that fit the query best,\n" +
			"with <...> for what is left out. --order document prints items that edges join side by side, in\n" +
			"the order in which they were created. --tokenizer counts tokens as cl100k or o200k do, exactly.\n\n" +
			"--vector ranks by embeddings too: FILE, or - for standard input, has the query as that MODEL\n" +
			"embeds it, a JSON list of numbers. Nodes are compared by the embeddings of that model that\n" +
			"'mnem help changes' tells how to commit. Without a QUERY the vector decides alone. The first\n" +
			"query of a process at a commit reads all vectors of the model once.\n\n" +
			"--embed makes that vector from the QUERY, by a model of 'mnem embed': --embed=SPEC, or --embed\n" +
			"alone for the one that config embed.model names. A server is told the query. Where a model fails,\n" +
			"standard error says so and the answer comes without it; a receipt keeps the vector, so that\n" +
			"replay asks nobody.\n\n" +
			"--sparse does the same with learned-sparse vectors, JSON objects of term to weight. The lane\n" +
			"entity ranks by the names, quoted phrases, identifiers and numbers of the QUERY that a node has\n" +
			"word for word; it is off unless --weight entity=W asks for it.\n\n" +
			"--community raises the nodes in the communities of the best ones, and adds others that no word\n" +
			"found, the best connected first; 'mnem communities' lists them. --summarize sums the answer up\n" +
			"in sentences of its items that say most of them, with the ids of the nodes they are from; it\n" +
			"asks no model, and its tokens come beside the budget.\n\n" +
			"--rerank judges the best items anew: local by how many of the query's words they have and how near\n" +
			"to each other; a model by reading them, for which its server is told the query and the texts of\n" +
			"these items (keys: COHERE_API_KEY, JINA_API_KEY, VOYAGE_API_KEY). --also searches for other texts\n" +
			"beside the query, together half as much worth as it; --rewrite multi lets a chat model make them\n" +
			"from the query, --rewrite hyde a made-up answer, and --embed then looks for what is like either. A\n" +
			"model that fails changes nothing and says so; a receipt keeps what it answered.\n\n" +
			"Dates in the QUERY count: in May 2023, since 2022, last week, 上个月. What was found and is of that\n" +
			"time, by its validity or else its creation, comes up; a QUERY that is nothing but a date is\n" +
			"answered by date alone. Days are UTC's; --now says from which to count, --weight time=0 leaves\n" +
			"dates alone, and --explain shows how they were read.\n\n" +
			"--feedback N searches again with the words that tell the most of the best N nodes beside the\n" +
			"QUERY's own, together an eighth as much worth. It finds what says the same in other words, and\n" +
			"drifts where the first search was wrong.\n\n" +
			"--fusion convex weighs what each lane gives of its best score, score-norm what lies between its\n" +
			"worst and best; rrf and weighted-rrf count ranks. The text weighs 1, all vectors of\n" +
			"either kind together 0.5, unless --weight says otherwise; a lane of weight 0 does not run. rrf\n" +
			"has no weights but time's.\n\n" +
			"--batch reads one JSON object a line: \"qid\", \"text\", \"vectors\" (an object: model to list of\n" +
			"numbers), \"sparse\" (model to object of term to number), \"weights\" (lane to number), \"rewrites\"\n" +
			"(what --also gives), \"reranked\" (id to the score that the model \"rerank\" gave it) and any of the\n" +
			"other flags that select, rank or print, by name; \"cat\", \"meta\" and \"gold…\" come back with the\n" +
			"answer. What a line does not say, the command line does.\n\n" +
			"--with-global asks the user's own repository ('mnem init --global') too and makes one list of both\n" +
			"answers, under one limit and budget. The scores of each repository count as much as its best item\n" +
			"covers the QUERY. Of --session and --receipt it records what the project alone answered.\n\n" +
			"What no flag says is taken from a profile, which --profile names: see 'mnem help profile'.",
		Example: "  mnem retrieve who owns billing\n" +
			"  mnem retrieve billing --dedup --mmr 0.7 --order time\n" +
			"  mnem retrieve billing --session review --unseen\n" +
			"  mnem retrieve billing --pack passages --passage-tokens 120 --tokenizer o200k\n" +
			"  mnem retrieve 'storage migration' --type Decision --adjacency 3\n" +
			"  mnem retrieve --type Task --where 'status = \"open\"' --limit 5\n" +
			"  mnem retrieve billing --at HEAD~1 --budget 500 --json\n" +
			"  mnem retrieve 'double charge' --explain\n" +
			"  mnem retrieve 'double charge' --vector minilm=@query.json" +
			"\n  mnem retrieve 'charged twice' --embed=hash" +
			"\n  mnem retrieve 'charged twice' --also 'duplicate payment' --rerank local" +
			"\n  mnem retrieve 'Alice Ng, ticket INC-4711' --weight entity=1",
	}
	c.answerFlags(cmd, opt)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.retrieve(cmd, opt, args)
	})
}

// answerFlags adds all flags of a command that answers queries.
func (c *cli) answerFlags(cmd *cobra.Command, opt *retrieveOptions) {
	c.atFlag(cmd)
	c.requestFlags(cmd, opt)
	c.profileFlag(cmd, &opt.profile, " ("+profileEnv+"; config: "+keyProfile+")")
	f := cmd.Flags()
	f.StringArrayVar(&opt.vectors, "vector", nil,
		"rank by this `MODEL=@FILE` too: the query's embedding (repeatable)")
	f.StringArrayVar(&opt.sparse, "sparse", nil,
		"rank by this `MODEL=@FILE` too: the query's learned-sparse vector (repeatable)")
	opt.modelFlags(cmd)
	f.StringVar(&opt.session, "session", "", "answer in this session and record it (MNEM_SESSION)")
	c.complete(cmd, "session", completeSessions)
	f.BoolVar(&opt.follow, "follow", false, "with a session: answer from HEAD, not from its commit")
	f.BoolVar(&opt.receipt, "receipt", false, "record the answer, without a session too")
	f.StringVar(&opt.batch, "batch", "", "answer the queries in `FILE`, - for standard input, as JSON")
	f.BoolVar(&opt.withGlobal, "with-global", false, "ask the user's own repository too, and say which "+
		"each item came from")
	f.BoolVar(&opt.explain, "explain", false, "tell how each item was found, and what did not fit")
	c.writeFlags(cmd)
}

// request returns the request that flags and environment make. What they do not say is left to
// profiles.
func (c *cli) request(cmd *cobra.Command, opt *retrieveOptions) (retrieve.Request, error) {
	var r retrieve.Request
	err := setByFlags(cmd.Flags(), &r)
	if err != nil {
		return r, err
	}
	if err = opt.rerank.set(c, cmd, &r); err != nil {
		return r, err
	}
	if r.Marks, err = parseMarks(opt.marks); err != nil {
		return r, err
	}
	given := givenParams(cmd)
	if s := c.env(summaryCapEnv); s != "" && !cmd.Flags().Changed("summary-cap") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return r, usagef("%s: %q is not a number of characters", summaryCapEnv, s)
		}
		r.SummaryCap = &n
		given = append(given, "summaryCap")
	}
	r = r.Explicitly(given...)
	return r, r.ValidateGiven()
}

func (c *cli) retrieve(cmd *cobra.Command, opt *retrieveOptions, args []string) error {
	session := c.sessionOf(opt)
	if err := checkRetrieve(cmd, opt, session, args); err != nil {
		return err
	}
	if opt.withGlobal {
		return c.withGlobal(cmd, opt, args)
	}
	req, err := c.request(cmd, opt)
	if err != nil {
		return err
	}
	if req.Profile, err = c.profileName(cmd, opt.profile); err != nil {
		return err
	}
	if req.Vectors, err = c.queryVectors(cmd.Context(), opt); err != nil {
		return err
	}
	if req.Sparse, err = c.querySparse(cmd.Context(), opt); err != nil {
		return err
	}
	if req.Text, err = c.queryText(cmd.Context(), args); err != nil {
		return err
	}
	e, err := c.queryEmbedder(opt, req)
	if err != nil {
		return err
	}
	req.Rewrite, req.Rewrites = opt.rewrite.way, opt.rewrite.also
	rw, err := c.queryRewriter(&opt.rewrite)
	if err != nil {
		return err
	}
	if err := req.ValidateGiven(); err != nil {
		return err
	}
	if opt.batch == "" { // before the repository is opened, which others may wait for
		if req, err = c.rewriteQuery(cmd.Context(), rw, req); err != nil {
			return err
		}
		if req, err = c.embedQuery(cmd.Context(), e, req); err != nil {
			return err
		}
	}
	a := &answerer{c: c, embedder: e, rewriter: rw, session: session, explain: opt.explain, at: c.global.at}
	a.atGiven = cmd.Flags().Changed("at")
	a.follow = opt.follow
	if session != "" {
		if a.by, err = c.stamp(cmd); err != nil {
			return err
		}
	}
	return c.withRepo(cmd, session != "", func(ctx context.Context, r *repo.Repo) error {
		a.repo = r
		defer c.countUsed(ctx)
		if opt.batch != "" {
			return a.batch(ctx, opt.batch, req)
		}
		answer, receipt, err := a.answer(ctx, req)
		if err != nil {
			return err
		}
		c.used(answer)
		if c.global.json {
			return a.printJSON(answer, receipt, retrieve.Query{Request: req})
		}
		return a.printText(answer, receipt)
	})
}

// sessionOf returns the session that a retrieval is recorded in, "" for none.
func (c *cli) sessionOf(opt *retrieveOptions) string {
	if name := firstOf(opt.session, c.env("MNEM_SESSION")); name != "" {
		return name
	}
	if opt.receipt {
		return repo.DefaultSession
	}
	return ""
}

// checkRetrieve refuses flags that contradict each other or would do nothing.
func checkRetrieve(cmd *cobra.Command, opt *retrieveOptions, session string, args []string) error {
	f := cmd.Flags()
	switch {
	case opt.follow && f.Changed("at"):
		return usagef("--follow and --at exclude each other")
	case opt.follow && session == "":
		return usagef("--follow needs --session: without one, the answer is from HEAD anyway")
	case f.Lookup("unseen").Value.String() == "true" && session == "":
		return usagef("--unseen needs --session: without one, nothing tells what was shown before")
	case f.Changed("batch") && opt.batch == "":
		return usagef("--batch: want a file, or - for standard input")
	case opt.batch != "" && len(args) > 0:
		return usagef("--batch and a query on the command line exclude each other")
	case opt.embed != "" && opt.batch == "" && len(args) == 0:
		return usagef("--embed needs a query to embed; after --embed=SPEC, not --embed SPEC")
	case opt.rerank.spec != "" && opt.batch == "" && len(args) == 0:
		return usagef("--rerank needs a query to judge by")
	case f.Changed("session") && opt.session == "":
		return usagef("--session: want a name")
	}
	for _, name := range []string{"author", "agent", "task", "time"} {
		if f.Changed(name) && session == "" {
			return usagef("--%s needs --session or --receipt: nothing is recorded without", name)
		}
	}
	if err := opt.checkModels(cmd, opt.batch != "", args); err != nil {
		return err
	}
	return opt.checkStdin(args)
}

// queryText joins the words of a query, or reads it from standard input.
func (c *cli) queryText(ctx context.Context, args []string) (string, error) {
	if len(args) != 1 || args[0] != stdinName {
		return strings.Join(args, " "), nil
	}
	in := newPatientReader(ctx, c.app.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, retrieve.MaxText+1))
	return string(data), err
}

// answerer answers requests from one opened repository.
type answerer struct {
	c       *cli
	repo    *repo.Repo
	session string // where answers are recorded, "" for nowhere
	by      repo.Stamp
	at      string
	atGiven bool
	follow  bool // whether HEAD goes before the session's commit
	explain bool
	terms   [][]repo.TermScore // of the items of the last answer, to explain it
	names   *labels            // of the last answer's commit, likewise
	trace   *retrieve.Trace    // of the last answer, nil where nobody asks
	// embedder is asked about the queries of a batch, nil for none.
	embedder embed.Embedder
	rewriter *rewriter // likewise
}

// answer answers one request and records it if there is a session.
func (a *answerer) answer(
	ctx context.Context, req retrieve.Request,
) (*retrieve.Answer, ipld.CID, error) {
	s, err := a.snapshot(ctx)
	if err != nil {
		return nil, ipld.CID{}, ops.CommitHint(err)
	}
	if req, err = a.c.withNow(req); err != nil {
		return nil, ipld.CID{}, err
	}
	if a.session != "" {
		if req, err = a.repo.Unseen(ctx, a.session, s, req); err != nil {
			return nil, ipld.CID{}, excludeHint(err)
		}
	}
	a.trace = nil
	if a.explain {
		a.trace = a.c.newTrace()
	}
	answer, err := s.RetrieveTraced(ctx, req, a.trace)
	err = ops.ProfileHint(excludeHint(err))
	if err == nil && a.explain {
		err = a.explainTerms(ctx, s, answer)
	}
	if err != nil || a.session == "" {
		return answer, ipld.CID{}, err
	}
	receipt, err := a.repo.Record(ctx, a.session, answer, a.by)
	return answer, receipt, err
}

// excludeHint says what to do about a node to exclude that there is none of.
func excludeHint(err error) error {
	var missing *repo.NotFoundError
	if errors.As(err, &missing) && missing.What == "node" {
		return ops.NodeHint(fmt.Errorf("exclude: %w", err))
	}
	return err
}

// explainTerms finds out which terms the items have, and how the nodes on the way to them are named.
func (a *answerer) explainTerms(
	ctx context.Context, s *repo.Snapshot, answer *retrieve.Answer,
) (err error) {
	ids := make([]graph.ID, len(answer.Items))
	a.names = newLabels(s)
	for i, item := range answer.Items {
		ids[i] = item.ID
		if item.Community != nil {
			if _, err = a.names.Node(ctx, item.Community.Seed); err != nil {
				return err
			}
		}
		if err = a.learnWay(ctx, item.Reach); err != nil {
			return err
		}
		if item.Recall != nil {
			if err = a.learnWay(ctx, item.Recall.Way); err != nil {
				return err
			}
		}
	}
	a.terms, err = s.TermScores(ctx, answer, ids)
	return err
}

// learnWay finds out how the nodes on a way are named; nil is none.
func (a *answerer) learnWay(ctx context.Context, way *retrieve.Reach) error {
	if way == nil {
		return nil
	}
	if _, err := a.names.Node(ctx, way.Seed); err != nil {
		return err
	}
	for _, step := range way.Path {
		if _, err := a.names.Node(ctx, step.Node); err != nil {
			return err
		}
	}
	return nil
}

// snapshot returns what the next request is answered from: --at, else the session's commit, else
// HEAD.
func (a *answerer) snapshot(ctx context.Context) (*repo.Snapshot, error) {
	if a.session == "" {
		return a.repo.Snapshot(ctx, a.at)
	}
	entry, err := a.repo.Session(ctx, a.session)
	var missing *repo.NotFoundError
	switch {
	case errors.As(err, &missing) && a.session == repo.DefaultSession:
		return a.repo.Snapshot(ctx, a.at) // made when the receipt is recorded
	case errors.As(err, &missing):
		return nil, hint(err, "begin it with 'mnem session start NAME'")
	case err != nil:
		return nil, err
	case a.atGiven || a.follow || entry.Record.Follow:
		return a.repo.Snapshot(ctx, a.at)
	}
	return a.repo.At(ctx, entry.Record.Commit)
}
