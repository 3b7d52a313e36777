package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/repo"
)

// Keys of the configuration that say how texts are embedded.
const (
	keyEmbedModel    = "embed.model"
	keyEmbedDims     = "embed.dims"
	keyEmbedQuery    = "embed.queryPrefix"
	keyEmbedDocument = "embed.documentPrefix"
	maxEmbedPrefix   = 1024 // bytes, as package embed has it
	maxEmbedSpec     = 4096 // bytes: a path may be a part of it
)

var embedUse = &modelUse{
	name: "embed", providers: embed.Remotes(), limit: time.Minute, limitHelp: "a remote model",
	check: func(spec string, opt model.Options) error {
		_, err := embed.Open(spec, embed.Options{Options: opt})
		return err
	},
}

func embedKeys() []configKey {
	line := func(key string, most int) func(string) error {
		return func(v string) error { return graph.CheckLine(key, v, 1, most) }
	}
	return slices.Concat([]configKey{
		{keyEmbedModel, "MNEM_EMBED_MODEL", "", "what embeds texts, as --model of 'mnem embed'",
			line(keyEmbedModel, maxEmbedSpec)},
	}, embedUse.urlKeys(), []configKey{
		{keyEmbedDims, "MNEM_EMBED_DIMS", "0",
			"dimensions to ask for, 0 for the model's own",
			func(v string) error { _, err := parseEmbedDims(v); return err }},
		{keyEmbedQuery, "MNEM_EMBED_QUERY_PREFIX", "",
			"what remote models get before queries",
			line(keyEmbedQuery, maxEmbedPrefix)},
		{keyEmbedDocument, "MNEM_EMBED_DOCUMENT_PREFIX", "",
			"what remote models get before texts",
			line(keyEmbedDocument, maxEmbedPrefix)},
		embedUse.timeoutKey(),
	})
}

func parseEmbedDims(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > graph.MaxDims {
		return 0, fmt.Errorf("%w: %s: %q is not a number from 0 to %d", repo.ErrInvalid, keyEmbedDims, v,
			graph.MaxDims)
	}
	return n, nil
}

// embedder opens what a spec names, or what is configured where it is empty. flag is what names
// one on the command line.
func (c *cli) embedder(spec, flag string, opt embed.Options) (embed.Embedder, error) {
	if err := c.mayChooseModel(spec); err != nil {
		return nil, err
	}
	if spec == "" {
		var err error
		if spec, err = c.configured(keyEmbedModel); err != nil {
			return nil, err
		}
	}
	if spec == "" {
		return nil, c.noModel("no embedding model: there are hash (built in, needs nothing), static:DIR, "+
			model.List(model.Specs(embed.Remotes()), "or"), flag+"=SPEC", keyEmbedModel)
	}
	dir, ok := strings.CutPrefix(spec, "static:")
	if ok && dir != "" {
		spec = "static:" + c.absolute(dir)
	}
	if err := c.embedOptions(spec, &opt); err != nil {
		return nil, err
	}
	e, err := embed.Open(spec, opt)
	var path *fs.PathError
	if err != nil && !errors.As(err, &path) {
		err = fmt.Errorf("%w: %w", repo.ErrInvalid, err)
	}
	return e, err
}

// embedOptions fills in what is configured for the provider that a spec names.
func (c *cli) embedOptions(spec string, opt *embed.Options) error {
	dims, err := c.configured(keyEmbedDims)
	if err == nil {
		opt.Dims, err = parseEmbedDims(dims)
	}
	if err == nil {
		opt.QueryPrefix, err = c.configured(keyEmbedQuery)
	}
	if err == nil {
		opt.DocumentPrefix, err = c.configured(keyEmbedDocument)
	}
	if err == nil {
		opt.Options, err = c.modelOptions(embedUse, spec, opt.Attempts)
	}
	return err
}
