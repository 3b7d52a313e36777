package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/rerank"
	"github.com/mnem-project/mnem/retrieve"
)

// Keys of the configuration that say where rerankers answer. Their secrets are in no configuration.
const (
	keyRerankModel     = "rerank.model"
	keyRerankCohere    = "rerank.cohereURL"
	keyRerankJina      = "rerank.jinaURL"
	keyRerankVoyage    = "rerank.voyageURL"
	keyRerankTimeout   = "rerank.timeout"
	defaultRerankLimit = 10 * time.Second // for one request: somebody waits for the answer
)

// rerankAt is where a provider answers, and the variable with its secret.
var rerankAt = map[string]struct{ key, secret string }{
	"cohere": {keyRerankCohere, "COHERE_API_KEY"},
	"jina":   {keyRerankJina, "JINA_API_KEY"},
	"voyage": {keyRerankVoyage, "VOYAGE_API_KEY"},
}

func rerankKeys() []configKey {
	url := func(name, company, env, at string) configKey {
		return configKey{rerankAt[name].key, env, at, "where a reranker like " + company + "'s answers",
			func(v string) error {
				_, err := rerank.Open(name+":x", rerank.Options{URL: v})
				if err != nil {
					err = fmt.Errorf("%w: %s: %w", repo.ErrInvalid, rerankAt[name].key, err)
				}
				return err
			}}
	}
	return []configKey{
		{keyRerankModel, "MNEM_RERANK_MODEL", "", "what judges items anew: local or PROVIDER:MODEL, as --rerank",
			checkRerankModel},
		url("cohere", "Cohere", "MNEM_RERANK_COHERE_URL", rerank.DefaultCohereURL),
		url("jina", "Jina", "MNEM_RERANK_JINA_URL", rerank.DefaultJinaURL),
		url("voyage", "Voyage", "MNEM_RERANK_VOYAGE_URL", rerank.DefaultVoyageURL),
		{keyRerankTimeout, "MNEM_RERANK_TIMEOUT", defaultRerankLimit.String(),
			"longest request to a reranker: 1ms to 1h",
			func(v string) error { _, err := parseModelTimeout(keyRerankTimeout, v); return err }},
	}
}

// checkRerankModel lets package rerank look at a spec: nothing is asked of anybody.
func checkRerankModel(v string) error {
	if v == retrieve.RerankLocal {
		return nil
	}
	if _, err := rerank.Open(v, rerank.Options{}); err != nil {
		return fmt.Errorf("%w: %s: want %s, or a model: %w", repo.ErrInvalid, keyRerankModel,
			retrieve.RerankLocal, err)
	}
	return nil
}

// rerankOptions are the flags of retrieve that let its best items be judged anew.
type rerankOptions struct {
	spec string
	top  int
}

func (opt *rerankOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&opt.spec, "rerank", "",
		"judge the best items anew by `SPEC`: local, cohere:MODEL, jina:MODEL, voyage:MODEL, or "+
			"configured for that of the configuration (MNEM_RERANK_MODEL; config: "+keyRerankModel+")")
	f.IntVar(&opt.top, "rerank-top", retrieve.DefaultRerankTop, "judge `N` items; 1 to 200")
}

// set fills in what the flags ask for.
func (opt *rerankOptions) set(c *cli, cmd *cobra.Command, r *retrieve.Request) error {
	f := cmd.Flags()
	switch {
	case f.Changed("rerank") && opt.spec == "":
		return usagef("--rerank: want local, cohere:MODEL, jina:MODEL, voyage:MODEL or configured")
	case f.Changed("rerank-top") && opt.spec == "":
		return usagef("--rerank-top is for --rerank")
	case opt.spec == "":
		return nil
	}
	spec, err := c.rerankSpec(opt.spec)
	if err != nil {
		return err
	}
	r.RerankTop, r.Rerank = &opt.top, spec
	if spec == retrieve.RerankLocal {
		return nil
	}
	m, err := c.openReranker(spec)
	if err != nil {
		return err
	}
	r.Reranker, r.Rerank = tellingReranker{m, c}, m.Model()
	return nil
}

// rerankSpec returns what a value of --rerank names.
func (c *cli) rerankSpec(value string) (string, error) {
	if err := c.mayChooseModel(value); err != nil || value != modelConfigured {
		return value, err
	}
	spec, err := c.configured(keyRerankModel)
	if err == nil && spec == "" {
		err = c.noModel("no model to rerank with: there are local, cohere:MODEL, jina:MODEL and "+
			"voyage:MODEL", "--rerank SPEC", keyRerankModel)
	}
	return spec, err
}

func (c *cli) openReranker(spec string) (*rerank.Reranker, error) {
	var opt rerank.Options
	name, _, _ := strings.Cut(spec, ":")
	if at, known := rerankAt[name]; known {
		var err error
		if opt.URL, err = c.configured(at.key); err != nil {
			return nil, err
		}
		if opt.Key, err = c.modelSecret(at.secret, at.key); err != nil {
			return nil, err
		}
	}
	timeout, err := c.configured(keyRerankTimeout)
	if err != nil {
		return nil, err
	}
	if opt.Timeout, err = parseModelTimeout(keyRerankTimeout, timeout); err != nil {
		return nil, err
	}
	opt.Attempts = queryAttempts
	if c.app.Sleep != nil {
		opt.Clock = embedClock{c.app}
	}
	m, err := rerank.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: --rerank: want %s, or a model: %w", repo.ErrInvalid,
			retrieve.RerankLocal, err)
	}
	return m, nil
}

// tellingReranker says beside the answer why a reranker failed. The answer says only that it did,
// since it must come out the same without asking again.
type tellingReranker struct {
	*rerank.Reranker
	c *cli
}

func (r tellingReranker) Rerank(
	ctx context.Context, query string, texts []string,
) ([]int64, error) {
	scores, err := r.Reranker.Rerank(ctx, query, texts)
	if err != nil && ctx.Err() == nil {
		r.c.modelWarning(failedRerank, "%v", err)
	}
	return scores, err
}

// checkReranker refuses a batch's line that wants a reranker nobody opened.
func checkReranker(r retrieve.Request) error {
	if r.Rerank == "" || r.Rerank == retrieve.RerankLocal || r.Reranker != nil || len(r.Reranked) > 0 {
		return nil
	}
	return &retrieve.RequestError{
		Param: "rerank", Reason: fmt.Sprintf("%q is not asked here: name it with --rerank too, or give "+
			"\"reranked\"", r.Rerank),
	}
}
